import { encodePart, encodePath, Query } from '../address.ts';
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

/** The caller's side of Signature V4. */
export class RequestSigner {
  readonly #identity: SigningIdentity;
  readonly #keys = new SigningKeys();

  constructor(identity: SigningIdentity) {
    this.#identity = identity;
  }

  sign({ method, path, query, headers, payload }: Unsigned, now: number): Signed {
    const { accessKey, secret, region } = this.#identity;
    const time = writeTime(now);
    const date = time.slice(0, 8);
    const own: Record<string, string> = { ...headers, 'x-amz-date': time, 'x-amz-content-sha256': payload };
    const names = Object.keys(own).sort();
    const address = { canonicalPath: encodePath(path), query: new Query(queryText(query)) };
    const digest = canonicalDigest({ method, address, rawHeaders: Object.entries(own).flat() }, names, payload);
    const scope = `${date}/${region}/s3/aws4_request`;
    const key = this.#keys.for(accessKey, secret, { date, region });
    const signature = key.sign(`AWS4-HMAC-SHA256\n${time}\n${scope}\n${digest}`);
    const credential = `Credential=${accessKey}/${scope}`;
    own['authorization'] = `AWS4-HMAC-SHA256 ${credential}, SignedHeaders=${names.join(';')}, Signature=${signature}`;
    const text = address.query.canonical();
    return {
      target: text === '' ? address.canonicalPath : `${address.canonicalPath}?${text}`,
      headers: own,
      chunks: new ChunkSigner(key, time, scope, signature),
    };
  }
}

function queryText(query: Readonly<Record<string, string>>): string {
  return Object.entries(query)
    .map(([name, value]) => `${encodePart(name)}=${encodePart(value)}`)
    .join('&');
}
