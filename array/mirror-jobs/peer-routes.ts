import type { PeerHandlers } from '../peers/routes.ts';
import type { MirrorDestinations } from './destinations.ts';

/** What the source of a mirror calls at the array of its destination. */
export function destinationRoutes(destinations: MirrorDestinations): PeerHandlers {
  return {
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
  };
}
