import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import {
  type ByteRange,
  decryptor,
  encryptor,
  type ObjectAttributes,
  type ObjectVersion,
} from '@granary/storage/object-store';
import type { CustomerKey } from './customer-key.ts';

/**
 * Bytes under a key of the client's. The key of an object comes of the client's key and a random salt by HKDF, so that a key that
 * is used for many objects encrypts no two with the same. AES-256 in counter mode encrypts the bytes, from a random start for an
 * object that was put whole and for each part of one that came in parts: so any range is decrypted by itself. What is kept
 * is the salt, the starts, and a verifier that tells whether a key is the one, from which no key follows.
 */
type Seal = NonNullable<ObjectAttributes['customerKey']>;

const SALT_BYTES = 32;
const START_BYTES = 16;
const KEY_BYTES = 32;

function derived({ key }: CustomerKey, salt: Uint8Array, use: 'data' | 'verifier'): Buffer {
  return Buffer.from(hkdfSync('sha256', key, salt, `granary sse-c ${use}`, KEY_BYTES));
}

export function newSeal(key: CustomerKey): Seal {
  const salt = randomBytes(SALT_BYTES);
  return { salt: salt.toString('base64'), verifier: derived(key, salt, 'verifier').toString('base64'), starts: [] };
}

/** Whether it is the key that a seal was made with. */
export function opensSeal({ salt, verifier }: Seal, key: CustomerKey): boolean {
  const expected = Buffer.from(verifier, 'base64');
  return timingSafeEqual(derived(key, Buffer.from(salt, 'base64'), 'verifier'), expected);
}

/** Encrypts what comes, in order: one object, or one part. */
export class Sealer {
  /** Base64: to be kept. */
  readonly start: string;
  readonly #data: Buffer;
  readonly #cipher: ReturnType<typeof encryptor>;

  constructor({ salt }: Seal, key: CustomerKey) {
    const start = randomBytes(START_BYTES);
    this.start = start.toString('base64');
    this.#data = derived(key, Buffer.from(salt, 'base64'), 'data');
    this.#cipher = encryptor(this.#data, start);
  }

  sealed(bytes: Uint8Array): Uint8Array {
    return this.#cipher.update(bytes);
  }

  /** In the place of the MD5, which would tell what short texts are. */
  etag(md5: string): string {
    return createHmac('sha256', this.#data).update(md5).digest('hex').slice(0, md5.length);
  }
}

interface Stretch {
  readonly start: Uint8Array;
  /** Where in what was encrypted from that start. */
  readonly position: number;
  readonly length: number;
}

/** The bytes of a range of a version, from those that are kept of that range. */
export async function* unsealed(
  kept: AsyncIterable<Uint8Array>,
  version: ObjectVersion,
  range: ByteRange,
  key: CustomerKey,
): AsyncGenerator<Uint8Array, void, undefined> {
  const seal = version.attributes.customerKey;
  if (seal === undefined) throw new Error('Only what was sealed is unsealed');
  const data = derived(key, Buffer.from(seal.salt, 'base64'), 'data');
  const stretches = stretchesOf(seal, version.attributes.partSizes ?? [version.size], range)[Symbol.iterator]();
  let left = 0;
  let decipher: ReturnType<typeof decryptor> | undefined;
  for await (const chunk of kept) {
    for (let taken = 0; taken < chunk.length;) {
      if (left === 0 || decipher === undefined) {
        const next = stretches.next().value;
        if (next === undefined) throw new Error('More bytes are kept than the version has');
        decipher = decryptor(data, next.start, next.position);
        left = next.length;
      }
      const piece = chunk.subarray(taken, taken + left);
      yield decipher.update(piece);
      taken += piece.length;
      left -= piece.length;
    }
  }
}

/** The parts of a range, those without a byte in it left out. */
function stretchesOf({ starts }: Seal, sizes: readonly number[], range: ByteRange): Stretch[] {
  const stretches: Stretch[] = [];
  let begin = 0;
  for (const [index, size] of sizes.entries()) {
    const from = Math.max(range.start, begin);
    const until = Math.min(range.end, begin + size);
    if (from < until) {
      const start = Buffer.from(starts[index] ?? '', 'base64');
      stretches.push({ start, position: from - begin, length: until - from });
    }
    begin += size;
  }
  return stretches;
}
