import { fail, type Tx } from '@granary/kernel';
import type { PlacedDrive } from '../inventory/drive.ts';
import { listDrivesOf, releaseDrive } from '../inventory/repository.ts';
import { updateArray, type HostedRecord, type KeptSpec } from './repository.ts';

type Counts = Readonly<Record<string, number>>;

/**
 * What the portal wants, less what the array gave back since the portal last heard of it: a wish that was on its way
 * then must not bring it back.
 */
export function withoutReturned<S extends KeptSpec>(spec: S, before: HostedRecord | undefined): S {
  const returned = before?.spec.drives_returned ?? {};
  const byPolicy = before?.spec.policy_drives_returned ?? {};
  const unheard = minus(returned, spec.drives_returned ?? {});
  return {
    ...spec,
    drives: minus(spec.drives, unheard),
    drives_returned: returned,
    policies: spec.policies.map((policy) => {
      const heard = spec.policy_drives_returned?.[policy.name] ?? {};
      return { ...policy, drives: minus(policy.drives, minus(byPolicy[policy.name] ?? {}, heard)) };
    }),
    policy_drives_returned: byPolicy,
    ...proxiesOf(spec, before),
    // A portal of an earlier release does not know that it has it.
    file_lifecycle: spec.file_lifecycle || before?.spec.file_lifecycle === true,
  };
}

/** Those it has it keeps; what the portal's list has beyond what it ever had is new. */
function proxiesOf(spec: KeptSpec, before: HostedRecord | undefined) {
  const present = before?.spec.proxy_zones ?? [];
  const returned = before?.spec.proxies_returned ?? 0;
  const unheard = Math.max(0, returned - (spec.proxies_returned ?? 0));
  return {
    proxy_zones: [...present, ...spec.proxy_zones.slice(present.length + unheard)],
    proxies_returned: returned,
  };
}

/** Records a drive as free again; in the caller's transaction. */
export function reclaimDrive(tx: Tx, array: HostedRecord, uuid: string, minimum: number): PlacedDrive {
  const held = listDrivesOf(tx, array.number);
  const drive = held.find((each) => each.uuid === uuid);
  if (!drive || !releaseDrive(tx, uuid, array.number)) throw fail('not_found', { kind: 'drive', id: uuid });
  if (held.length <= minimum) throw fail('array_drives_minimum', { minimum });
  const { spec } = array;
  const one = { [drive.type]: 1 };
  updateArray(tx, array.number, {
    ...array,
    spec: {
      ...spec,
      drives: minus(spec.drives, one),
      drives_returned: plus(spec.drives_returned ?? {}, one),
      ...policiesWithout(spec, drive),
    },
  });
  return drive;
}

/** Keeps the first so many proxy controllers; says how many it took. */
export function reclaimProxies(tx: Tx, array: HostedRecord, kept: number): number {
  const { spec } = array;
  const taken = Math.max(0, spec.proxy_zones.length - kept);
  if (taken === 0) return 0;
  const proxies_returned = (spec.proxies_returned ?? 0) + taken;
  const proxy_zones = spec.proxy_zones.slice(0, kept);
  updateArray(tx, array.number, { ...array, spec: { ...spec, proxy_zones, proxies_returned } });
  return taken;
}

function policiesWithout(spec: KeptSpec, { type, policy: name }: PlacedDrive) {
  if (name === null) return {};
  const one = { [type]: 1 };
  const returned = spec.policy_drives_returned ?? {};
  return {
    policies: spec.policies.map((policy) =>
      policy.name === name ? { ...policy, drives: minus(policy.drives, one) } : policy,
    ),
    policy_drives_returned: { ...returned, [name]: plus(returned[name] ?? {}, one) },
  };
}

function minus(from: Counts, taken: Counts): Record<string, number> {
  const rest: Record<string, number> = { ...from };
  for (const [type, count] of Object.entries(taken)) rest[type] = (rest[type] ?? 0) - count;
  return rest;
}

function plus(to: Counts, more: Counts): Record<string, number> {
  const sum: Record<string, number> = { ...to };
  for (const [type, count] of Object.entries(more)) sum[type] = (sum[type] ?? 0) + count;
  return sum;
}
