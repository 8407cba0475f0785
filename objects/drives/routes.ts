import { pageOf } from '@granary/kernel';
import type { ObjectsHandlers } from '../handlers.ts';
import type { InventoryTimes } from '../inventory/service.ts';
import type { ObjectDriveService } from './service.ts';
import { driveView } from './view.ts';

type Served = Omit<ObjectsHandlers<'drives'>, 'iops' | 'latency' | 'throughput'>;

export function driveRoutes(drives: ObjectDriveService, times: InventoryTimes): Served {
  return {
    list: (page) => {
      const all = drives.list();
      const timesOf = times.of('drive');
      return { disks: pageOf(all, page).map((known) => driveView(known, timesOf(known.name))), count: all.length };
    },
    get: ({ name }) => {
      const known = drives.get(name);
      return { disk: driveView(known, times.of('drive')(known.name)) };
    },
  };
}
