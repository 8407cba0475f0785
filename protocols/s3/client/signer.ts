import { decodePercent, encodePart, encodePath, Query } from '../address.ts';
import { canonicalDigest } from '../signature/canonical.ts';
import { ChunkSigner } from '../signature/chunk-signer.ts';
import { writeTime } from '../signature/credential.ts';
import { SigningKeys } from '../signature/signing-key.ts';

export interface SigningIdentity {
  readonly accessKey: string;
  readonly secret: string;
  readonly region: string;
}

export interface Unsigned {
  readonly method: string;
  /** Not encoded: `/bucket/key`. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** By lower-case name, `host` among them; all of them are signed. */
  readonly headers: Readonly<Record<string, string>>;
  /** What stands for the body: its SHA-256, or how it is encoded. */
  readonly payload: string;
}

export interface Signed {
  /** Encoded, with the query. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  /** For bodies whose chunks are signed. */
  readonly chunks: ChunkSigner;
}

/** A request of somebody else that is passed on: its address goes out as it came. */
export interface Passed {
  readonly method: string;
  /** Encoded, with the query. */
  readonly target: string;
  /** By lower-case name; `host` and all that S3 reads are signed. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface Presigned extends Passed {
  readonly seconds: number;
}

const UNSIGNED = 'UNSIGNED-PAYLOAD';

/** The caller's side of Signature V4. */
export class RequestSigner {
  readonly #identity: SigningIdentity;
  readonly #keys = new SigningKeys();

  constructor(identity: SigningIdentity) {
    this.#identity = identity;
  }

  /** The headers it goes out with; its body is not signed, so that it need not be read. */
  signPassed({ method, target, headers }: Passed, now: number): Record<string, string> {
    const { time, scope, key } = this.#scope(now);
    const own: Record<string, string> = { ...headers, 'x-amz-date': time, 'x-amz-content-sha256': UNSIGNED };
    const names = Object.keys(own)
      .filter((name) => name === 'host' || name.startsWith('x-amz-'))
      .sort();
    const parts = { method, address: canonicalAddress(target), rawHeaders: Object.entries(own).flat() };
    const signature = key.sign(`AWS4-HMAC-SHA256\n${time}\n${scope}\n${canonicalDigest(parts, names, UNSIGNED)}`);
    const credential = `Credential=${this.#identity.accessKey}/${scope}`;
    own['authorization'] = `AWS4-HMAC-SHA256 ${credential}, SignedHeaders=${names.join(';')}, Signature=${signature}`;
    return own;
  }

  /** The target of a link that anybody may follow for a time; nothing but the host is signed. */
  presign({ method, target, headers, seconds }: Presigned, now: number): string {
    const { time, scope, key } = this.#scope(now);
    const parameters = {
      'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
      'X-Amz-Credential': `${this.#identity.accessKey}/${scope}`,
      'X-Amz-Date': time,
      'X-Amz-Expires': String(seconds),
      'X-Amz-SignedHeaders': 'host',
    };
    const whole = `${target}${target.includes('?') ? '&' : '?'}${queryText(parameters)}`;
    const parts = { method, address: canonicalAddress(whole), rawHeaders: ['host', headers['host'] ?? ''] };
    const digest = canonicalDigest(parts, ['host'], UNSIGNED);
    return `${whole}&X-Amz-Signature=${key.sign(`AWS4-HMAC-SHA256\n${time}\n${scope}\n${digest}`)}`;
  }

  #scope(now: number) {
    const { accessKey, secret, region } = this.#identity;
    const time = writeTime(now);
    const date = time.slice(0, 8);
    return {
      time,
      scope: `${date}/${region}/s3/aws4_request`,
      key: this.#keys.for(accessKey, secret, { date, region }),
    };
  }

  sign({ method, path, query, headers, payload }: Unsigned, now: number): Signed {
    const { time, scope, key } = this.#scope(now);
    const own: Record<string, string> = { ...headers, 'x-amz-date': time, 'x-amz-content-sha256': payload };
    const names = Object.keys(own).sort();
    const address = { canonicalPath: encodePath(path), query: new Query(queryText(query)) };
    const digest = canonicalDigest({ method, address, rawHeaders: Object.entries(own).flat() }, names, payload);
    const signature = key.sign(`AWS4-HMAC-SHA256\n${time}\n${scope}\n${digest}`);
    const credential = `Credential=${this.#identity.accessKey}/${scope}`;
    own['authorization'] = `AWS4-HMAC-SHA256 ${credential}, SignedHeaders=${names.join(';')}, Signature=${signature}`;
    const text = address.query.canonical();
    return {
      target: text === '' ? address.canonicalPath : `${address.canonicalPath}?${text}`,
      headers: own,
      chunks: new ChunkSigner(key, time, scope, signature),
    };
  }
}

function canonicalAddress(target: string) {
  const [path = '', query = ''] = split(target);
  return { canonicalPath: encodePath(decodePercent(path, 'the path')), query: new Query(query) };
}

function split(target: string): [string, string] {
  const mark = target.indexOf('?');
  return mark === -1 ? [target, ''] : [target.slice(0, mark), target.slice(mark + 1)];
}

function queryText(query: Readonly<Record<string, string>>): string {
  return Object.entries(query)
    .map(([name, value]) => `${encodePart(name)}=${encodePart(value)}`)
    .join('&');
}
