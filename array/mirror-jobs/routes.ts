import { setTimeout as sleep } from 'node:timers/promises';
import type { ArrayHandlers } from '../handlers.ts';
import type { MirrorService } from './service.ts';

const REFUSAL_MS_MAX = 5_000;

export function mirrorRoutes(service: MirrorService): ArrayHandlers<'mirrorJobs'> {
  return {
    list: ({ start, limit }) => {
      const { mirrors, count } = service.list(start, limit);
      return { array_mirror_jobs: mirrors, count };
    },
    get: ({ id }) => ({ array_mirror_job: service.get(id) }),
    pause: async ({ id }, { actor }) => {
      await service.pause(id, actor.username);
      return { array_mirror_job_name: id };
    },
    continue: async ({ id }, { actor }) => {
      await service.continue(id, actor.username);
      return { array_mirror_job_name: id };
    },
    break: async ({ id, inherited }, { actor }) => {
      await service.break(id, inherited, actor.username);
      return { array_mirror_job_name: id };
    },
    setRateLimit: async ({ id, limit }, { actor }) => {
      await service.setRateLimit(id, limit, actor.username);
      return { array_mirror_job_name: id };
    },
  };
}

/** The part of a consistency group's operations that makes a mirror. */
export function mirrorGroupRoutes(service: MirrorService): Pick<ArrayHandlers<'consistencyGroups'>, 'mirror'> {
  return {
    mirror: async (input, { actor }) => {
      const { name, made } = await service.sources.create(
        {
          cgName: input.volume_cg_id,
          displayName: input.display_name,
          remotePool: input.remote_pool,
          policy: input.policy,
          volumeName: input.new_cg_name,
          dedupe: input.dedupe,
          compress: input.compress,
        },
        actor.username,
      );
      // What the other array refuses at once is an error of this call; one that is slow does not hold it up.
      await Promise.race([made, sleep(REFUSAL_MS_MAX, undefined, { ref: false })]);
      return { array_mirror_job_name: name };
    },
  };
}
