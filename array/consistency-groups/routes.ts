import type { ArrayHandlers } from '../handlers.ts';
import type { MigrationService } from '../migration-jobs/service.ts';
import type { CloneService } from './service.ts';

interface Services {
  readonly clones: CloneService;
  readonly migrations: MigrationService;
}

export function consistencyGroupRoutes({ clones, migrations }: Services): ArrayHandlers<'consistencyGroups'> {
  return {
    clone: async ({ volume_cg_id, name, snapshot }, { actor }) => {
      const { consistencyGroup: cg_name } = await clones.clone(volume_cg_id, name, snapshot, actor.username);
      return { cg_name };
    },
    migrate: async ({ volume_cg_id, poolname, migratesnap }, { actor }) => ({
      migration_job_name: await migrations.start(volume_cg_id, poolname, migratesnap, actor.username),
    }),
  };
}
