import { PendingParts } from '../../all-done.ts';
import type { BlockDevice } from '../../block-device.ts';
import { allocate, clear, release } from '../../kernels/index.ts';
import { BLOCK_BYTES, type Done, SECTOR_BYTES } from '../../units.ts';
import { type DataCheck, sumOf } from '../store/data-checks.ts';
import type { Extent, Segment } from './extents.ts';

/** Unaligned reads up to this size are done in one request, and copied. */
const COPIED_BYTES_MAX = 128 * 1024;

/** Reads bytes of a file from its segments. */
export function readSegments(device: BlockDevice, segments: readonly Segment[], offset: number, into: Buffer): Done {
  const parts = new PendingParts();
  for (const segment of segments) {
    const from = Math.max(offset, segment.block * BLOCK_BYTES);
    const until = Math.min(offset + into.length, (segment.block + segment.count) * BLOCK_BYTES);
    if (from >= until) continue;
    const part = into.subarray(from - offset, until - offset);
    const { start } = segment;
    if (start === undefined || segment.isUnwritten) clear(part);
    else parts.start(() => readBytes(device, start * BLOCK_BYTES + from - segment.block * BLOCK_BYTES, part));
  }
  return parts.done();
}

/**
 * Writes bytes of a file to its segments, which all have blocks. Partial blocks are completed. Data of new blocks is
 * recorded in `checks`.
 */
export function writeSegments(
  device: BlockDevice,
  segments: readonly (Extent & { readonly isNew: boolean })[],
  file: { readonly size: number },
  offset: number,
  data: Buffer,
  checks: DataCheck[] | undefined,
): Done {
  const parts = new PendingParts();
  for (const segment of segments) {
    const base = (segment.start - segment.block) * BLOCK_BYTES;
    const isBlank = segment.isNew || segment.isUnwritten;
    let from = Math.max(offset, segment.block * BLOCK_BYTES);
    const until = Math.min(offset + data.length, (segment.block + segment.count) * BLOCK_BYTES);
    while (from < until) {
      const blockEnd = (Math.floor(from / BLOCK_BYTES) + 1) * BLOCK_BYTES;
      const isPartial = from % BLOCK_BYTES !== 0 || blockEnd > until;
      const end = isPartial ? Math.min(blockEnd, until) : Math.floor(until / BLOCK_BYTES) * BLOCK_BYTES;
      const part = data.subarray(from - offset, end - offset);
      const at = from;
      const written = segment.isNew ? checks : undefined;
      if (isPartial) {
        parts.start(() => writePart(device, base, at, part, isBlank ? 0 : file.size, written));
      } else {
        written?.push(checkOf(base + at, part));
        parts.start(() => device.write(base + at, part));
      }
      from = end;
    }
  }
  return parts.done();
}

/**
 * Writes bytes of one block that is otherwise zeros from `size` on. `base` is the device offset of the file's start.
 */
export async function writePart(
  device: BlockDevice,
  base: number,
  offset: number,
  part: Buffer,
  size: number,
  checks?: DataCheck[],
): Promise<void> {
  const start = Math.floor(offset / BLOCK_BYTES) * BLOCK_BYTES;
  const valid = Math.min(Math.max(size - start, 0), BLOCK_BYTES);
  const block = allocate(BLOCK_BYTES);
  try {
    if (valid > 0) await device.read(base + start, block);
    clear(block, valid);
    part.copy(block, offset - start);
    checks?.push(checkOf(base + start, block));
    await device.write(base + start, block);
  } finally {
    release(block);
  }
}

function checkOf(offset: number, data: Buffer): DataCheck {
  return { start: offset / BLOCK_BYTES, count: data.length / BLOCK_BYTES, sum: sumOf(data) };
}

function readBytes(device: BlockDevice, offset: number, into: Buffer): Done {
  const end = offset + into.length;
  if (offset % SECTOR_BYTES === 0 && end % SECTOR_BYTES === 0) return device.read(offset, into);
  if (into.length <= COPIED_BYTES_MAX) return readCopied(device, offset, into);
  const head = Math.ceil(offset / BLOCK_BYTES) * BLOCK_BYTES;
  const tail = Math.floor(end / BLOCK_BYTES) * BLOCK_BYTES;
  const parts = new PendingParts();
  if (offset < head) parts.start(() => readCopied(device, offset, into.subarray(0, head - offset)));
  parts.start(() => device.read(head, into.subarray(head - offset, tail - offset)));
  if (tail < end) parts.start(() => readCopied(device, tail, into.subarray(tail - offset)));
  return parts.done();
}

function readCopied(device: BlockDevice, offset: number, into: Buffer): Done {
  const start = Math.floor(offset / BLOCK_BYTES) * BLOCK_BYTES;
  const end = Math.ceil((offset + into.length) / BLOCK_BYTES) * BLOCK_BYTES;
  const whole = allocate(end - start);
  const copy = (): void => {
    whole.copy(into, 0, offset - start, offset - start + into.length);
    release(whole);
  };
  const fail = (error: unknown): never => {
    release(whole);
    throw error;
  };
  try {
    const done = device.read(start, whole);
    if (done !== undefined) return done.then(copy, fail);
  } catch (error) {
    return fail(error);
  }
  copy();
  return undefined;
}
