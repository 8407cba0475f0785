/** How a file is cut into the parts of a multipart upload. */

const MIB = 2 ** 20;
export const PART_BYTES = 8 * MIB;
/** From this size on, a file is sent in parts. */
export const MULTIPART_FROM_BYTES = 16 * MIB;
const PARTS_MAX = 10_000;

export interface Part {
  readonly number: number;
  readonly start: number;
  readonly end: number;
}

/** What a service says of a part that it has. */
export interface StoredPart {
  readonly number: number;
  readonly etag: string;
  readonly size: number;
}

/** The size of each part: 8 MiB, or more where 10,000 of them are too few. */
export function partBytes(size: number): number {
  const least = Math.ceil(size / PARTS_MAX);
  return Math.max(PART_BYTES, Math.ceil(least / MIB) * MIB);
}

export function planParts(size: number, each = partBytes(size)): Part[] {
  return Array.from({ length: Math.max(1, Math.ceil(size / each)) }, (_, index) => ({
    number: index + 1,
    start: index * each,
    end: Math.min(size, (index + 1) * each),
  }));
}

export interface Remaining {
  readonly todo: readonly Part[];
  readonly done: readonly StoredPart[];
  readonly doneBytes: number;
}

/** What is left to send. A stored part counts only if it is as long as the plan says. */
export function remaining(plan: readonly Part[], stored: readonly StoredPart[]): Remaining {
  const byNumber = new Map(stored.map((part) => [part.number, part]));
  const isDone = ({ number, start, end }: Part) => byNumber.get(number)?.size === end - start;
  const done = plan.filter(isDone).map(({ number }) => byNumber.get(number) as StoredPart);
  return {
    todo: plan.filter((part) => !isDone(part)),
    done,
    doneBytes: done.reduce((sum, { size }) => sum + size, 0),
  };
}
