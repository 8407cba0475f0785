import { endpoint, type Group } from '../endpoint.ts';
import { boolean, list, name, optional, text, withDefault } from '../params.ts';
import { str } from '../records.ts';
import { response } from '../reply.ts';
import { creatorOf } from './access.ts';
import { consistencyGroupId, poolId, remotePoolId, snapshotId, snapshotPolicyId } from './ids.ts';
import { startsWork } from '../params.ts';

const cloned = name('Name of the new volume', { example: 'reports-copy' });

export const consistencyGroups = {
  clone: endpoint('POST', '/consistency_groups/{volume_cg_id}/clone', {
    summary: 'Make a new volume of the present data of a volume, or of one of its snapshots',
    access: creatorOf('consistency_group', 'volume_cg_id'),
    params: {
      volume_cg_id: consistencyGroupId,
      name: cloned,
      snapshot: optional({ ...snapshotId, description: 'The snapshot to clone; the present data when left out' }),
      ...startsWork,
    },
    reply: response({ cg_name: str('Consistency group of the new volume') }),
    job: { until: ['Available', 'In-use'] },
    errors: [
      'consistency_group_not_found',
      'snapshot_not_found',
      'name_taken',
      'capacity_refused',
      'pool_protected',
      'limit_reached',
      'state_conflict',
    ],
  }),
  migrate: endpoint('POST', '/consistency_groups/{volume_cg_id}/migrate', {
    summary: 'Move a volume to another pool while servers go on using it',
    access: creatorOf('consistency_group', 'volume_cg_id'),
    params: {
      volume_cg_id: consistencyGroupId,
      poolname: { ...poolId, description: 'The pool to move it to', example: 'pool-00000002' },
      migratesnap: withDefault(boolean('Move its snapshots too'), false),
      ...startsWork,
    },
    reply: response({ migration_job_name: str() }),
    job: { until: ['Completed', 'Aborted'], watch: { group: 'migrationJobs', by: 'volume_cg_id' } },
    errors: [
      'consistency_group_not_found',
      'pool_not_found',
      'capacity_refused',
      'pool_protected',
      'limit_reached',
      'volume_locked',
      'state_conflict',
    ],
  }),
  mirror: endpoint('POST', '/consistency_groups/{volume_cg_id}/mirror', {
    summary: 'Keep a copy of a volume on a remote array, brought up to date by snapshots',
    access: creatorOf('consistency_group', 'volume_cg_id'),
    params: {
      volume_cg_id: consistencyGroupId,
      display_name: name('Name of the mirror job', { example: 'reports offsite' }),
      remote_pool: remotePoolId,
      policy: { ...snapshotPolicyId, description: 'The snapshot policy that says when to bring it up to date' },
      new_cg_name: name('Name of the volume on the remote array', { example: 'reports-mirror' }),
      dedupe: optional(
        boolean('Store blocks that are alike once there, where the array can; as the volume has it when left out'),
      ),
      compress: optional(boolean('Compress there, where the array can; as the volume has it when left out')),
      ...startsWork,
    },
    reply: response({ array_mirror_job_name: str() }),
    job: {
      until: ['Idle', 'Paused', 'Disconnected', 'Broken'],
      watch: { group: 'mirrorJobs', by: 'array_mirror_job_name' },
    },
    errors: [
      'consistency_group_not_found',
      'remote_array_not_found',
      'pool_not_found',
      'policy_not_found',
      'name_taken',
      'remote_unreachable',
      'capacity_refused',
      'pool_protected',
      'limit_reached',
      'volume_locked',
      'state_conflict',
    ],
  }),
} satisfies Group;

const params = {
  snapsetid: text("The set's name, chosen by the caller who suspends the groups", { max: 128, example: 'nightly-1' }),
};
const setNamed = response({ snapshot_set_name: str() });

/** Snapshots of several groups at one moment: suspend, snapshot and resume, and what is done with the set later. */
export const snapshotSets = {
  suspend: endpoint('POST', '/consistency_groups/suspend_cgs_for_snapshot_set', {
    summary: 'Hold back writes to consistency groups so that a snapshot set can be taken',
    access: creatorOf('consistency_group', 'cg'),
    params: { ...params, cg: list(consistencyGroupId, 'The consistency groups', { example: ['cg-00000001'] }) },
    reply: setNamed,
    errors: ['consistency_group_not_found', 'name_taken', 'limit_reached', 'state_conflict'],
  }),
  createAndResume: endpoint('POST', '/consistency_groups/create_snapshot_set_and_resume', {
    summary: 'Take the snapshots of a set and let writes go on',
    access: creatorOf('snapshot_set', 'snapsetid'),
    params,
    reply: setNamed,
    errors: ['snapshot_set_not_found', 'capacity_refused', 'pool_protected', 'limit_reached', 'state_conflict'],
  }),
  clone: endpoint('POST', '/consistency_groups/clone_snapshot_set', {
    summary: 'Make a new volume of each snapshot of a set',
    access: creatorOf('snapshot_set', 'snapsetid'),
    params,
    reply: setNamed,
    errors: ['snapshot_set_not_found', 'capacity_refused', 'pool_protected', 'limit_reached', 'state_conflict'],
  }),
  deleteClone: endpoint('POST', '/consistency_groups/delete_clone_of_snapshot_set', {
    frees: true,
    summary: 'Delete the volumes that were cloned of a set',
    access: creatorOf('snapshot_set', 'snapsetid'),
    params,
    reply: setNamed,
    errors: [
      'snapshot_set_not_found',
      'nothing_to_delete',
      'volume_attached',
      'volume_has_snapshots',
      'state_conflict',
    ],
  }),
  delete: endpoint('POST', '/consistency_groups/delete_snapshot_set', {
    frees: true,
    summary: 'Delete the snapshots of a set',
    access: creatorOf('snapshot_set', 'snapsetid'),
    params,
    reply: setNamed,
    errors: ['snapshot_set_not_found', 'state_conflict'],
  }),
  cancelSuspend: endpoint('POST', '/consistency_groups/cancel_suspend_for_snapshot_set', {
    summary: 'Let writes go on without taking the snapshots of a set',
    access: creatorOf('snapshot_set', 'snapsetid'),
    params,
    reply: setNamed,
    errors: ['snapshot_set_not_found', 'state_conflict'],
  }),
} satisfies Group;
