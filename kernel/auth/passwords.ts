import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

const derive = promisify(scrypt) as (
  password: string,
  salt: Buffer,
  length: number,
  options: { N: number; r: number; p: number; maxmem: number },
) => Promise<Buffer>;

const COST = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 2 ** 20 };
const SALT_BYTES = 16;
const HASH_BYTES = 32;
const PARALLEL_MAX = 2;

/** scrypt runs on the thread pool; at most two at a time, so that many sign-ins leave threads for the disk. */
let running = 0;
const waiting: (() => void)[] = [];

/** The maximum length. Unicode composition takes quadratic time, and the input is unauthenticated. */
const PASSWORD_LENGTH_MAX = 1024;

function normalised(password: string): string {
  return password.length > PASSWORD_LENGTH_MAX ? password : password.normalize('NFC');
}

/** Derives bytes from password and salt, slowly. */
export async function stretchPassword(password: string, salt: Buffer, length = HASH_BYTES): Promise<Buffer> {
  while (running >= PARALLEL_MAX) await new Promise<void>((resolve) => waiting.push(resolve));
  running += 1;
  try {
    return await derive(normalised(password), salt, length, COST);
  } finally {
    running -= 1;
    waiting.shift()?.();
  }
}

export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const hash = await stretchPassword(password, salt);
  return `scrypt$${salt.toString('base64')}$${hash.toString('base64')}`;
}

/** Takes the same time for a user that does not exist (`stored` undefined). */
export async function verifyPassword(password: string, stored: string | undefined): Promise<boolean> {
  const [, salt = '', hash = ''] = (stored ?? 'scrypt$AAAA$').split('$');
  const expected = Buffer.from(hash, 'base64');
  const actual = await stretchPassword(password, Buffer.from(salt, 'base64'));
  return expected.length === actual.length && timingSafeEqual(expected, actual);
}
