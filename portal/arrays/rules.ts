import type { Inventory, Product } from '@granary/contract/cloud';
import { fail, type FieldProblem } from '@granary/kernel';
import type { KeptSpec } from './array.ts';

type Drives = Readonly<Record<string, number>>;

/** What a specification must keep to, given what the cloud has: an empty list is a yes. */
export function problemsOf(product: Product, spec: KeptSpec, inventory: Inventory): FieldProblem[] {
  const engine = product === 'storage_array' ? engineProblems(spec, inventory) : [];
  return [
    ...zoneProblems(spec, inventory),
    ...engine,
    ...driveProblems(product, spec, inventory),
    ...cacheProblems(product, spec, inventory),
  ];
}

function zoneProblems({ zone }: KeptSpec, { zones }: Inventory): FieldProblem[] {
  if (zone === null || zones.some(({ name }) => name === zone)) return [];
  return [{ field: 'allocation_zone', message: `must be one of ${zones.map(({ name }) => name).join(', ')}` }];
}

function engineProblems({ engine, app_engine: appEngine }: KeptSpec, inventory: Inventory): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const keys = inventory.engine_types.map(({ key }) => key);
  if (engine === null) problems.push({ field: 'engine', message: 'is required for a storage array' });
  else if (!keys.includes(engine)) problems.push({ field: 'engine', message: `must be one of ${keys.join(', ')}` });
  const appKeys = inventory.app_engines.map(({ key }) => key);
  if (appEngine !== null && !appKeys.includes(appEngine)) {
    problems.push({
      field: 'app_engine',
      message: appKeys.length > 0 ? `must be one of ${appKeys.join(', ')}` : 'is not offered by this cloud',
    });
  }
  return problems;
}

function driveProblems(product: Product, spec: KeptSpec, inventory: Inventory): FieldProblem[] {
  const problem = (message: string): FieldProblem[] => [{ field: 'drives', message }];
  const keys = inventory.drive_types.map(({ key }) => key);
  const unknown = Object.keys(spec.drives).find((key) => !keys.includes(key));
  if (unknown !== undefined) return problem(`names ${unknown.slice(0, 64)}, which is not one of ${keys.join(', ')}`);
  const count = driveCount(spec.drives);
  if (count < inventory.minimum_drives)
    return problem(`must be at least ${inventory.minimum_drives} drives in all, not ${count}`);
  if (product === 'object_storage') return policyProblems(spec, inventory);
  const engine = inventory.engine_types.find(({ key }) => key === spec.engine);
  if (engine && count > engine.max_drives)
    return problem(`are ${count} in all; engine ${engine.key} takes at most ${engine.max_drives}`);
  return [];
}

function policyProblems({ policies }: KeptSpec, inventory: Inventory): FieldProblem[] {
  return policies.flatMap(({ name, type_id: typeId, drives }, index): FieldProblem[] => {
    if (policies.findIndex((other) => other.name === name) < index)
      return [{ field: 'name', message: `${name} is taken by another storage policy` }];
    const type = inventory.policy_types.find(({ id }) => id === typeId);
    if (!type)
      return [
        {
          field: 'storage_policy_type',
          message: `must be one of ${inventory.policy_types.map(({ id }) => id).join(', ')}`,
        },
      ];
    if (Object.keys(drives).length > 1)
      return [{ field: 'drives', message: `must be of one type for storage policy ${name}` }];
    const needed = drivesNeeded(type);
    if (driveCount(drives) >= needed) return [];
    return [{ field: 'drives', message: `must be at least ${needed} for a storage policy of type ${type.name}` }];
  });
}

function cacheProblems(
  product: Product,
  { engine: key, extra_cache_gb: extraGb }: KeptSpec,
  inventory: Inventory,
): FieldProblem[] {
  if (extraGb === 0) return [];
  const problem = (message: string): FieldProblem[] => [{ field: 'flash_cache_capacity', message }];
  const { enabled, increment_gb: step } = inventory.flash_cache;
  if (product === 'object_storage' || !enabled) return problem('is not offered here');
  if (extraGb % step !== 0) return problem(`must be a multiple of ${step} GiB`);
  const engine = inventory.engine_types.find((type) => type.key === key);
  if (!engine) return [];
  const most = Math.min(engine.max_flash_cache_gb, engine.max_cache_gb - engine.base_cache_gb);
  return extraGb > most ? problem(`is ${extraGb} GiB; engine ${engine.key} takes at most ${most} GiB`) : [];
}

/** Refuses what the cloud cannot provide now, so that an order fails at once. */
export function checkStock(product: Product, zone: string | null, drives: Drives, inventory: Inventory): void {
  const types = Object.entries(drives).map(([key, wanted]) => {
    const type = inventory.drive_types.find((one) => one.key === key);
    return { key, wanted, total: type?.free ?? 0, byZone: type?.free_by_zone ?? {} };
  });
  for (const { key, wanted, total, byZone } of types) {
    const available = zone === null ? total : (byZone[zone] ?? 0);
    if (available < wanted)
      throw fail('out_of_stock', { key, available, wanted, where: zone === null ? '' : ` in ${zone}` });
  }
  if (zone !== null || product === 'object_storage') return;
  // A block array lives in one zone, so one zone must have all of it.
  const fits = inventory.zones.some(({ name }) => types.every(({ wanted, byZone }) => (byZone[name] ?? 0) >= wanted));
  if (!fits) throw fail('no_zone_fits');
}

export function driveCount(drives: Drives): number {
  return Object.values(drives).reduce((sum, count) => sum + count, 0);
}

export function drivesNeeded(type: Inventory['policy_types'][number]): number {
  return type.data_fragments > 0 ? type.data_fragments + type.parity_fragments : type.replicas;
}

/** A flash array has no spinning drive. */
export function isFlash({ drives }: KeptSpec, inventory: Inventory): boolean {
  return Object.keys(drives).every((key) => inventory.drive_types.find((type) => type.key === key)?.medium === 'ssd');
}
