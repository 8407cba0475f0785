import { type Cipheriv, createCipheriv, createDecipheriv, type Decipheriv } from 'node:crypto';
import { ObjectError } from '../errors.ts';
import type { EncryptionState } from '../layout/layout.ts';

const ALGORITHM = 'aes-256-ctr';
const AES_BYTES = 16;

/** The key of a number; `encryption-locked` when it is not at hand. */
export function keyOf(encryption: EncryptionState, number: number): Uint8Array {
  const found = encryption.keys.find((key) => key.number === number);
  if (found) return found.key;
  throw new ObjectError('encryption-locked', 'The data is encrypted; give the encryption password to open it.');
}

export function encryptor(key: Uint8Array, id: Uint8Array): Cipheriv {
  return createCipheriv(ALGORITHM, key, id);
}

/** Decrypts bytes from `position` of the blob on, in the order in which they stand. */
export function decryptor(key: Uint8Array, id: Uint8Array, position: number): Decipheriv {
  const decipher = createDecipheriv(ALGORITHM, key, counterAt(id, Math.floor(position / AES_BYTES)));
  if (position % AES_BYTES > 0) decipher.update(Buffer.alloc(position % AES_BYTES));
  return decipher;
}

/**
 * The blob's random id is where its counter starts: two blobs meet only by a chance of about 2^-90. Of small ones whose
 * ids begin alike the other 96 bits are random, and they are 2^15 blocks at most: about 2^-80.
 */
function counterAt(id: Uint8Array, blocks: number): Buffer {
  const counter = Buffer.from(id);
  let carry = blocks;
  for (let at = counter.length - 1; at >= 0 && carry > 0; at -= 1) {
    carry += counter[at] ?? 0;
    counter[at] = carry % 256;
    carry = Math.floor(carry / 256);
  }
  return counter;
}
