import type { Inventory } from '@granary/contract/cloud';
import type { Db } from '@granary/kernel';
import type { CloudId, ProviderId } from '../ids.ts';
import { findCloud } from '../clouds/repository.ts';
import { findProvider, listProvidersOfCloud } from '../providers/repository.ts';

/** A provider and the cloud it sells, as far as networks depend on them. */
export interface CloudOfProvider {
  readonly name: string;
  readonly cloudId: CloudId;
  readonly cloudName: string;
  /** What an earlier version of the cloud said may lack fields. */
  readonly inventory: Partial<Inventory>;
}

export function cloudOfProvider(db: Db, providerId: ProviderId): CloudOfProvider | undefined {
  const provider = findProvider(db, providerId);
  const cloud = provider && findCloud(db, provider.cloudId);
  if (!cloud) return undefined;
  return { name: provider.name, cloudId: cloud.id, cloudName: cloud.name, inventory: cloud.inventory };
}

/** Ranges the cloud of a provider keeps for itself, and addresses its machine has, as last heard from it. */
export function reservedRanges(db: Db, providerId: ProviderId): readonly string[] {
  return cloudOfProvider(db, providerId)?.inventory.reserved_ranges ?? [];
}

/** The providers that sell the same cloud: their networks share the addresses of one machine, whatever their VLAN. */
export function providersOfSameCloud(db: Db, providerId: ProviderId): number[] {
  const provider = findProvider(db, providerId);
  return provider ? listProvidersOfCloud(db, provider.cloudId).map(({ id }) => id) : [];
}
