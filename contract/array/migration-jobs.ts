import { endpoint, type Group } from '../endpoint.ts';
import { int, nullable, oneOf, record, str, utc } from '../records.ts';
import { response } from '../reply.ts';
import { creatorOf, signedIn } from './access.ts';
import { migrationGroupId } from './ids.ts';

export const MigrationJob = record('MigrationJob', {
  name: str(),
  display_name: str(),
  src_cg_display_name: str(),
  src_cg_name: str(),
  src_pool_display_name: str(),
  dst_cg_name: str('What the `cg_name` of the volume becomes'),
  dst_pool_display_name: str(),
  shipping_display_name: nullable(str('The snapshot under way, or null')),
  status: oneOf('Running', 'Paused', 'Completed', 'Aborted'),
  cur_sync_rate_kb_sec: int(),
  shipping_position_mb: int(),
  total_capacity_to_migrate_mb: int(),
  already_migrated_mb: int(),
  remaining_time_seconds: nullable(int('null while it is unknown')),
  created_at: utc(),
  modified_at: utc(),
});

const params = { migration_cg_id: migrationGroupId };
const groupNamed = response({ cg_name: str() });

export const migrationJobs = {
  get: endpoint('GET', '/consistency_groups/{migration_cg_id}/show_migration', {
    summary: 'Show how far a migration is',
    access: signedIn,
    params,
    reply: response({ migration_job: MigrationJob }),
    errors: ['job_not_found'],
  }),
  pause: endpoint('POST', '/migration_jobs/{migration_cg_id}/pause', {
    summary: 'Pause a migration',
    access: creatorOf('migration', 'migration_cg_id'),
    params,
    reply: groupNamed,
    errors: ['job_not_found', 'state_conflict'],
  }),
  continue: endpoint('POST', '/migration_jobs/{migration_cg_id}/continue', {
    summary: 'Go on with a paused migration',
    access: creatorOf('migration', 'migration_cg_id'),
    params,
    reply: groupNamed,
    errors: ['job_not_found', 'limit_reached', 'state_conflict'],
  }),
  abort: endpoint('POST', '/migration_jobs/{migration_cg_id}/abort', {
    summary: 'Give up a migration; the volume stays where it was',
    access: creatorOf('migration', 'migration_cg_id'),
    params,
    reply: groupNamed,
    errors: ['job_not_found', 'state_conflict'],
  }),
} satisfies Group;
