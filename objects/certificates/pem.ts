import { X509Certificate } from 'node:crypto';
import { badParameter, pairProblem, type KeyAndCertificate } from '@granary/kernel';

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
  const problem = pairProblem(pair, now);
  if (problem !== undefined) throw badParameter(PARAMETER, problem);
  return pair;
}

export interface CertificateInfo {
  readonly domain: string;
  readonly endsAt: number;
}

export function certificateInfo(cert: string): CertificateInfo {
  const certificate = new X509Certificate(cert);
  const name = /(?:^|\n)CN=([^\n]+)/.exec(certificate.subject)?.[1];
  const alternative = /DNS:([^,]+)/.exec(certificate.subjectAltName ?? '')?.[1];
  return { domain: name ?? alternative ?? '', endsAt: Date.parse(certificate.validTo) };
}
