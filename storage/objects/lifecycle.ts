import type { BucketSettings, LifecycleRule } from './bucket-settings.ts';
import type { Bucket, ListedVersion, Upload } from './records.ts';

const DAY_MS = 86_400_000;
const SMALL_BYTES = 128 * 1024;

type Rules = readonly LifecycleRule[] | undefined;
type Judged = Pick<ListedVersion, 'key' | 'size' | 'modifiedAt' | 'attributes'>;

export interface Expiry {
  /** Midnight UTC. */
  readonly at: number;
  readonly rule: string;
}

/**
 * Whether a version cannot be read any more because its own time (Swift's X-Delete-At) is over. In a versioned bucket an
 * object that expires is only hidden: its version stays and can be read by its id.
 */
export function isExpired(
  version: Pick<ListedVersion, 'expiresAt' | 'versionId' | 'isLatest'>,
  asked: { readonly bucket: Pick<Bucket, 'versioning'>; readonly now: number; readonly isNamed: boolean },
): boolean {
  if (version.expiresAt === null || version.expiresAt > asked.now) return false;
  if (!asked.isNamed) return true;
  // Removed for good by the next run.
  return version.isLatest && version.versionId === 'null' && asked.bucket.versioning !== 'enabled';
}

/** When the current version of an object goes by the rules of its bucket; undefined when none of them means it. */
export function expiryOf(rules: Rules, version: Judged): Expiry | undefined {
  return earliest(rules, version, ({ expireDate, expireDays }) =>
    expireDate === undefined ? daysAfter(version.modifiedAt, expireDays) : expireDate,
  );
}

/**
 * When a version that something newer hides goes: `hiddenAt` is when that came, `newer` how many hidden ones of its key
 * are newer still, because rules may keep some of those.
 */
export function noncurrentExpiryOf(rules: Rules, version: Judged, hiddenAt: number, newer: number): Expiry | undefined {
  return earliest(rules, version, ({ noncurrentDays, noncurrentKeep = 0 }) =>
    newer < noncurrentKeep ? undefined : daysAfter(hiddenAt, noncurrentDays),
  );
}

/** The storage policy that the current version of an object has to be under by now; undefined where no rule says. */
export function policyDue(
  { lifecycle, transitionsSpareSmall }: BucketSettings,
  version: Judged,
  now: number,
): number | undefined {
  return lastDue(lifecycle, transitionsSpareSmall, version, now, ({ transitions }) =>
    transitions?.map(({ policy, date, days }) => ({ policy, at: date ?? daysAfter(version.modifiedAt, days) })),
  );
}

/** The same of a version that something newer hides; see `noncurrentExpiryOf`. */
export function noncurrentPolicyDue(
  { lifecycle, transitionsSpareSmall }: BucketSettings,
  version: Judged,
  { hiddenAt, newer }: { readonly hiddenAt: number; readonly newer: number },
  now: number,
): number | undefined {
  return lastDue(lifecycle, transitionsSpareSmall, version, now, ({ noncurrentTransitions }) =>
    noncurrentTransitions
      ?.filter(({ keep = 0 }) => newer >= keep)
      .map(({ policy, days }) => ({ policy, at: daysAfter(hiddenAt, days) })),
  );
}

/** Of those that are due, the one that came due last: what is to move on from one policy to the next is under the last. */
function lastDue(
  rules: Rules,
  sparesSmall: true | undefined,
  version: Judged,
  now: number,
  movesBy: (rule: LifecycleRule) => readonly { readonly policy: number; readonly at: number | undefined }[] | undefined,
): number | undefined {
  let last: { readonly policy: number; readonly at: number } | undefined;
  for (const rule of rules ?? []) {
    if (!rule.enabled || !means(rule, version)) continue;
    const speaksOfSizes = rule.sizeGreaterThan !== undefined || rule.sizeLessThan !== undefined;
    if (sparesSmall === true && !speaksOfSizes && version.size < SMALL_BYTES) continue;
    for (const { policy, at } of movesBy(rule) ?? []) {
      if (at !== undefined && at <= now && (last === undefined || at > last.at)) last = { policy, at };
    }
  }
  return last?.policy;
}

/** When a delete marker goes that hides nothing any more: at once where rules say so, or when it is as old as objects may be. */
export function markerExpiryOf(rules: Rules, marker: Judged): Expiry | undefined {
  return earliest(rules, marker, ({ expireDeleteMarkers, expireDays }) =>
    expireDeleteMarkers === true ? marker.modifiedAt : daysAfter(marker.modifiedAt, expireDays),
  );
}

/** When an upload that is not completed is aborted. */
export function uploadExpiryOf(
  rules: Rules,
  { key, createdAt }: Pick<Upload, 'key' | 'createdAt'>,
): Expiry | undefined {
  const upload = { key, size: 0, modifiedAt: createdAt, attributes: {} };
  return earliest(rules, upload, ({ abortUploadDays }) => daysAfter(createdAt, abortUploadDays));
}

function earliest(
  rules: Rules,
  version: Judged,
  timeBy: (rule: LifecycleRule) => number | undefined,
): Expiry | undefined {
  let first: Expiry | undefined;
  for (const rule of rules ?? []) {
    if (!rule.enabled || !means(rule, version)) continue;
    const at = timeBy(rule);
    if (at !== undefined && (first === undefined || at < first.at)) first = { at, rule: rule.id };
  }
  return first;
}

function means(rule: LifecycleRule, version: Judged): boolean {
  if (!version.key.startsWith(rule.prefix)) return false;
  if (rule.sizeGreaterThan !== undefined && version.size <= rule.sizeGreaterThan) return false;
  if (rule.sizeLessThan !== undefined && version.size >= rule.sizeLessThan) return false;
  return Object.entries(rule.tags ?? {}).every(([name, value]) => version.attributes.tags?.[name] === value);
}

/** Days count from the midnight that follows. */
function daysAfter(time: number, days: number | undefined): number | undefined {
  return days === undefined ? undefined : Math.ceil((time + days * DAY_MS) / DAY_MS) * DAY_MS;
}
