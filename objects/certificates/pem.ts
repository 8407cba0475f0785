import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { badParameter } from '@granary/kernel';

export interface KeyAndCertificate {
  readonly key: string;
  readonly cert: string;
}

const KEY_BLOCK = /-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----[^-]+-----END (?:[A-Z]+ )?PRIVATE KEY-----/g;
const CERTIFICATE_BLOCK = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;
const PARAMETER = 'ssl_pem';

/** Takes a PEM text apart: one private key, its certificate first, those that vouch for it after. */
export function readPem(text: string, now: number): KeyAndCertificate {
  const keys = text.match(KEY_BLOCK) ?? [];
  const certificates = text.match(CERTIFICATE_BLOCK) ?? [];
  const [key] = keys;
  if (keys.length !== 1 || key === undefined)
    throw badParameter(PARAMETER, 'must contain one private key without a password');
  if (certificates.length === 0) throw badParameter(PARAMETER, 'must contain a certificate');
  const pair = { key: `${key}\n`, cert: `${certificates.join('\n')}\n` };
  checkPair(pair, now);
  return pair;
}

function checkPair(pair: KeyAndCertificate, now: number): void {
  const certificate = parsed(() => new X509Certificate(pair.cert), 'has a certificate that cannot be read');
  const key = parsed(() => createPrivateKey(pair.key), 'has a private key that cannot be read');
  if (!certificate.checkPrivateKey(key))
    throw badParameter(PARAMETER, 'has a private key that is not that of its first certificate');
  if (endOf(certificate) <= now) throw badParameter(PARAMETER, 'has a certificate that has ended');
  parsed(() => createSecureContext(pair), 'cannot be used for TLS');
}

function parsed<T>(parse: () => T, problem: string): T {
  try {
    return parse();
  } catch {
    // What OpenSSL says may quote the key.
    throw badParameter(PARAMETER, problem);
  }
}

export interface CertificateInfo {
  readonly domain: string;
  readonly endsAt: number;
}

export function certificateInfo(cert: string): CertificateInfo {
  const certificate = new X509Certificate(cert);
  const name = /(?:^|\n)CN=([^\n]+)/.exec(certificate.subject)?.[1];
  const alternative = /DNS:([^,]+)/.exec(certificate.subjectAltName ?? '')?.[1];
  return { domain: name ?? alternative ?? '', endsAt: endOf(certificate) };
}

function endOf(certificate: X509Certificate): number {
  return Date.parse(certificate.validTo);
}
