import type { LifecycleRule, ObjectVersion } from '@granary/storage/objects';

const DAY = 86_400_000;

export interface Expiry {
  /** Midnight UTC. */
  readonly at: number;
  readonly rule: string;
}

/** When the current version of an object goes by the rules of its bucket; undefined when none of them means it. */
export function expiryOf(
  rules: readonly LifecycleRule[] | undefined,
  version: Pick<ObjectVersion, 'key' | 'size' | 'modifiedAt' | 'attributes'>,
): Expiry | undefined {
  let first: Expiry | undefined;
  for (const rule of rules ?? []) {
    if (!rule.enabled || !means(rule, version)) continue;
    const at =
      rule.expireDate ??
      (rule.expireDays === undefined ? undefined : midnightAfter(version.modifiedAt, rule.expireDays));
    if (at !== undefined && (first === undefined || at < first.at)) first = { at, rule: rule.id };
  }
  return first;
}

function means(rule: LifecycleRule, version: Pick<ObjectVersion, 'key' | 'size' | 'attributes'>): boolean {
  if (!version.key.startsWith(rule.prefix)) return false;
  if (rule.sizeGreaterThan !== undefined && version.size <= rule.sizeGreaterThan) return false;
  if (rule.sizeLessThan !== undefined && version.size >= rule.sizeLessThan) return false;
  return Object.entries(rule.tags ?? {}).every(([name, value]) => version.attributes.tags?.[name] === value);
}

/** Days count from the midnight that follows. */
function midnightAfter(time: number, days: number): number {
  return Math.ceil((time + days * DAY) / DAY) * DAY;
}
