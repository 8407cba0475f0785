import type { Inventory } from '@granary/contract/cloud';
import type { Db } from '@granary/kernel';
import { findCloud } from '../clouds/repository.ts';
import type { ArrayId, ProviderId, UserId } from '../ids.ts';
import type { PortalArray } from './array.ts';
import { findArray } from './repository.ts';

/** Networks may have gateways and a range of their own for the second zone of a cloud. One in several zones is in none. */
export function isInSecondZone(
  { zones, spec }: Pick<PortalArray, 'zones' | 'spec'>,
  inventory: Pick<Inventory, 'zones'>,
): boolean {
  const zone = zones.length === 1 ? zones[0] : spec.zone;
  return zone !== null && zone !== undefined && inventory.zones[1]?.name === zone;
}

interface PlaceOfArray {
  readonly userId: UserId;
  readonly providerId: ProviderId;
  readonly isInSecondZone: boolean;
}

/** Whose networks it may join, its owner's at its provider, and where it is. */
export function placeOfArray(db: Db, id: ArrayId): PlaceOfArray | undefined {
  const array = findArray(db, id, null);
  const cloud = array && findCloud(db, array.cloudId);
  if (!cloud) return undefined;
  const { ownerId: userId, providerId } = array;
  return { userId, providerId, isInSecondZone: isInSecondZone(array, cloud.inventory) };
}
