import { createHmac, hash } from 'node:crypto';

const BLOCK_BYTES = 64;
const DIGEST_BYTES = 32;
const KEYS_MAX = 4096;
const INNER_PAD = 0x36;
const OUTER_PAD = 0x5c;

/**
 * HMAC-SHA256 with one key, many times. `createHmac` costs several times what the hashing itself does, and every request
 * needs one; two one-shot hashes over padded blocks (RFC 2104) are the same thing.
 */
export class SigningKey {
  readonly #inner = Buffer.alloc(BLOCK_BYTES + 1024, INNER_PAD);
  readonly #outer = Buffer.alloc(BLOCK_BYTES + DIGEST_BYTES, OUTER_PAD);

  /** `key` has at most 64 bytes. */
  constructor(key: Uint8Array) {
    for (const [at, byte] of key.entries()) {
      this.#inner[at] = byte ^ INNER_PAD;
      this.#outer[at] = byte ^ OUTER_PAD;
    }
  }

  /** In hex. */
  sign(text: string): string {
    const length = Buffer.byteLength(text);
    const inner = length <= this.#inner.length - BLOCK_BYTES ? this.#inner : this.#longer(length);
    inner.write(text, BLOCK_BYTES);
    hash('sha256', inner.subarray(0, BLOCK_BYTES + length), 'buffer').copy(this.#outer, BLOCK_BYTES);
    return hash('sha256', this.#outer);
  }

  #longer(length: number): Buffer {
    const inner = Buffer.alloc(BLOCK_BYTES + length);
    this.#inner.copy(inner, 0, 0, BLOCK_BYTES);
    return inner;
  }
}

export interface Scope {
  /** `20261116`. */
  readonly date: string;
  readonly region: string;
}

/** Keys of a day are derived from the secret by four HMACs; a client comes again with the same. */
export class SigningKeys {
  readonly #keys = new Map<string, { readonly secret: string; readonly key: SigningKey }>();

  for(accessKey: string, secret: string, scope: Scope): SigningKey {
    const name = `${scope.date}/${scope.region}/${accessKey}`;
    const known = this.#keys.get(name);
    // A secret that was reset makes the cached key worthless.
    if (known?.secret === secret) return known.key;
    if (this.#keys.size >= KEYS_MAX) this.#keys.clear();
    const key = new SigningKey(deriveKey(secret, scope));
    this.#keys.set(name, { secret, key });
    return key;
  }
}

function deriveKey(secret: string, scope: Scope): Buffer {
  const steps = [scope.date, scope.region, 's3', 'aws4_request'];
  return steps.reduce<Buffer>(
    (key, text) => createHmac('sha256', key).update(text).digest(),
    Buffer.from(`AWS4${secret}`),
  );
}
