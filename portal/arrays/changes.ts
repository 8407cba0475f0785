import type { HostedArray } from '@granary/contract/cloud';
import type { InterfaceId } from '../ids.ts';
import type { KeptSpec } from './array.ts';

/** Every way an array's specification can change after it was ordered. */
export type Change =
  | { readonly type: 'engine'; readonly engine: string; readonly appEngine: string }
  | { readonly type: 'cache'; readonly extraCacheGb: number }
  | { readonly type: 'drives'; readonly drives: Readonly<Record<string, number>>; readonly policy?: string | undefined }
  | {
      readonly type: 'policy';
      readonly name: string;
      readonly typeId: number;
      readonly drives: Readonly<Record<string, number>>;
    }
  | { readonly type: 'proxy'; readonly zone: string }
  | { readonly type: 'public_ip'; readonly wanted: boolean }
  | { readonly type: 'data_reduction'; readonly enabled: boolean }
  | { readonly type: 'file_lifecycle' }
  | { readonly type: 'lock_down'; readonly locked: boolean }
  | { readonly type: 'attach_interface'; readonly interfaceId: InterfaceId }
  | { readonly type: 'detach_interfaces'; readonly interfaceIds: readonly number[] };

/** The specification after a change. Pure, so that a job that is cut off works out the same one again. */
export function applyChange(spec: KeptSpec, change: Change): KeptSpec {
  switch (change.type) {
    case 'engine':
      return { ...spec, engine: change.engine, app_engine: change.appEngine };
    case 'cache':
      return { ...spec, extra_cache_gb: change.extraCacheGb };
    case 'drives':
      return {
        ...spec,
        drives: sum(spec.drives, change.drives),
        policies: grownPolicies(spec, change.policy, change.drives),
      };
    case 'policy':
      return {
        ...spec,
        drives: sum(spec.drives, change.drives),
        policies: [...spec.policies, { name: change.name, type_id: change.typeId, drives: { ...change.drives } }],
      };
    case 'proxy':
      return { ...spec, proxy_zones: [...spec.proxy_zones, change.zone] };
    case 'public_ip':
      return { ...spec, public_ip: change.wanted };
    case 'data_reduction':
      return { ...spec, data_reduction: change.enabled };
    case 'file_lifecycle':
      return { ...spec, file_lifecycle: true };
    // Whether it is locked down has a column of its own, and
    // interfaces are rows of their own; the specification sent to the cloud is made from them.
    case 'lock_down':
    case 'attach_interface':
    case 'detach_interfaces':
      return spec;
  }
}

/** What a change does, for events and messages. */
export function describeChange(change: Change): string {
  switch (change.type) {
    case 'engine':
      return `the change of engine to ${change.engine}`;
    case 'cache':
      return `the change of cache to ${change.extraCacheGb} GiB`;
    case 'drives':
      return `adding ${listDrives(change.drives)}`;
    case 'policy':
      return `adding storage policy ${change.name}`;
    case 'proxy':
      return `adding a proxy controller in ${change.zone}`;
    case 'public_ip':
      return change.wanted ? 'giving it a public address' : 'taking its public address away';
    case 'data_reduction':
      return `switching data reduction ${change.enabled ? 'on' : 'off'}`;
    case 'file_lifecycle':
      return 'switching file lifecycle on';
    case 'lock_down':
      return change.locked ? 'locking it down' : 'releasing it';
    case 'attach_interface':
      return 'adding a network interface';
    case 'detach_interfaces':
      return 'removing network interfaces';
  }
}

export function listDrives(drives: Readonly<Record<string, number>>): string {
  return Object.entries(drives)
    .map(([key, count]) => `${count} × ${key}`)
    .join(', ');
}

/** What an array gave back, as its cloud tells it. */
type Returns = Pick<HostedArray, 'drives_returned' | 'policy_drives_returned' | 'proxies_returned' | 'proxy_zones'>;

/** The specification once the portal has heard what the array gave back. */
export function withReturned(spec: KeptSpec, returned: Returns): KeptSpec {
  const byPolicy = returned.policy_drives_returned;
  const heard = spec.policy_drives_returned ?? {};
  return {
    ...spec,
    drives: sum(spec.drives, since(returned.drives_returned, spec.drives_returned)),
    drives_returned: returned.drives_returned,
    policies: spec.policies.map((policy) => ({
      ...policy,
      drives: sum(policy.drives, since(byPolicy[policy.name] ?? {}, heard[policy.name])),
    })),
    policy_drives_returned: byPolicy,
    proxy_zones: returned.proxy_zones,
    proxies_returned: returned.proxies_returned,
  };
}

/** What the portal has not heard of yet, as what it loses by it. */
function since(
  returned: Readonly<Record<string, number>>,
  heard: Readonly<Record<string, number>> = {},
): Record<string, number> {
  return Object.fromEntries(Object.entries(returned).map(([type, count]) => [type, (heard[type] ?? 0) - count]));
}

function sum(a: Readonly<Record<string, number>>, b: Readonly<Record<string, number>>): Record<string, number> {
  const total: Record<string, number> = { ...a };
  for (const [key, count] of Object.entries(b)) total[key] = (total[key] ?? 0) + count;
  return total;
}

function grownPolicies(spec: KeptSpec, name: string | undefined, drives: Readonly<Record<string, number>>) {
  return spec.policies.map((policy) =>
    policy.name === name ? { ...policy, drives: sum(policy.drives, drives) } : policy,
  );
}
