import type { RecordOf } from '@granary/contract';
import type { ArrayIdentity } from '@granary/contract/portal';
import type { ArrayId } from '../ids.ts';
import { scopeOf, type PortalActor } from '../actor.ts';
import type { PortalHandlers } from '../handlers.ts';
import { compatibleNetworks } from '../networks/index.ts';
import type { Tools } from '../tools.ts';
import type { ArrayContentsService } from './contents.ts';
import type { ArrayDeletions } from './deletions.ts';
import type { ArrayOrders } from './orders.ts';
import type { ArrayRecovery } from './recovery.ts';
import type { ArrayRecords } from './records.ts';
import type { ArrayService } from './service.ts';
import type { ArrayStates } from './states.ts';

/** Who callers are inside arrays. */
interface Identities {
  identity(actor: PortalActor, id: ArrayId): Promise<RecordOf<typeof ArrayIdentity>>;
}

interface Parts {
  readonly tools: Tools;
  readonly orders: ArrayOrders;
  readonly arrays: ArrayService;
  readonly records: ArrayRecords;
  readonly states: ArrayStates;
  readonly contents: ArrayContentsService;
  readonly deletions: ArrayDeletions;
  readonly passage: Identities;
  readonly recovery: ArrayRecovery;
}

export function arrayRoutes(parts: Parts): PortalHandlers {
  const { tools, orders, arrays, records, states, contents, deletions, passage, recovery } = parts;
  return {
    clouds: {
      recoverArrays: async ({ id }, { actor }) => ({ data: await recovery.recover(id, actor) }),
    },
    arrays: {
      list: ({ status, name, restorable, ...page }, context) => {
        const filter = { scope: scopeOf(context.actor), status, name, restorable };
        const { arrays: data, total } = records.list(filter, page);
        context.total = total;
        return { data };
      },
      get: ({ array_id: id }, { actor }) => ({ data: records.get(id, scopeOf(actor)) }),
      create: async (order, { actor }) => ({ data: await orders.place(actor, order) }),
      setEngine: async ({ array_id: id, engine, app_engine: app }, { actor }) => ({
        message: await arrays.setEngine(actor, id, engine, app),
      }),
      setCache: async ({ array_id: id, flash_cache_capacity: gb }, { actor }) => ({
        message: await arrays.setCache(actor, id, gb),
      }),
      addDrives: async ({ array_id: id, drives, storage_policy: policy }, { actor }) => ({
        message: await arrays.addDrives(actor, id, drives, policy),
      }),
      hibernate: async ({ array_id: id }, { actor }) => ({ message: await arrays.hibernate(actor, id) }),
      restore: async ({ array_id: id }, { actor }) => ({ message: await arrays.restore(actor, id) }),
      addStoragePolicy: async ({ array_id: id, name, storage_policy_type: typeId, drives }, { actor }) => ({
        message: await arrays.addStoragePolicy(actor, id, { name, typeId, drives }),
      }),
      addProxyController: async ({ array_id: id, allocation_zone_id: zoneId }, { actor }) => ({
        message: await arrays.addProxyController(actor, id, zoneId),
      }),
      addPublicIp: async ({ array_id: id }, { actor }) => ({ message: await arrays.setPublicIp(actor, id, true) }),
      removePublicIp: async ({ array_id: id }, { actor }) => ({ message: await arrays.setPublicIp(actor, id, false) }),
      listCompatibleInterfaces: ({ array_id: id, ...page }, context) =>
        tools.store.read((db) => {
          const { interfaces: data, total } = compatibleNetworks(
            db,
            states.existing(db, id, scopeOf(context.actor)),
            page,
          );
          context.total = total;
          return { data };
        }),
      addInterface: async ({ array_id: id, virtual_network_id: networkId }, { actor }) => ({
        message: await arrays.addInterface(actor, id, networkId),
      }),
      removeInterface: async ({ array_id: id, vni_ids: ids }, { actor }) => ({
        message: await arrays.removeInterfaces(actor, id, ids),
      }),
      enableDataReduction: async ({ array_id: id }, { actor }) => ({
        message: await arrays.setDataReduction(actor, id, true),
      }),
      disableDataReduction: async ({ array_id: id }, { actor }) => ({
        message: await arrays.setDataReduction(actor, id, false),
      }),
      enableFileLifecycle: async ({ array_id: id }, { actor }) => ({
        message: await arrays.enableFileLifecycle(actor, id),
      }),
      lockDown: async ({ array_id: id }, { actor }) => ({ message: await arrays.setLockedDown(actor, id, true) }),
      release: async ({ array_id: id }, { actor }) => ({ message: await arrays.setLockedDown(actor, id, false) }),
      getContents: async ({ array_id: id }, { actor }) => ({ data: await contents.get(actor, id) }),
      getIdentity: async ({ array_id: id }, { actor }) => ({ data: await passage.identity(actor, id) }),
      delete: async ({ array_id: id }, { actor }) => ({ message: await arrays.delete(actor, id) }),
      undelete: async ({ array_id: id, name }, { actor }) => ({ message: await deletions.undelete(actor, id, name) }),
      purge: async ({ array_id: id }, { actor }) => ({ message: await deletions.purge(actor, id) }),
    },
  };
}
