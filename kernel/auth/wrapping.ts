import { createCipheriv, createDecipheriv, createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { stretchPassword } from './passwords.ts';

const SALT_BYTES = 16;
const KEY_BYTES = 32;
const ALGORITHM = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Verifies a password; reveals neither it nor its key. */
export interface Verifier {
  readonly salt: string;
  readonly mark: string;
}

export interface DerivedKey {
  readonly wrapping: Buffer;
  readonly verifier: Verifier;
}

/** One half of the derived bytes wraps, the other half is only compared. */
export async function deriveKey(password: string, salt = randomBytes(SALT_BYTES)): Promise<DerivedKey> {
  const bytes = await stretchPassword(password, salt, 2 * KEY_BYTES);
  const mark = createHash('sha256').update(bytes.subarray(KEY_BYTES)).digest('base64');
  return {
    wrapping: Buffer.from(bytes.subarray(0, KEY_BYTES)),
    verifier: { salt: salt.toString('base64'), mark },
  };
}

/** The key of the password, if it is the right one. */
export async function verifyKey(password: string, { salt, mark }: Verifier): Promise<Buffer | undefined> {
  const { wrapping, verifier } = await deriveKey(password, Buffer.from(salt, 'base64'));
  return timingSafeEqual(Buffer.from(verifier.mark), Buffer.from(mark)) ? wrapping : undefined;
}

export function wrapKey(wrapping: Buffer, key: Uint8Array): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, wrapping, nonce);
  const sealed = Buffer.concat([cipher.update(key), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64');
}

export function unwrapKey(wrapping: Buffer, wrapped: string): Buffer {
  const bytes = Buffer.from(wrapped, 'base64');
  const decipher = createDecipheriv(ALGORITHM, wrapping, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
}
