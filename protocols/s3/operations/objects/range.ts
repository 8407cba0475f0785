import type { ByteRange } from '@granary/storage/object-store';

/** What `Range` asks of an object: a part of it, nothing that exists, or (null) all of it. */
export type RangeAnswer = ByteRange | 'unsatisfiable' | null;

const RANGE_LENGTH_MAX = 1024;

/**
 * One range in bytes. Several ranges, other units and what cannot be read are ignored, as S3 does and as HTTP allows:
 * the whole object follows.
 */
export function rangeOf(header: string | undefined, size: number): RangeAnswer {
  const match = /^bytes=(\d*)-(\d*)$/i.exec(withoutSpaces(header ?? ''));
  if (match === null) return null;
  const [, from = '', to = ''] = match;
  if (from === '') return to === '' ? null : lastBytes(Number(to), size);
  const start = Number(from);
  const last = to === '' ? size - 1 : Number(to);
  if (to !== '' && last < start) return null;
  if (start >= size) return 'unsatisfiable';
  return { start, end: Math.min(last + 1, size) };
}

/** A long header names no range; spaces mean nothing, and patterns that skip them take quadratic time. */
function withoutSpaces(header: string): string {
  return header.length > RANGE_LENGTH_MAX ? '' : header.replaceAll(/[ \t]/g, '');
}

function lastBytes(count: number, size: number): RangeAnswer {
  if (count === 0 || size === 0) return 'unsatisfiable';
  return { start: Math.max(0, size - count), end: size };
}

/** `x-amz-copy-source-range`: both ends are given and lie inside the source; anything else (null) is an error. */
export function copyRangeOf(header: string, size: number): ByteRange | null {
  const match = /^bytes=(\d{1,16})-(\d{1,16})$/.exec(header);
  if (match === null) return null;
  const [start, last] = [Number(match[1]), Number(match[2])];
  return last < start || last >= size ? null : { start, end: last + 1 };
}
