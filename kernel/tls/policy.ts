import tls, { type SecureContextOptions, type TlsOptions } from 'node:tls';
import type { KeyAndCertificate } from './certificate.ts';

/**
 * The policy of every TLS connection of the product, as server and as client: TLS 1.3, and TLS 1.2 with forward secrecy
 * and authenticated encryption only.
 */
export const tlsPolicy = {
  minVersion: 'TLSv1.2',
  maxVersion: 'TLSv1.3',
  ciphers: [
    'TLS_AES_256_GCM_SHA384',
    'TLS_CHACHA20_POLY1305_SHA256',
    'TLS_AES_128_GCM_SHA256',
    'ECDHE-ECDSA-AES256-GCM-SHA384',
    'ECDHE-RSA-AES256-GCM-SHA384',
    'ECDHE-ECDSA-CHACHA20-POLY1305',
    'ECDHE-RSA-CHACHA20-POLY1305',
    'ECDHE-ECDSA-AES128-GCM-SHA256',
    'ECDHE-RSA-AES128-GCM-SHA256',
  ].join(':'),
} as const satisfies SecureContextOptions;

// Also for connections that libraries make.
tls.DEFAULT_CIPHERS = tlsPolicy.ciphers;
tls.DEFAULT_MIN_VERSION = tlsPolicy.minVersion;

/** The certificate of a server. Plain data: a cloud sends it to its arrays. */
export interface ServerTls extends KeyAndCertificate {
  /**
   * The authority whose client certificates are requested. A client without one is served all the same: sign-in decides
   * what it may do.
   */
  readonly clientAuthority?: string | undefined;
}

export function serverTlsOptions({ cert, key, clientAuthority }: ServerTls): TlsOptions {
  const asked = clientAuthority !== undefined && { ca: clientAuthority, requestCert: true, rejectUnauthorized: false };
  return { ...tlsPolicy, honorCipherOrder: true, cert, key, ...asked };
}
