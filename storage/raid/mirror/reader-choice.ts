import type { Member } from '../members/member.ts';
import type { ReadMode } from '../options.ts';

/** Adjacent rows are read from one member, so that the page cache does not hold everything twice. */
export const SLICE_ROWS = 128;

/** The member of a mirror that answers a read. */
export function chooseReader(readers: readonly Member[], mode: ReadMode, row: number): Member | undefined {
  if (mode === 'first') return readers[0];
  const inTurn = readers[Math.floor(row / SLICE_ROWS) % readers.length];
  if (mode === 'balanced') return inTurn;
  let least = inTurn;
  for (const reader of readers) if (least === undefined || reader.readsUnderWay < least.readsUnderWay) least = reader;
  return least;
}
