import type { Jobs } from '@granary/kernel';
import type { ArrayHandlers } from '../handlers.ts';
import type { MigrationService } from '../migration-jobs/service.ts';
import { answerWhenDone } from '../waiting.ts';
import type { CloneService } from './service.ts';

interface Services {
  readonly clones: CloneService;
  readonly migrations: MigrationService;
  readonly jobs: Jobs;
}

export function consistencyGroupRoutes({ clones, migrations, jobs }: Services): ArrayHandlers<'consistencyGroups'> {
  return {
    clone: async ({ volume_cg_id, name, snapshot }, { actor }) => {
      const { consistencyGroup: cg_name } = await clones.clone(volume_cg_id, name, snapshot, actor.username);
      return { cg_name };
    },
    migrate: async ({ volume_cg_id, poolname, migratesnap, timeout }, { actor }) => {
      const { name, job } = await migrations.start(volume_cg_id, poolname, migratesnap, actor.username);
      return answerWhenDone(jobs, job, timeout, () => ({ migration_job_name: name }));
    },
  };
}
