import { type Cipheriv, createCipheriv, createDecipheriv, type Decipheriv } from 'node:crypto';

const ALGORITHM = 'aes-256-ctr';
const AES_BYTES = 16;

/** AES-256 in counter mode from the beginning; `start` is where the counter begins: 16 bytes. */
export function encryptor(key: Uint8Array, start: Uint8Array): Cipheriv {
  return createCipheriv(ALGORITHM, key, start);
}

/** Decrypts bytes from `position` on, in the order in which they stand. */
export function decryptor(key: Uint8Array, start: Uint8Array, position: number): Decipheriv {
  const decipher = createDecipheriv(ALGORITHM, key, counterAt(start, Math.floor(position / AES_BYTES)));
  if (position % AES_BYTES > 0) decipher.update(Buffer.alloc(position % AES_BYTES));
  return decipher;
}

function counterAt(start: Uint8Array, blocks: number): Buffer {
  const counter = Buffer.from(start);
  let carry = blocks;
  for (let at = counter.length - 1; at >= 0 && carry > 0; at -= 1) {
    carry += counter[at] ?? 0;
    counter[at] = carry % 256;
    carry = Math.floor(carry / 256);
  }
  return counter;
}
