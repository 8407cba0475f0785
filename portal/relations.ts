import { countAccountsOfUser } from './accounts/repository.ts';
import { countUses } from './arrays/repository.ts';
import type { CloudRelations } from './clouds/service.ts';
import { countNetworksOfProvider, countNetworksOfUser } from './networks/repository.ts';
import { countVlansOfProvider } from './networks/vlans/repository.ts';
import { seedPrices } from './pricing/price-book.ts';
import { listProvidersOfCloud } from './providers/repository.ts';
import type { ProviderRelations } from './providers/service.ts';
import { deletePendingOfUser } from './requests/repository.ts';
import { deleteComputesOfProvider, deleteComputesOfUser } from './tenants/computes/repository.ts';
import { deleteTenantsOfProvider, deleteTenantsOfUser } from './tenants/repository.ts';
import { addTenantsOfProvider, addTenantsOfUser } from './tenants/service.ts';
import type { Tools } from './tools.ts';
import { deleteFactor } from './totp/repository.ts';
import type { UserRelations } from './users/service.ts';

/*
 * A table has one owner. What a change of one resource means for others, or depends on of them, is put together here from
 * the owners' repositories, so that folders do not import each other.
 */

export const userRelations: UserRelations = {
  created: addTenantsOfUser,
  countOwned: (db, userId) =>
    countUses(db, 'owner_id', userId).present + countAccountsOfUser(db, userId) + countNetworksOfUser(db, userId),
  removed: (tx, userId) => {
    deletePendingOfUser(tx, userId);
    deleteComputesOfUser(tx, userId);
    deleteTenantsOfUser(tx, userId);
    deleteFactor(tx, userId);
  },
};

/** `changed` drops what is kept of array records. */
export function providerRelations({ clock }: Tools, changed: () => void): ProviderRelations {
  return {
    created: (tx, providerId, inventory) => {
      seedPrices(tx, providerId, inventory, clock.now());
      addTenantsOfProvider(tx, providerId);
    },
    removed: (tx, providerId) => {
      deleteComputesOfProvider(tx, providerId);
      deleteTenantsOfProvider(tx, providerId);
    },
    use: (db, providerId) => {
      const { present: arrays, purged: billed } = countUses(db, 'provider_id', providerId);
      const networks = countNetworksOfProvider(db, providerId);
      return { arrays, billed, networks, vlans: countVlansOfProvider(db, providerId) };
    },
    changed,
  };
}

export function cloudRelations({ clock }: Tools, changed: () => void): CloudRelations {
  return {
    providers: listProvidersOfCloud,
    countArrays: (db, cloudId) => countUses(db, 'cloud_id', cloudId).present,
    countBilled: (db, cloudId) => countUses(db, 'cloud_id', cloudId).purged,
    stocked: (tx, cloudId, inventory) => {
      for (const { id } of listProvidersOfCloud(tx, cloudId)) seedPrices(tx, id, inventory, clock.now());
    },
    changed,
  };
}
