import type { CapacityPoint } from '@granary/kernel';
import type { ObjectsHandlers } from '../handlers.ts';
import type { CapacityService } from './service.ts';

interface Served {
  readonly account: Required<ObjectsHandlers<'accounts'>>['capacity'];
  readonly policy: Required<ObjectsHandlers<'policies'>>['capacity'];
}

export function capacityRoutes(capacities: CapacityService): Served {
  return {
    account: ({ id }, { actor }) => ({ objects: capacities.ofAccount(actor, id).map(pointView) }),
    policy: ({ id }) => ({ objects: capacities.ofPolicy(id).map(pointView) }),
  };
}

function pointView({ at, usedBytes }: CapacityPoint) {
  return { time: Math.floor(at / 1000), used_bytes: usedBytes };
}
