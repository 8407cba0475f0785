import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import type { KeyAndCertificate } from './certificate.ts';

/** Why a key and a certificate cannot be used together, in words; undefined when they can. */
export function pairProblem(pair: KeyAndCertificate, now: number): string | undefined {
  const certificate = parsed(() => new X509Certificate(pair.cert));
  if (!certificate) return 'has a certificate that cannot be read';
  const key = parsed(() => createPrivateKey(pair.key));
  if (!key) return 'has a private key that cannot be read';
  if (!certificate.checkPrivateKey(key)) return 'has a private key that is not that of its first certificate';
  if (Date.parse(certificate.validTo) <= now) return 'has a certificate that has ended';
  if (!parsed(() => createSecureContext(pair))) return 'cannot be used for TLS';
  return undefined;
}

/** Without the reason: OpenSSL's message may quote the key. */
function parsed<T>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch {
    return undefined;
  }
}
