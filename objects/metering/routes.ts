import { badParameter, type Context } from '@granary/kernel';
import type { ObjectsActor } from '../actor.ts';
import type { ObjectAccountService } from '../accounts/service.ts';
import type { ObjectDriveService } from '../drives/service.ts';
import { GROUP, refuseOtherGroups } from '../load-balancer-groups/service.ts';
import type { PolicyService } from '../policies/service.ts';
import type { ObjectUserService } from '../users/service.ts';
import type { VirtualControllerService } from '../virtual-controllers/service.ts';
import { iopsPoint, latencyPoint, throughputPoint, type Period, type Point } from './points.ts';
import type { Metering } from './service.ts';
import type { SubjectKind } from './slots.ts';

interface Parts {
  readonly metering: Metering;
  /** Everything answered before is counted afterwards. */
  readonly flush: () => Promise<void>;
}

interface Measurable {
  readonly accounts: Pick<ObjectAccountService, 'get'>;
  readonly users: Pick<ObjectUserService, 'get'>;
  readonly drives: Pick<ObjectDriveService, 'get'>;
  readonly controllers: Pick<VirtualControllerService, 'get'>;
  readonly policies: Pick<PolicyService, 'get'>;
}

/** What an input names, by the name it is measured under; throws where there is none, or none for the caller. */
type Find<I> = (input: I, actor: ObjectsActor) => string;

/** The three endpoints of everything that is measured. */
function routesOf<I extends Period>({ metering, flush }: Parts, kind: SubjectKind, find: Find<I>) {
  const pointsOf = async (input: I, { actor }: Context<ObjectsActor>): Promise<Point[]> => {
    const name = find(input, actor);
    await flush();
    return metering.points({ kind, name }, input);
  };
  return {
    iops: async (input: I, context: Context<ObjectsActor>) => ({
      objects: (await pointsOf(input, context)).map(iopsPoint),
    }),
    latency: async (input: I, context: Context<ObjectsActor>) => ({
      objects: (await pointsOf(input, context)).map(latencyPoint),
    }),
    throughput: async (input: I, context: Context<ObjectsActor>) => ({
      objects: (await pointsOf(input, context)).map(throughputPoint),
    }),
  };
}

type Named = Period & { readonly id: string };

export function meteringRoutes(parts: Parts, { accounts, users, drives, controllers, policies }: Measurable) {
  return {
    accounts: routesOf<Named>(parts, 'account', ({ id }, actor) => accounts.get(actor, id).id),
    users: routesOf<Named>(parts, 'user', ({ id }, actor) => users.get(actor, id).id),
    drives: routesOf<Named & { readonly vc: string }>(parts, 'drive', ({ id, vc }) => {
      const { drive, controller, name } = drives.get(id);
      if (controllers.get(vc).name !== controller)
        throw badParameter('vc', `must be the virtual controller that serves drive ${name}, ${controller ?? 'none'}`);
      return drive.uuid;
    }),
    virtualControllers: routesOf<Named>(parts, 'controller', ({ id }) => controllers.get(id).name),
    loadBalancerGroups: routesOf<Named>(parts, 'group', ({ id }) => {
      refuseOtherGroups(id);
      return GROUP;
    }),
    policies: routesOf<Named>(parts, 'policy', ({ id }) => String(policies.get(id).report.policy.index)),
  };
}
