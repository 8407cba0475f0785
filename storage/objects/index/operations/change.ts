import type { Transaction } from '@granary/kernel/sqlite';
import { ObjectError } from '../../errors.ts';
import type { Ring } from '../../layout/layout.ts';
import type { KnownBucket } from '../rows.ts';
import type { Tally } from '../tally.ts';

/** What an operation works with: the transaction it is part of, and the counters it adds to. */
export interface Change {
  readonly db: Transaction;
  readonly tally: Tally;
  nextSequence(): number;
  /** Which drives the pieces of a partition belong on; undefined while no ring is known. */
  ringOf(partition: number): Ring | undefined;
  /** Whether a drive has not left. */
  readonly isIn: (drive: number) => boolean;
  /** Undefined when there is none. */
  bucket(id: number): KnownBucket | undefined;
  /** A bucket was made, removed or changed: cached buckets are read again. */
  bucketsChanged(): void;
  /** Something was abandoned that is freed in steps later: see `collectGarbage`. */
  leaveGarbage(): void;
}

export function bucketRow(change: Change, id: number): KnownBucket {
  const row = change.bucket(id);
  if (!row) throw new ObjectError('no-such-bucket', 'The bucket does not exist.');
  return row;
}

/** Counts objects that came to, or went from, a bucket, under the policy that keeps their bytes. */
export function count(
  change: Change,
  { id, account }: KnownBucket,
  policy: number,
  counted: { readonly objects: number; readonly bytes: number; readonly at: number },
): void {
  const { objects, bytes, at } = counted;
  if (objects === 0 && bytes === 0) return;
  change.tally.step({ bucket: id, account, policy, objects, bytes, buckets: 0, at });
}
