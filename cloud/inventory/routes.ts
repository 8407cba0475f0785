import type { cloudApi } from '@granary/contract/cloud';
import type { Actor, Handlers } from '@granary/kernel';
import type { CloudInventory } from './service.ts';

export function inventoryRoutes(inventory: CloudInventory): NonNullable<Handlers<typeof cloudApi, Actor>['inventory']> {
  return {
    get: () => ({ data: inventory.get() }),
    check: async () => ({ data: await inventory.check() }),
  };
}
