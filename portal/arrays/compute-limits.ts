import type { Inventory } from '@granary/contract/cloud';
import { badParameter, GB, MB, type Db } from '@granary/kernel';
import type { ArrayId, ProviderId, UserId } from '../ids.ts';
import { listComputesOf } from '../tenants/computes/repository.ts';
import type { ComputeLimits } from '../tenants/computes/compute.ts';
import { listAppEngines } from './repository.ts';

type AppEngines = Inventory['app_engines'];

interface Wanted {
  readonly ownerId: UserId;
  readonly providerId: ProviderId;
  /** The array that gets the app engine; absent: a new one. */
  readonly arrayId?: ArrayId;
  readonly appEngine: string | null;
}

/**
 * Compute accounts limit what app engines a user's arrays have at a provider: cores, memory and arrays, the accounts added
 * up. A user without one has no limits.
 */
export function checkComputeLimits(
  db: Db,
  wanted: Wanted,
  { app_engines: types }: Pick<Inventory, 'app_engines'>,
): void {
  const { ownerId, providerId, arrayId, appEngine } = wanted;
  if (appEngine === null) return;
  const limits = limitsOf(db, ownerId, providerId);
  if (!limits) return;
  const present = listAppEngines(db, ownerId, providerId);
  const others = present.filter(({ id }) => id !== arrayId);
  const use = useOf([...others.map(({ key }) => key), appEngine], types);
  const useNow = useOf(
    present.map(({ key }) => key),
    types,
  );
  // Arrays may have more than an account that was made after them allows; they may shrink all the same.
  if (RESOURCES.every((one) => use[one] <= Math.max(limits[one], useNow[one]))) return;
  const problem = `${appEngine} would make it ${shown(use)}; your compute accounts at this provider allow ${shown(limits)}`;
  throw badParameter('app_engine', problem);
}

/** What the arrays have, where that is more than the accounts that are left allow; undefined where it fits. */
export function excessWithout(
  db: Db,
  account: { readonly id: number; readonly userId: UserId; readonly providerId: ProviderId },
  types: AppEngines,
): string | undefined {
  const { id, userId, providerId } = account;
  const left = limitsOf(db, userId, providerId, id);
  if (!left) return undefined;
  const use = useOf(
    listAppEngines(db, userId, providerId).map(({ key }) => key),
    types,
  );
  return fits(use, left) ? undefined : `the arrays have ${shown(use)}, and the other accounts allow ${shown(left)}`;
}

function limitsOf(db: Db, userId: UserId, providerId: ProviderId, without?: number): ComputeLimits | undefined {
  const accounts = listComputesOf(db, { userId, providerId }).filter(({ id }) => id !== without);
  return accounts.length === 0 ? undefined : accounts.reduce<ComputeLimits>(sum, NOTHING);
}

const RESOURCES = ['cores', 'ram', 'instances'] as const;
const NOTHING: ComputeLimits = { cores: 0, ram: 0, instances: 0 };

function useOf(keys: readonly string[], types: AppEngines): ComputeLimits {
  return keys.reduce<ComputeLimits>((use, key) => {
    const type = types.find((one) => one.key === key);
    return sum(use, { cores: type?.vcpus ?? 0, ram: (type?.memory_mb ?? 0) * MB, instances: 1 });
  }, NOTHING);
}

function sum(one: ComputeLimits, other: ComputeLimits): ComputeLimits {
  return {
    cores: one.cores + other.cores,
    ram: one.ram + other.ram,
    instances: one.instances + other.instances,
  };
}

function fits(use: ComputeLimits, limits: ComputeLimits): boolean {
  return RESOURCES.every((one) => use[one] <= limits[one]);
}

function shown({ cores, ram, instances }: ComputeLimits): string {
  return `${cores} cores, ${ram / GB} GiB and ${instances} arrays`;
}
