import { FsError } from '../errors.ts';

export const NAME_BYTES_MAX = 255;
const SLASH = 0x2f;
const DOT = 0x2e;

/** Names are bytes, in any encoding, as NFS allows. */
export function checkName(name: Buffer): void {
  if (name.length === 0) throw new FsError('ENOENT', 'A name has at least one byte.');
  if (name.length > NAME_BYTES_MAX) {
    throw new FsError('ENAMETOOLONG', `A name has ${NAME_BYTES_MAX} bytes at most; this one has ${name.length}.`);
  }
  if (isDots(name)) throw new FsError('EINVAL', 'The names . and .. are always there.');
  if (name.includes(SLASH) || name.includes(0)) throw new FsError('EINVAL', 'A name has neither / nor NUL in it.');
}

export function isDots(name: Buffer): boolean {
  return name[0] === DOT && (name.length === 1 || (name.length === 2 && name[1] === DOT));
}

/** The maximum number of names with the same hash in a directory: their keys differ in the last byte. */
const COLLISIONS_MAX = 256;

/**
 * The first key of a name: 44 bits of HalfSipHash-2-4 under a secret key, followed by 8 bits that number names of the
 * same hash. Cookies of directory listings are these keys; those below 256 stay unused, because protocols use small
 * ones for `.` and `..`.
 */
export function hashName(name: Buffer, key: Buffer): number {
  const [low, high] = halfSipHash(name, key.readUInt32LE(0), key.readUInt32LE(4));
  const hash = (high & 0xfff) * 2 ** 32 + low;
  return (hash === 0 ? 1 : hash) * COLLISIONS_MAX;
}

/**
 * The first key of a link to a directory, given the cookie of the name there. The same name in other directories has
 * another slot for certain, another name by its hash.
 */
export function slotOf(cookie: number, directory: number): number {
  const hash = Math.floor(cookie / COLLISIONS_MAX);
  return ((hash + directory) % 2 ** 44) * COLLISIONS_MAX;
}

/** The first key from `first` on that is not in `taken`. */
export function freeKey(first: number, taken: readonly number[]): number {
  for (let key = first; key < first + COLLISIONS_MAX; key += 1) if (!taken.includes(key)) return key;
  throw new FsError('ENOSPC', 'Too many names have the same hash; choose another name.');
}

export function isOfHash(key: number, first: number): boolean {
  return key < first + COLLISIONS_MAX;
}

let v0 = 0;
let v1 = 0;
let v2 = 0;
let v3 = 0;

function round(): void {
  v0 = (v0 + v1) | 0;
  v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
  v0 = (v0 << 16) | (v0 >>> 16);
  v2 = (v2 + v3) | 0;
  v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
  v0 = (v0 + v3) | 0;
  v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
  v2 = (v2 + v1) | 0;
  v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
  v2 = (v2 << 16) | (v2 >>> 16);
}

function absorb(word: number): void {
  v3 ^= word;
  round();
  round();
  v0 ^= word;
}

function halfSipHash(bytes: Buffer, k0: number, k1: number): [number, number] {
  v0 = k0;
  v1 = k1 ^ 0xee;
  v2 = 0x6c796765 ^ k0;
  v3 = 0x74656462 ^ k1;
  const whole = bytes.length & ~3;
  for (let at = 0; at < whole; at += 4) absorb(bytes.readInt32LE(at));
  let last = bytes.length << 24;
  for (let at = bytes.length - 1; at >= whole; at -= 1) last |= (bytes[at] as number) << (8 * (at - whole));
  absorb(last);
  v2 ^= 0xee;
  for (let count = 0; count < 4; count += 1) round();
  const low = (v1 ^ v3) >>> 0;
  v1 ^= 0xdd;
  for (let count = 0; count < 4; count += 1) round();
  return [low, (v1 ^ v3) >>> 0];
}
