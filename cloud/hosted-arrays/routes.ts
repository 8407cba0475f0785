import type { cloudApi } from '@granary/contract/cloud';
import type { Actor, Handlers } from '@granary/kernel';
import type { HostedArrays } from './service.ts';

export function hostedArrayRoutes(arrays: HostedArrays): NonNullable<Handlers<typeof cloudApi, Actor>['hostedArrays']> {
  return {
    list: () => ({ data: arrays.list() }),
    get: ({ uuid }) => ({ data: arrays.get(uuid) }),
    put: async ({ uuid, spec, desired }) => ({ data: await arrays.put(uuid, { spec, desired }) }),
    delete: async ({ uuid }) => {
      const data = await arrays.remove(uuid);
      return data ? { data } : {};
    },
  };
}
