import type { peerApi } from '@granary/contract/array';
import type { Handlers } from '@granary/kernel';
import type { PoolService } from '../pools/service.ts';
import { poolView } from '../pools/view.ts';
import type { PeerActor, PeerService } from './service.ts';

export type PeerHandlers = NonNullable<Handlers<typeof peerApi, PeerActor>['peers']>;

/** What other arrays may call to be paired, and to choose a pool. */
export function peerRoutes(peers: PeerService, pools: PoolService): PeerHandlers {
  return {
    pair: (input, { ip }) => peers.pair(input, ip),
    hello: async (input, { actor }) => ({ array: await peers.hello(input, actor) }),
    unpair: async (_, { actor }) => {
      await peers.unpair(actor);
      return {};
    },
    listPools: () => ({
      pools: pools.list({ start: 0, limit: 0 }).pools.flatMap((facts) => {
        const { name, display_name, capacity, available_capacity } = poolView(facts);
        return facts.pool.state === 'ready' ? [{ name, display_name, capacity, available_capacity }] : [];
      }),
    }),
  };
}
