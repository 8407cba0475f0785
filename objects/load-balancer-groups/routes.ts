import { pageOf, type HostedConfiguration } from '@granary/kernel';
import type { ControllerState } from '../engine/controller-spec.ts';
import type { ObjectsHandlers } from '../handlers.ts';
import type { InventoryTimes } from '../inventory/service.ts';
import { groupView, refuseOtherGroups } from './service.ts';

interface Parts {
  readonly controllers: { list(): readonly ControllerState[] };
  readonly times: InventoryTimes;
  readonly configuration: () => HostedConfiguration;
}

type Served = Omit<ObjectsHandlers<'loadBalancerGroups'>, 'iops' | 'latency' | 'throughput'>;

export function groupRoutes({ controllers, times, configuration }: Parts): Served {
  const group = () => {
    const all = controllers.list();
    // The group is as old as its first controller.
    return groupView(all, configuration(), times.of('controller')(all[0]?.name ?? ''));
  };
  return {
    list: (page) => ({ lbgs: pageOf([group()], page), count: 1 }),
    get: ({ name }) => {
      refuseOtherGroups(name);
      return { lbg: group() };
    },
  };
}
