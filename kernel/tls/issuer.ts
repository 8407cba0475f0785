import { createHash, createPublicKey, generateKeyPairSync, X509Certificate, type KeyObject } from 'node:crypto';
import { signCertificate, splitChain, type KeyAndCertificate, type KeyUse } from './certificate.ts';

/** The role that a certificate stands for. */
export type TlsRole = 'portal' | 'cloud' | 'array';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** Clocks of other machines may be behind. */
const BACKDATED_MS = 5 * MINUTE_MS;
const LEAF_DAYS = 90;
const AUTHORITY_YEARS = 20;
const AUTHORITY_PATH_LENGTH = 1;
/** As long as a server's: only the portal that is about to sign it trusts it. */
const UNSIGNED_DAYS = LEAF_DAYS;

export interface LeafRequest {
  readonly role: TlsRole;
  readonly id: string;
  readonly hosts: readonly string[];
  readonly use: KeyUse;
  readonly now: number;
}

/** `urn:granary:array:<uuid>`, in the certificate's alternative names. */
export function roleUri(role: TlsRole, id: string): string {
  return `urn:granary:${role}:${id}`;
}

/** Signs certificates: the installation's authority, or the issuer of one cloud, which the authority signed. */
export class Issuer {
  /** Its own certificate first, the authority's last, each in PEM. */
  readonly chain: readonly string[];
  readonly #key: KeyObject;
  readonly #certificate: X509Certificate;

  constructor(chain: string, key: KeyObject) {
    this.chain = splitChain(chain);
    this.#key = key;
    this.#certificate = new X509Certificate(this.certificate);
    if (!this.#certificate.checkPrivateKey(key)) throw new Error('The key is not that of the certificate.');
  }

  /** A self-signed root authority. */
  static createAuthority(name: string, now: number): { readonly issuer: Issuer; readonly key: KeyObject } {
    const key = newKey();
    const publicKey = createPublicKey(key);
    const certificate = signCertificate({
      commonName: name,
      issuerName: name,
      publicKey,
      issuerKey: key,
      issuerPublicKey: publicKey,
      notBefore: now - BACKDATED_MS,
      notAfter: now + AUTHORITY_YEARS * 365 * DAY_MS,
      pathLength: AUTHORITY_PATH_LENGTH,
    });
    return { issuer: new Issuer(certificate, key), key };
  }

  /**
   * The issuer of a cloud before an authority has signed it: it signs itself, under the name it is going to have. Its
   * certificate is also the request for the one of the authority.
   */
  static createUnsigned(key: KeyObject, now: number): Issuer {
    const publicKey = createPublicKey(key);
    const request = issuerRequest(publicKey, now, now + UNSIGNED_DAYS * DAY_MS);
    const certificate = signCertificate({
      ...request,
      publicKey,
      issuerName: request.commonName,
      issuerKey: key,
      issuerPublicKey: publicKey,
    });
    return new Issuer(certificate, key);
  }

  /** Derived from its key. */
  get id(): string {
    return keyIdOf(this.#certificate.publicKey);
  }

  get certificate(): string {
    return this.chain[0] as string;
  }

  /** The certificate of the authority at the top. */
  get authority(): string {
    return this.chain.at(-1) as string;
  }

  /** A key and a certificate for one server or client of the installation. */
  issue({ role, id, hosts, use, now }: LeafRequest): KeyAndCertificate {
    const key = newKey();
    const leaf = this.#sign(`Granary ${role} ${id}`, createPublicKey(key), {
      notBefore: now - BACKDATED_MS,
      notAfter: Math.min(now + LEAF_DAYS * DAY_MS, this.#endsAt),
      hosts,
      uri: roleUri(role, id),
      uses: [use],
    });
    return { key: pemOf(key), cert: [leaf, ...this.chain].join('') };
  }

  /**
   * A certificate that lets the owner of a key sign servers of its own cloud, and no clients. It lasts as long as the
   * authority, or for `days` days.
   */
  issueIssuer(publicKey: KeyObject, now: number, days = Infinity): string {
    const notAfter = Math.min(now + days * DAY_MS, this.#endsAt);
    const { commonName, ...rest } = issuerRequest(publicKey, now, notAfter);
    return [this.#sign(commonName, publicKey, rest), ...this.chain].join('');
  }

  get #endsAt(): number {
    return Date.parse(this.#certificate.validTo);
  }

  #sign(
    commonName: string,
    publicKey: KeyObject,
    rest: Omit<
      Parameters<typeof signCertificate>[0],
      'commonName' | 'publicKey' | 'issuerName' | 'issuerKey' | 'issuerPublicKey'
    >,
  ): string {
    return signCertificate({
      ...rest,
      commonName,
      publicKey,
      issuerName: commonNameOf(this.#certificate),
      issuerKey: this.#key,
      issuerPublicKey: this.#certificate.publicKey,
    });
  }
}

function issuerRequest(publicKey: KeyObject, now: number, notAfter: number) {
  const cloudId = keyIdOf(publicKey);
  return {
    commonName: `Granary cloud issuer ${cloudId}`,
    notBefore: now - BACKDATED_MS,
    notAfter,
    uri: roleUri('cloud', cloudId),
    uses: ['server'],
    pathLength: 0,
  } as const;
}

const ID_DIGITS = 32;

function keyIdOf(publicKey: KeyObject): string {
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  return createHash('sha256').update(spki).digest('hex').slice(0, ID_DIGITS);
}

export function newKey(): KeyObject {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
}

function pemOf(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }) as string;
}

function commonNameOf({ subject }: X509Certificate): string {
  return /(?:^|\n)CN=([^\n]*)/.exec(subject)?.[1] ?? '';
}

/** SHA-256 of a certificate, as people compare it: `AB:CD:…`. */
export function certificateFingerprint(pem: string): string {
  return new X509Certificate(pem).fingerprint256;
}
