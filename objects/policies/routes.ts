import { answerWhenDone, pageOf } from '@granary/kernel';
import { driveView } from '../drives/view.ts';
import type { ObjectsHandlers } from '../handlers.ts';
import type { InventoryTimes } from '../inventory/service.ts';
import type { ObjectsTools } from '../tools.ts';
import type { PolicyService } from './service.ts';
import { policyView } from './view.ts';

type Served = Omit<ObjectsHandlers<'policies'>, 'iops' | 'latency' | 'throughput' | 'capacity'>;

export function policyRoutes(policies: PolicyService, times: InventoryTimes, { jobs }: ObjectsTools): Served {
  return {
    list: (page) => {
      const all = policies.list();
      const timesOf = times.of('policy');
      return { policies: pageOf(all, page).map((one) => policyView(one, timesOf(one.displayName))), count: all.length };
    },
    get: ({ name }) => {
      const known = policies.get(name);
      const timesOf = times.of('drive');
      const disks = policies.drivesOf(known).map((drive) => driveView(drive, timesOf(drive.name)));
      return {
        policy: { ...policyView(known, times.of('policy')(known.displayName)), disks_count: disks.length, disks },
      };
    },
    update: async ({ name, full_description: description, gb_per_month_cost: monthCost }, { actor }) => {
      await policies.update(name, { description, monthCost }, actor.username);
      return {};
    },
    setDefault: async ({ name }, { actor }) => ({ policy_name: await policies.setDefault(name, actor.username) }),
    removeDrives: async ({ name, drives, timeout }, { actor }) => {
      const jobId = await policies.removeDrives(name, drives, actor.username);
      return answerWhenDone(jobs, {
        jobId,
        timeoutSeconds: timeout,
        answer: () => ({}),
        failure: 'objs_state_conflict',
      });
    },
  };
}
