import { BLOCK_BYTES } from '../../units.ts';
import { FsError } from '../errors.ts';
import type { Inode } from '../files/inode.ts';
import type { Reader } from '../store/transaction.ts';
import { loadFile } from './content-changes.ts';
import { segmentsOf } from './extents.ts';

const SEGMENTS_PER_STEP = 64;

/** The next data, or hole, from an offset on. The end of a file counts as a hole; preallocated blocks hold no data. */
export function seekContents(reader: Reader, number: number, offset: number, what: 'data' | 'hole'): number {
  const inode = loadFile(reader, number);
  if (offset >= inode.size) throw new FsError('ENXIO', `There is nothing behind ${inode.size} bytes.`);
  if (inode.isInline || inode.isArchived) return what === 'data' ? offset : inode.size;
  const block = seekBlock(reader, inode, Math.floor(offset / BLOCK_BYTES), what);
  const found = Math.max(offset, (block ?? Infinity) * BLOCK_BYTES);
  if (found < inode.size) return found;
  if (what === 'hole') return inode.size;
  throw new FsError('ENXIO', `There are no data behind offset ${offset}.`);
}

function seekBlock(reader: Reader, inode: Inode, from: number, what: 'data' | 'hole'): number | undefined {
  const end = Math.ceil(inode.size / BLOCK_BYTES);
  for (let at = from; at < end;) {
    const segments = segmentsOf(reader, inode.inode, at, end, SEGMENTS_PER_STEP);
    const found = segments.find(({ start, isUnwritten }) => (start === undefined || isUnwritten) === (what === 'hole'));
    if (found !== undefined) return found.block;
    const last = segments.at(-1);
    at = last === undefined ? end : last.block + last.count;
  }
  return undefined;
}
