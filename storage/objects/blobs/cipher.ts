import { ObjectError } from '../errors.ts';
import type { EncryptionState } from '../layout/layout.ts';

/*
 * Blobs are encrypted with AES-256 in counter mode (`counter-mode.ts`). The blob's random id is where its counter starts: two
 * blobs meet only by a chance of about 2^-90. Of small ones whose ids begin alike the other 96 bits are random, and they
 * are 2^15 blocks at most: about 2^-80.
 */

/** The key of a number; `encryption-locked` when it is not at hand. */
export function keyOf(encryption: EncryptionState, number: number): Uint8Array {
  const found = encryption.keys.find((key) => key.number === number);
  if (found) return found.key;
  throw new ObjectError('encryption-locked', 'The data is encrypted; give the encryption password to open it.');
}

/** What a new blob is encrypted with; 0 for none. What asks for encryption gets it also where not everything is encrypted. */
export function writeKeyOf({ writeKey, serviceKey }: EncryptionState, asked: boolean): number {
  if (writeKey !== 0 || !asked) return writeKey;
  if (serviceKey !== undefined) return serviceKey;
  throw new ObjectError('encryption-locked', 'There is no key to encrypt with.');
}
