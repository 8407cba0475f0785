import type { cloudApi } from '@granary/contract/cloud';
import type { Handlers } from '@granary/kernel';
import type { CloudActor } from '../access/authenticate.ts';
import type { HostedArrays } from './service.ts';

/** `allow` throws unless the caller may command this cloud. */
export function hostedArrayRoutes(
  arrays: HostedArrays,
  allow: (actor: CloudActor) => void,
): NonNullable<Handlers<typeof cloudApi, CloudActor>['hostedArrays']> {
  return {
    list: () => ({ data: arrays.list() }),
    get: ({ uuid }) => ({ data: arrays.get(uuid) }),
    spec: ({ uuid }, { actor }) => {
      allow(actor);
      return { data: arrays.specOf(uuid) };
    },
    put: async ({ uuid, spec, desired }, { actor }) => {
      allow(actor);
      return { data: await arrays.put(uuid, { spec, desired }) };
    },
    delete: async ({ uuid }, { actor }) => {
      allow(actor);
      const data = await arrays.remove(uuid);
      return data ? { data } : {};
    },
  };
}
