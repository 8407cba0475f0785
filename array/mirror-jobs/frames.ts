import { promisify } from 'node:util';
import { constants, zstdCompress, zstdDecompress } from 'node:zlib';

const compressed = promisify(zstdCompress);
const decompressed = promisify(zstdDecompress);

/** A stretch of a volume: its bytes, or none where it reads as zeros. */
export interface Range {
  readonly offset: number;
  readonly length: number;
  readonly bytes?: Uint8Array;
}

/** Most bytes of a volume in one frame, and most stretches. */
export const FRAME_BYTES_MAX = 4 * 2 ** 20;
export const FRAME_RANGES_MAX = 4096;
const HEAD_BYTES = 4;
const ENTRY_BYTES = 17;
const PLAIN_BYTES_MAX = HEAD_BYTES + ENTRY_BYTES * FRAME_RANGES_MAX + FRAME_BYTES_MAX;
const AS_IS = 0;
const COMPRESSED = 1;
const LEVEL = 1;
/** Compression pays when it spares a tenth. */
const WORTH = 0.9;
/** Frames that are sent uncompressed after one that did not shrink. */
const TRY_AGAIN_AFTER = 16;

function encode(ranges: readonly Range[]): Buffer {
  const head = Buffer.alloc(HEAD_BYTES + ENTRY_BYTES * ranges.length);
  head.writeUInt32LE(ranges.length, 0);
  ranges.forEach(({ offset, length, bytes }, index) => {
    const at = HEAD_BYTES + ENTRY_BYTES * index;
    head.writeUInt8(bytes ? 1 : 0, at);
    head.writeBigUInt64LE(BigInt(offset), at + 1);
    head.writeBigUInt64LE(BigInt(length), at + 9);
  });
  return Buffer.concat([head, ...ranges.flatMap(({ bytes }) => (bytes ? [bytes] : []))]);
}

function decode(plain: Buffer): Range[] | undefined {
  if (plain.length < HEAD_BYTES) return undefined;
  const count = plain.readUInt32LE(0);
  let data = HEAD_BYTES + ENTRY_BYTES * count;
  if (count > FRAME_RANGES_MAX || data > plain.length) return undefined;
  const ranges: Range[] = [];
  for (let index = 0; index < count; index += 1) {
    const at = HEAD_BYTES + ENTRY_BYTES * index;
    const offset = Number(plain.readBigUInt64LE(at + 1));
    const length = Number(plain.readBigUInt64LE(at + 9));
    if (plain.readUInt8(at) === 0) {
      ranges.push({ offset, length });
      continue;
    }
    if (data + length > plain.length) return undefined;
    ranges.push({ offset, length, bytes: plain.subarray(data, data + length) });
    data += length;
  }
  return data === plain.length ? ranges : undefined;
}

/** Writes stretches down as they travel, compressed where that pays. */
export class FrameWriter {
  #skip = 0;

  async write(ranges: readonly Range[]): Promise<Buffer> {
    const plain = encode(ranges);
    if (this.#skip > 0) this.#skip -= 1;
    else {
      const small = await compressed(plain, { params: { [constants.ZSTD_c_compressionLevel]: LEVEL } });
      if (small.length <= plain.length * WORTH) return Buffer.concat([Buffer.of(COMPRESSED), small]);
      this.#skip = TRY_AGAIN_AFTER;
    }
    return Buffer.concat([Buffer.of(AS_IS), plain]);
  }
}

/** Undefined when it is no frame. */
export async function readFrame(frame: Buffer): Promise<Range[] | undefined> {
  const body = frame.subarray(1);
  if (frame[0] === AS_IS) return decode(body);
  if (frame[0] !== COMPRESSED) return undefined;
  try {
    return decode(await decompressed(body, { maxOutputLength: PLAIN_BYTES_MAX }));
  } catch {
    return undefined;
  }
}

/** What a sealed frame is bound to: it cannot be passed off as another one. */
export function frameLabel(job: string, snapshot: string, from: number, to: number): string {
  return `${job} ${snapshot} ${from} ${to}`;
}
