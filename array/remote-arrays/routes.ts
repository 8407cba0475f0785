import type { ArrayHandlers } from '../handlers.ts';
import type { RemoteArrayService } from './service.ts';
import { viewOf, viewOfPool } from './view.ts';

export function remoteArrayRoutes(service: RemoteArrayService, usualPort: () => number): ArrayHandlers<'remoteArrays'> {
  return {
    list: ({ start, limit }) => {
      const { remoteArrays: remoteArrays, count } = service.list(start, limit);
      return { remote_arrays: remoteArrays.map((remoteArray) => viewOf(remoteArray, usualPort())), count };
    },
    get: async ({ id }) => ({ remote_array: viewOf(await service.show(id), usualPort()) }),
    discover: async (input, { actor }) => ({ remote_array_name: await service.discover(input, actor.username) }),
    delete: async ({ id }, { actor }) => {
      await service.delete(id, actor.username);
      return { remote_array_name: id };
    },
    listPools: async ({ id, start, limit }) => {
      const pools = await service.pools(id);
      const page = pools.slice(start, limit === 0 ? undefined : start + limit);
      return { remote_pools: page.map(viewOfPool), count: pools.length };
    },
  };
}
