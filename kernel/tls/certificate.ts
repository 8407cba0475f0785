import { createHash, randomBytes, sign, type KeyObject } from 'node:crypto';
import ipaddr from 'ipaddr.js';
import * as der from './der.ts';

/** A certificate chain, the server's or client's own first, and its private key, both in PEM. */
export interface KeyAndCertificate {
  readonly key: string;
  readonly cert: string;
}

export type KeyUse = 'server' | 'client';

export interface CertificateRequest {
  readonly commonName: string;
  readonly publicKey: KeyObject;
  readonly issuerName: string;
  readonly issuerKey: KeyObject;
  readonly issuerPublicKey: KeyObject;
  readonly notBefore: number;
  readonly notAfter: number;
  /** How many authorities may stand below this one; absent: it is no authority. */
  readonly pathLength?: number | undefined;
  /** Names and addresses it is for. */
  readonly hosts?: readonly string[];
  /** Who it is, in terms of our own. */
  readonly uri?: string | undefined;
  readonly uses?: readonly KeyUse[];
}

const OIDS = {
  commonName: '2.5.4.3',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  subjectKey: '2.5.29.14',
  keyUsage: '2.5.29.15',
  alternativeNames: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKey: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  server: '1.3.6.1.5.5.7.3.1',
  client: '1.3.6.1.5.5.7.3.2',
} as const;

const SERIAL_BYTES = 16;
const KEY_ID_BYTES = 20;
const VERSION_3 = 2;
/** Alternative names by kind (RFC 5280, 4.2.1.6). */
const NAME_KINDS = { dns: 2, uri: 6, ip: 7 } as const;

/** An X.509 certificate in PEM, signed by an ECDSA key. */
export function signCertificate(request: CertificateRequest): string {
  const algorithm = der.sequence(der.oid(OIDS.ecdsaWithSha256));
  const body = der.sequence(
    der.explicit(0, der.integer(Buffer.from([VERSION_3]))),
    der.integer(serialNumber()),
    algorithm,
    nameOf(request.issuerName),
    der.sequence(der.time(request.notBefore), der.time(request.notAfter)),
    nameOf(request.commonName),
    spkiOf(request.publicKey),
    der.explicit(3, der.sequence(...extensionsOf(request))),
  );
  const signature = sign('sha256', body, request.issuerKey);
  return pem(der.sequence(body, algorithm, der.bitString(signature)));
}

/** Positive and of constant length. */
function serialNumber(): Buffer {
  const bytes = randomBytes(SERIAL_BYTES);
  bytes[0] = ((bytes[0] as number) & 0x3f) | 0x40;
  return bytes;
}

function nameOf(commonName: string): Buffer {
  return der.sequence(der.set(der.sequence(der.oid(OIDS.commonName), der.utf8(commonName))));
}

function spkiOf(key: KeyObject): Buffer {
  return key.export({ type: 'spki', format: 'der' });
}

function extensionsOf(request: CertificateRequest): Buffer[] {
  const { pathLength, hosts = [], uri, uses = [], publicKey, issuerPublicKey } = request;
  const isAuthority = pathLength !== undefined;
  const constraints = isAuthority
    ? der.sequence(der.boolean(true), der.integer(Buffer.from([pathLength])))
    : der.sequence();
  const names = [
    ...hosts.map(hostName),
    ...(uri === undefined ? [] : [der.implicit(NAME_KINDS.uri, Buffer.from(uri, 'latin1'))]),
  ];
  return [
    extension(OIDS.basicConstraints, constraints, true),
    extension(OIDS.keyUsage, keyUsage(isAuthority, !isAuthority || hosts.length > 0), true),
    ...(uses.length > 0
      ? [extension(OIDS.extendedKeyUsage, der.sequence(...uses.map((use) => der.oid(OIDS[use]))))]
      : []),
    extension(OIDS.subjectKey, der.octetString(keyId(publicKey))),
    extension(OIDS.authorityKey, der.sequence(der.implicit(0, keyId(issuerPublicKey)))),
    ...(names.length > 0 ? [extension(OIDS.alternativeNames, der.sequence(...names))] : []),
  ];
}

/** Authorities sign certificates and revocation lists (bits 5 and 6), servers and clients handshakes (bit 0). */
function keyUsage(isAuthority: boolean, isServed: boolean): Buffer {
  const bits = (isAuthority ? 0x06 : 0) | (isServed ? 0x80 : 0);
  return der.bitString(Buffer.from([bits]), isAuthority ? 1 : 7);
}

function extension(id: string, value: Buffer, isCritical = false): Buffer {
  return der.sequence(der.oid(id), ...(isCritical ? [der.boolean(true)] : []), der.octetString(value));
}

function hostName(host: string): Buffer {
  if (ipaddr.isValid(host)) return der.implicit(NAME_KINDS.ip, Buffer.from(ipaddr.parse(host).toByteArray()));
  return der.implicit(NAME_KINDS.dns, Buffer.from(host, 'latin1'));
}

function keyId(key: KeyObject): Buffer {
  return createHash('sha256').update(spkiOf(key)).digest().subarray(0, KEY_ID_BYTES);
}

function pem(bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}

const CERTIFICATE_BLOCK = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** The certificates of a chain, each in PEM. */
export function splitChain(chain: string): string[] {
  return (chain.match(CERTIFICATE_BLOCK) ?? []).map((block) => `${block}\n`);
}
