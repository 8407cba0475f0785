import type { Inventory } from '@granary/contract/cloud';
import { WHOLE, type Db } from '@granary/kernel';
import type { Cloud } from '../clouds/cloud.ts';
import { findCloud } from '../clouds/repository.ts';
import type { Provider } from '../providers/provider.ts';
import * as providers from '../providers/repository.ts';

/** A provider with what its prices depend on. */
export interface PricedProvider {
  readonly id: number;
  readonly name: string;
  readonly cloudName: string;
  readonly inventory: Inventory;
}

export function findPricedProvider(db: Db, id: number): PricedProvider | undefined {
  const provider = providers.findProvider(db, id);
  const cloud = provider && findCloud(db, provider.cloudId);
  return cloud && priced(provider, cloud);
}

/** All providers, or those that users may see. */
export function listPricedProviders(db: Db, { visibleOnly }: { visibleOnly: boolean }): PricedProvider[] {
  const clouds = new Map<number, Cloud | undefined>();
  return providers.listProviders(db, !visibleOnly, WHOLE).flatMap((provider) => {
    const { cloudId } = provider;
    const cloud = clouds.get(cloudId) ?? findCloud(db, cloudId);
    clouds.set(cloudId, cloud);
    return cloud ? [priced(provider, cloud)] : [];
  });
}

function priced({ id, name }: Provider, cloud: Cloud): PricedProvider {
  return { id, name, cloudName: cloud.name, inventory: cloud.inventory };
}
