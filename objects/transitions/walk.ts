import { noncurrentPolicyDue, policyDue, type Bucket } from '@granary/storage/object-store';
import type { ObjectCatalogue } from '../engine/engine.ts';
import type { MoveOrder } from '../engine/transitions/order.ts';
import { entriesFrom, type Entry, type LastEntry } from '../expiry/entries.ts';

export interface Step {
  readonly moves: readonly MoveOrder[];
  /** Where the walk goes on; null at the end. */
  readonly next: LastEntry | null;
}

/** What is to move to another policy, in one stretch of a walk over everything in a bucket. */
export function stepOf(
  reader: Pick<ObjectCatalogue, 'listVersions'>,
  bucket: Bucket,
  before: LastEntry | null,
  now: number,
  limit: number,
): Step {
  const { entries, last, isEnd } = entriesFrom(reader, bucket, before, limit);
  const moves = entries.flatMap((entry) => {
    const { key, sequence, attributes, isDeleteMarker } = entry.version;
    const policy = isDeleteMarker ? undefined : wantedPolicy(bucket, entry, now);
    if (policy === undefined || policy === (attributes.policy ?? bucket.policy)) return [];
    return [{ bucket: bucket.id, key, sequence, policy }];
  });
  return { moves, next: isEnd ? null : last };
}

/** What is due to be removed for good is found by the other walk, and gone when its move is committed: that is refused then. */
function wantedPolicy({ settings }: Bucket, { version, newer }: Entry, now: number): number | undefined {
  if (!newer) return policyDue(settings, version, now);
  return noncurrentPolicyDue(settings, version, { hiddenAt: newer.modifiedAt, newer: newer.hidden }, now);
}
