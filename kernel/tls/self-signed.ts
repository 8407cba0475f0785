import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { signCertificate, type KeyAndCertificate } from './certificate.ts';

const YEAR_MS = 365 * 24 * 3600_000;
const YEARS = 10;

/** A self-signed certificate, for a server without an authority. */
export function selfSigned(name: string, hosts: readonly string[], now: number): KeyAndCertificate {
  const { privateKey: issuerKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const publicKey = createPublicKey(issuerKey);
  const cert = signCertificate({
    commonName: name,
    issuerName: name,
    publicKey,
    issuerKey,
    issuerPublicKey: publicKey,
    notBefore: now,
    notAfter: now + YEARS * YEAR_MS,
    pathLength: 0,
    hosts,
  });
  return { cert, key: issuerKey.export({ type: 'pkcs8', format: 'pem' }) as string };
}
