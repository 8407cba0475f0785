import { setTimeout as sleep } from 'node:timers/promises';
import { Submitted } from '@granary/kernel';
import type { ArrayHandlers } from '../handlers.ts';
import type { MirrorService } from './service.ts';

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
    mirror: (input, { actor }) => {
      const made = service.sources.create(
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
      const named = made.then((name) => ({ array_mirror_job_name: name }));
      if (input.timeout < 0) return named;
      return Promise.race([named, sleep(input.timeout * 1000, new Submitted(), { ref: false })]);
    },
  };
}
