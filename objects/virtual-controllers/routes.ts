import { pageOf, Submitted, type HostedConfiguration } from '@granary/kernel';
import type { ControllerState } from '../engine/controller-spec.ts';
import type { ObjectDriveService } from '../drives/service.ts';
import { servedDriveView } from '../drives/view.ts';
import type { ObjectsHandlers } from '../handlers.ts';
import type { InventoryTimes } from '../inventory/service.ts';
import { masterOf } from '../load-balancer-groups/service.ts';
import type { VirtualControllerService } from './service.ts';
import { controllerView } from './view.ts';

interface Parts {
  readonly controllers: VirtualControllerService;
  readonly drives: ObjectDriveService;
  readonly times: InventoryTimes;
  readonly configuration: () => HostedConfiguration;
}

type Served = Omit<ObjectsHandlers<'virtualControllers'>, 'iops' | 'latency' | 'throughput'>;

export function controllerRoutes({ controllers, drives, times, configuration }: Parts): Served {
  const shown = (all: readonly ControllerState[]) => {
    const master = masterOf(controllers.list());
    const timesOf = times.of('controller');
    return all.map((one) => controllerView(one, master, configuration(), timesOf(one.name)));
  };
  return {
    list: (page) => {
      const all = controllers.list();
      return { vcs: shown(pageOf(all, page)), count: all.length };
    },
    get: ({ 'vc-index': id }) => {
      const [vc] = shown([controllers.get(id)]);
      return { vc: vc as NonNullable<typeof vc> };
    },
    listDrives: ({ 'vc-index': id }) => {
      const { name } = controllers.get(id);
      const served = drives.list().filter(({ controller }) => controller === name);
      const timesOf = times.of('drive');
      return { disks: served.map((known) => servedDriveView(known, timesOf(known.name))), count: served.length };
    },
    removeProxies: async ({ quantity, region_id: regionId, timeout }, { actor }) => {
      const wanted = { quantity, regionId, timeoutSeconds: timeout };
      return (await controllers.removeProxies(wanted, actor.username)) ? {} : new Submitted();
    },
  };
}
