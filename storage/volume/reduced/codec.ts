import { constants, zstdCompress, zstdDecompress, type ZstdOptions } from 'node:zlib';
import { StorageError } from '../../errors.ts';
import { clear } from '../../kernels/index.ts';
import { BLOCK_BYTES } from '../../units.ts';
import { BLOCKS_PER_CHUNK } from './address.ts';

export const CHUNK_BYTES = BLOCKS_PER_CHUNK * BLOCK_BYTES;

/**
 * A chunk that takes fewer blocks than it stands for starts with a header: two bytes of magic, the algorithm, a byte of
 * zero, the length of what follows and the length of what it unpacks to, two bytes each. What is left is zeros.
 */
const HEADER_BYTES = 8;
const MAGIC = 0x6347;
const AS_IS = 0;
const ZSTD = 1;

const LEVEL = 1;
const COMPRESS: ZstdOptions = { chunkSize: 2 * CHUNK_BYTES, params: { [constants.ZSTD_c_compressionLevel]: LEVEL } };
const DECOMPRESS: ZstdOptions = { chunkSize: CHUNK_BYTES, maxOutputLength: CHUNK_BYTES };

const ZEROS = Buffer.alloc(CHUNK_BYTES);
const ZERO_BLOCK = ZEROS.subarray(0, BLOCK_BYTES);

/** A chunk as it will be stored. */
export interface Packed {
  readonly blocks: number;
  /** Writes it to a buffer of `blocks` blocks. */
  readonly layOut: (into: Buffer) => void;
}

export function isZeros(chunk: Buffer): boolean {
  return chunk.equals(ZEROS);
}

/** The chunk's bytes are not copied before `layOut`. */
export async function pack(chunk: Buffer, compression: boolean): Promise<Packed> {
  const plain = withoutZeroTail(chunk);
  const packed = compression ? await compress(plain) : plain;
  const blocks = Math.ceil((HEADER_BYTES + packed.length) / BLOCK_BYTES);
  if (blocks >= BLOCKS_PER_CHUNK) return { blocks: BLOCKS_PER_CHUNK, layOut: (into) => void chunk.copy(into) };
  const algorithm = compression ? ZSTD : AS_IS;
  return { blocks, layOut: (into) => layOut(algorithm, packed, plain.length, into) };
}

/** The unpacked bytes, without the blocks of zeros at the end; in memory of their own. */
export async function unpack(stored: Buffer): Promise<Buffer> {
  const algorithm = stored.readUInt8(2);
  const packedBytes = stored.readUInt16LE(4);
  const plainBytes = stored.readUInt16LE(6);
  if (stored.readUInt16LE(0) !== MAGIC || HEADER_BYTES + packedBytes > stored.length || algorithm > ZSTD) {
    throw damaged();
  }
  const packed = stored.subarray(HEADER_BYTES, HEADER_BYTES + packedBytes);
  const plain = algorithm === ZSTD ? await decompress(packed) : Buffer.from(packed);
  if (plain.length !== plainBytes) throw damaged();
  return plain;
}

/** Copies a part of an unpacked chunk; the rest is zeros. */
export function copyPart(plain: Buffer, from: number, into: Buffer): void {
  const copied = from < plain.length ? plain.copy(into, 0, from) : 0;
  clear(into, copied);
}

function layOut(algorithm: number, packed: Buffer, plainBytes: number, into: Buffer): void {
  into.writeUInt16LE(MAGIC, 0);
  into.writeUInt8(algorithm, 2);
  into.writeUInt8(0, 3);
  into.writeUInt16LE(packed.length, 4);
  into.writeUInt16LE(plainBytes, 6);
  packed.copy(into, HEADER_BYTES);
  clear(into, HEADER_BYTES + packed.length);
}

function withoutZeroTail(chunk: Buffer): Buffer {
  let end = chunk.length;
  while (end > 0 && chunk.subarray(end - BLOCK_BYTES, end).equals(ZERO_BLOCK)) end -= BLOCK_BYTES;
  return chunk.subarray(0, end);
}

function compress(plain: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    zstdCompress(plain, COMPRESS, (error, packed) => (error ? reject(error) : resolve(packed)));
  });
}

function decompress(packed: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    zstdDecompress(packed, DECOMPRESS, (error, plain) => (error ? reject(damaged(error)) : resolve(plain)));
  });
}

function damaged(cause?: Error): StorageError {
  return new StorageError('unreadable', 'A stored chunk is damaged; restore the volume from a snapshot or a backup.', {
    cause,
  });
}
