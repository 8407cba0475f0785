import { generateKeyPair, randomBytes } from 'node:crypto';
import { isIP } from 'node:net';
import { promisify } from 'node:util';
import type { KeyAndCertificate } from './pem.ts';

const YEARS = 10;
const KEY_BITS = 2048;
const NAME = 2;
const ADDRESS = 7;

/** A certificate that vouches for itself: better than none, and the first thing an operator replaces. */
export async function selfSigned(name: string, hosts: readonly string[], now: number): Promise<KeyAndCertificate> {
  const { default: forge } = await import('node-forge');
  const { privateKey } = await promisify(generateKeyPair)('rsa', {
    modulusLength: KEY_BITS,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  });
  const key = forge.pki.privateKeyFromPem(privateKey);
  const certificate = forge.pki.createCertificate();
  const subject = [{ name: 'commonName', value: name }];
  certificate.publicKey = forge.pki.setRsaPublicKey(key.n, key.e);
  // The first digit keeps the number positive.
  certificate.serialNumber = `0${randomBytes(16).toString('hex').slice(1)}`;
  certificate.validity.notBefore = new Date(now);
  certificate.validity.notAfter = new Date(now);
  certificate.validity.notAfter.setUTCFullYear(new Date(now).getUTCFullYear() + YEARS);
  certificate.setSubject(subject);
  certificate.setIssuer(subject);
  const altNames = hosts.map((host) => (isIP(host) ? { type: ADDRESS, ip: host } : { type: NAME, value: host }));
  certificate.setExtensions([
    { name: 'basicConstraints', cA: true },
    { name: 'subjectAltName', altNames },
  ]);
  certificate.sign(key, forge.md.sha256.create());
  return { key: privateKey, cert: forge.pki.certificateToPem(certificate).replaceAll('\r', '') };
}
