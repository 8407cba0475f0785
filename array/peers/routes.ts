import type { peerApi } from '@granary/contract/array';
import type { Handlers } from '@granary/kernel';
import type { Destinations } from '../mirror-jobs/destinations.ts';
import type { Pools } from '../pools/service.ts';
import { poolView } from '../pools/view.ts';
import type { PeerActor, Peers } from './service.ts';

/** What other arrays may call. */
export function peerRoutes(
  peers: Peers,
  pools: Pools,
  destinations: Destinations,
): Handlers<typeof peerApi, PeerActor> {
  return {
    peers: {
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
      createMirror: async (input, { actor }) => ({ mirror: await destinations.create(input, actor) }),
      getMirror: async ({ job, is_paused }, { actor }) => ({ mirror: await destinations.show(job, is_paused, actor) }),
      abandonMirror: async ({ job }, { actor }) => {
        await destinations.abandon(job, actor);
        return {};
      },
      beginRound: async (input, { actor }) => ({ mirror: await destinations.begin(input, actor) }),
      writeRanges: async (input, { actor }) => ({ mirror: await destinations.write(input, actor) }),
      completeRound: async (input, { actor }) => ({ mirror: await destinations.complete(input, actor) }),
      breakMirror: async ({ job, inherited }, { actor }) => ({
        mirror: await destinations.breakFor(job, inherited, actor),
      }),
    },
  };
}
