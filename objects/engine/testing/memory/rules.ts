import { ObjectError, type Conditions, type ObjectErrorCode, type ObjectVersion } from '@granary/storage/object-store';

/** `missing` is the error where something must match and nothing is there. */
export function checkConditions(
  conditions: Conditions | undefined,
  current: ObjectVersion | undefined,
  missing: ObjectErrorCode,
): void {
  const { ifMatch, ifNoneMatch, ifUnmodifiedSince, ifSize, ifSequence } = conditions ?? {};
  if (current && (ifNoneMatch === '*' || ifNoneMatch === current.etag)) refuse();
  if ([ifMatch, ifUnmodifiedSince, ifSize, ifSequence].every((condition) => condition === undefined)) return;
  if (!current) throw new ObjectError(missing, 'There is no object that could meet the condition.');
  if (ifMatch !== undefined && ifMatch !== '*' && ifMatch !== current.etag) refuse();
  if (ifUnmodifiedSince !== undefined && Math.floor(current.modifiedAt / 1000) * 1000 > ifUnmodifiedSince) refuse();
  if (ifSize !== undefined && ifSize !== current.size) refuse();
  if (ifSequence !== undefined && ifSequence !== current.sequence) refuse();
}

function refuse(): never {
  throw new ObjectError('precondition-failed', 'A condition of the request does not hold.');
}

export function checkLock({ retention, legalHold }: ObjectVersion, at: number, bypassesGovernance: boolean): void {
  const kept = retention && retention.until > at ? retention.mode : null;
  if (legalHold || kept === 'COMPLIANCE' || (kept === 'GOVERNANCE' && !bypassesGovernance))
    throw new ObjectError('object-locked', 'A lock keeps this version.');
}

/** Retention may always be made stricter. Less strict: GOVERNANCE with a bypass, COMPLIANCE never. */
export function checkRetention(
  { retention: present }: ObjectVersion,
  next: ObjectVersion['retention'],
  at: number,
  bypassesGovernance: boolean,
): void {
  if (!present || present.until <= at || (present.mode === 'GOVERNANCE' && bypassesGovernance)) return;
  if (next && next.until >= present.until && (next.mode === present.mode || next.mode === 'COMPLIANCE')) return;
  throw new ObjectError('object-locked', 'Retention of this version cannot be made less strict.');
}
