import type { BucketSettings } from '../../bucket-settings.ts';
import { ObjectError, type ObjectErrorCode } from '../../errors.ts';
import type { Conditions } from '../../operations.ts';
import type { Retention } from '../../records.ts';
import { retentionOf, type KnownBucket, type VersionRow } from '../rows.ts';
import { DAY_MS } from '../stored.ts';

type Locks = Pick<VersionRow, 'retention_mode' | 'retention_until' | 'legal_hold'>;

/** `missing` is what it is called when something must match and nothing is there. */
export function checkConditions(
  conditions: Conditions | undefined,
  current: VersionRow | undefined,
  missing: ObjectErrorCode,
): void {
  if (!conditions) return;
  const { ifMatch, ifNoneMatch, ifUnmodifiedSince, ifSize, ifSequence } = conditions;
  if (ifNoneMatch !== undefined && current && (ifNoneMatch === '*' || ifNoneMatch === current.etag)) refuse();
  const mustBeThere = [ifMatch, ifUnmodifiedSince, ifSize, ifSequence].some((condition) => condition !== undefined);
  if (!mustBeThere) return;
  if (!current) throw new ObjectError(missing, 'There is no object that could meet the condition.');
  if (ifMatch !== undefined && ifMatch !== '*' && ifMatch !== current.etag) refuse();
  if (ifUnmodifiedSince !== undefined && wholeSeconds(current.modified_at) > ifUnmodifiedSince) refuse();
  if (ifSize !== undefined && ifSize !== current.size) refuse();
  if (ifSequence !== undefined && ifSequence !== current.sequence) refuse();
}

function refuse(): never {
  throw new ObjectError('precondition-failed', 'A condition of the request does not hold.');
}

/** Dates in headers have no fractions of a second. */
function wholeSeconds(at: number): number {
  return Math.floor(at / 1000) * 1000;
}

export function checkLock(row: Locks, at: number, bypassGovernance: boolean): void {
  if (row.legal_hold) throw new ObjectError('object-locked', 'A legal hold keeps this version.');
  const retention = active(row, at);
  if (!retention || (retention.mode === 'GOVERNANCE' && bypassGovernance)) return;
  throw new ObjectError('object-locked', `This version is retained until ${new Date(retention.until).toISOString()}.`);
}

/** Retention may always be made stricter. Less strict: GOVERNANCE with a bypass, COMPLIANCE never. */
export function checkRetention(row: Locks, next: Retention | null, at: number, bypassGovernance: boolean): void {
  const present = active(row, at);
  if (!present || (present.mode === 'GOVERNANCE' && bypassGovernance)) return;
  const isStricter =
    next !== null && next.until >= present.until && (next.mode === present.mode || next.mode === 'COMPLIANCE');
  if (isStricter) return;
  throw new ObjectError('object-locked', `This version is retained until ${new Date(present.until).toISOString()}.`);
}

function active(row: Locks, at: number): Retention | null {
  const retention = retentionOf(row);
  return retention && retention.until > at ? retention : null;
}

/** Retention of a new version: what was asked for, else the bucket's default. */
export function newRetention(bucket: KnownBucket, asked: Retention | null | undefined, at: number): Retention | null {
  if (asked !== undefined || !bucket.lockable) return asked ?? null;
  const { lockDefault } = JSON.parse(bucket.settings) as BucketSettings;
  return lockDefault ? { mode: lockDefault.mode, until: at + lockDefault.days * DAY_MS } : null;
}

export function checkLockable(
  bucket: KnownBucket,
  retention: Retention | null | undefined,
  hold: boolean | undefined,
): void {
  if (bucket.lockable || (!retention && !hold)) return;
  throw new ObjectError('invalid-state', 'The bucket has no object lock.');
}
