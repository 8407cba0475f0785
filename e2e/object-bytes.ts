import { createHash } from 'node:crypto';
import { Random } from '../testing/random.ts';

const POOL_BYTES = 8 * 2 ** 20;
const pool = makePool();

/** Bytes that every process can compute. */
export interface Slice {
  readonly offset: number;
  readonly size: number;
}

/** What an object holds: slices one after the other. */
export type Content = readonly Slice[];

function makePool(): Buffer {
  const blocks: Buffer[] = [];
  for (let made = 0; made < POOL_BYTES; made += 64) blocks.push(createHash('sha512').update(`${made}`).digest());
  return Buffer.concat(blocks);
}

/** Of a size that tries every way of being kept: none, packed, alone, of many stripes. */
export function someSlice(random: Random): Slice {
  const most = random.pick([1, 4096, 4096, 4096, 70_000, 200_000, 1_200_000, 3_000_000]) ?? 1;
  return sliceOf(random, random.below(most));
}

export function sliceOf(random: Random, size: number): Slice {
  return { offset: random.below(POOL_BYTES - size), size };
}

export function bytesOf(content: Content): Buffer {
  const parts = content.map(({ offset, size }) => pool.subarray(offset, offset + size));
  return parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts);
}

export function sizeOf(content: Content): number {
  return content.reduce((sum, { size }) => sum + size, 0);
}

/** As S3 makes them: of the bytes, or of the parts' where there were parts. */
export function etagOf(content: Content, isMultipart: boolean): string {
  const md5 = (bytes: Uint8Array) => createHash('md5').update(bytes).digest();
  if (!isMultipart) return md5(bytesOf(content)).toString('hex');
  return `${md5(Buffer.concat(content.map((part) => md5(bytesOf([part]))))).toString('hex')}-${content.length}`;
}
