import { KIND } from '../store/layout.ts';
import type { Run } from '../store/space-map-page.ts';
import type { Reader, Transaction } from '../store/transaction.ts';

const VALUE_BYTES = 11;
const START_BYTES = 6;
const COUNT_MAX = 2 ** 31;
const FLAG_UNWRITTEN = 1;

/** A part of a file, in blocks: `start` is its place on the device; a part without one is a hole. */
export interface Segment {
  readonly block: number;
  readonly count: number;
  readonly start: number | undefined;
  /** Allocated, but reads as zeros. */
  readonly isUnwritten: boolean;
}

/** A segment with blocks. */
export interface Extent extends Segment {
  readonly start: number;
}

/** The segments of a range of blocks of a file, without gaps; at most `max`, from its beginning on. */
export function segmentsOf(reader: Reader, inode: number, from: number, until: number, max = Infinity): Segment[] {
  const segments: Segment[] = [];
  let at = from;
  const visit = (block: number, value: Buffer): boolean => {
    if (block >= until || segments.length >= max) return false;
    const extent = decodeExtent(block, value);
    if (block + extent.count <= at) return true;
    if (block > at) segments.push(hole(at, block));
    const first = Math.max(block, at);
    at = Math.min(block + extent.count, until);
    segments.push({
      block: first,
      count: at - first,
      start: extent.start + first - block,
      isUnwritten: extent.isUnwritten,
    });
    return true;
  };
  const before = reader.floor(inode, KIND.extent, from);
  reader.scan(inode, KIND.extent, before?.offset ?? from, visit);
  if (at < until && segments.length < max) segments.push(hole(at, until));
  return segments;
}

/** Puts blocks into a hole. Joins them with the previous extent if they are adjacent on the device. */
export function addExtent(
  transaction: Transaction,
  inode: number,
  block: number,
  run: Run,
  isUnwritten: boolean,
): void {
  const before = previous(transaction, inode, block);
  if (
    before !== undefined &&
    before.block + before.count === block &&
    before.start + before.count === run.start &&
    before.isUnwritten === isUnwritten &&
    before.count + run.count <= COUNT_MAX
  ) {
    put(transaction, inode, { ...before, count: before.count + run.count });
  } else {
    put(transaction, inode, { block, count: run.count, start: run.start, isUnwritten });
  }
}

/** Marks preallocated blocks as written. */
export function markWritten(transaction: Transaction, inode: number, from: number, until: number): void {
  for (const extent of extentsIn(transaction, inode, from, until, Infinity)) {
    if (!extent.isUnwritten) continue;
    const [head, middle, tail] = cut(extent, from, until);
    transaction.delete(inode, KIND.extent, extent.block);
    if (head !== undefined) put(transaction, inode, head);
    if (middle !== undefined) addExtent(transaction, inode, middle.block, middle, false);
    if (tail !== undefined) put(transaction, inode, tail);
  }
}

/**
 * Frees the blocks of a range, of `max` extents at most. Returns the number of blocks, and whether the range is done.
 */
export function removeExtents(
  transaction: Transaction,
  inode: number,
  from: number,
  until: number,
  max: number,
): { readonly blocks: number; readonly isDone: boolean } {
  let blocks = 0;
  // From the end: a file that is being truncated is contiguous up to some point at any time.
  const extents = lastExtentsIn(transaction, inode, from, until, max + 1);
  for (const extent of extents.slice(0, max)) {
    const [head, middle, tail] = cut(extent, from, until);
    transaction.delete(inode, KIND.extent, extent.block);
    if (head !== undefined) put(transaction, inode, head);
    if (tail !== undefined) put(transaction, inode, tail);
    if (middle === undefined) continue;
    transaction.free(middle.start, middle.count);
    blocks += middle.count;
  }
  return { blocks, isDone: extents.length <= max };
}

export function decodeExtent(block: number, value: Buffer): Extent {
  return {
    block,
    start: value.readUIntLE(0, START_BYTES),
    count: value.readUInt32LE(START_BYTES),
    isUnwritten: ((value[10] as number) & FLAG_UNWRITTEN) !== 0,
  };
}

function extentsIn(reader: Reader, inode: number, from: number, until: number, max: number): Extent[] {
  const found: Extent[] = [];
  const before = previous(reader, inode, from);
  if (before !== undefined && before.block < from && before.block + before.count > from) found.push(before);
  reader.scan(inode, KIND.extent, from, (block, value) => {
    if (block >= until || found.length >= max) return false;
    found.push(decodeExtent(block, value));
    return true;
  });
  return found;
}

function lastExtentsIn(reader: Reader, inode: number, from: number, until: number, max: number): Extent[] {
  const found: Extent[] = [];
  for (let at = until - 1; found.length < max && at >= 0;) {
    const extent = previous(reader, inode, at);
    if (extent === undefined || extent.block + extent.count <= from) break;
    found.push(extent);
    at = extent.block - 1;
  }
  return found;
}

function previous(reader: Reader, inode: number, block: number): Extent | undefined {
  const item = reader.floor(inode, KIND.extent, block);
  return item && decodeExtent(item.offset, item.value);
}

/** The parts of an extent before, in and after a range. */
function cut(extent: Extent, from: number, until: number): (Extent | undefined)[] {
  const end = extent.block + extent.count;
  return [
    part(extent, extent.block, Math.min(end, from)),
    part(extent, Math.max(extent.block, from), Math.min(end, until)),
    part(extent, Math.max(extent.block, until), end),
  ];
}

function part(extent: Extent, from: number, until: number): Extent | undefined {
  if (from >= until) return undefined;
  return { ...extent, block: from, count: until - from, start: extent.start + from - extent.block };
}

function put(transaction: Transaction, inode: number, { block, count, start, isUnwritten }: Extent): void {
  const value = Buffer.allocUnsafe(VALUE_BYTES);
  value.writeUIntLE(start, 0, START_BYTES);
  value.writeUInt32LE(count, START_BYTES);
  value[10] = isUnwritten ? FLAG_UNWRITTEN : 0;
  transaction.put(inode, KIND.extent, block, value);
}

function hole(from: number, until: number): Segment {
  return { block: from, count: until - from, start: undefined, isUnwritten: false };
}
