import type { ByteRange } from '@granary/storage/object-store';

/** More ranges than this in one request are refused: each is a read of its own. */
const MAX_RANGES = 50;
const HEADER_LENGTH_MAX = 4096;

/** Undefined: the header cannot be read and is ignored. An empty list: nothing of it lies in the object. */
export function parseRanges(header: string, size: number): readonly ByteRange[] | undefined {
  if (header.length > HEADER_LENGTH_MAX) return undefined;
  const match = /^bytes=(.+)$/i.exec(header.replaceAll(/[ \t]/g, ''));
  const parts = match?.[1]?.split(',') ?? [];
  if (parts.length === 0) return undefined;
  if (parts.length > MAX_RANGES) return [];
  const ranges: ByteRange[] = [];
  for (const part of parts) {
    const [, first, last] = /^(\d*)-(\d*)$/.exec(part) ?? [];
    if (first === undefined || last === undefined || (first === '' && last === '')) return undefined;
    if (first !== '' && last !== '' && Number(last) < Number(first)) return undefined;
    const range = resolveRange(first, last, size);
    if (range !== undefined) ranges.push(range);
  }
  return ranges;
}

/** `first-last`, `first-` or `-length` in an object of that size; undefined when nothing of it lies there. */
export function resolveRange(first: string, last: string, size: number): ByteRange | undefined {
  if (first === '') {
    const length = Math.min(Number(last), size);
    return length === 0 ? undefined : { start: size - length, end: size };
  }
  const start = Number(first);
  if (start >= size) return undefined;
  return { start, end: last === '' ? size : Math.min(Number(last) + 1, size) };
}

export function contentRange(range: ByteRange, size: number): string {
  return `bytes ${range.start}-${range.end - 1}/${size}`;
}
