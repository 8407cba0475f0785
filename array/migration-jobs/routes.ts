import type { ArrayHandlers } from '../handlers.ts';
import type { MigrationService } from './service.ts';

export function migrationRoutes(service: MigrationService): ArrayHandlers<'migrationJobs'> {
  return {
    get: ({ migration_cg_id }) => ({ migration_job: service.show(migration_cg_id) }),
    pause: async ({ migration_cg_id }, { actor }) => ({
      cg_name: await service.pause(migration_cg_id, actor.username),
    }),
    continue: async ({ migration_cg_id }, { actor }) => ({
      cg_name: await service.continue(migration_cg_id, actor.username),
    }),
    abort: async ({ migration_cg_id }, { actor }) => ({
      cg_name: await service.abort(migration_cg_id, actor.username),
    }),
  };
}
