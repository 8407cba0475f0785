import { endpoint, type Group } from '../endpoint.ts';
import { choice, name, optional, page, text } from '../params.ts';
import { int, listOf, oneOf, record, str, utc } from '../records.ts';
import { response } from '../reply.ts';
import { creatorOf, signedIn } from './access.ts';
import { consistencyGroupId, mirrorJobId, snapshotId, snapshotPolicyId } from './ids.ts';
import { count } from './shared.ts';

export const Snapshot = record('Snapshot', {
  name: str(),
  display_name: str(),
  status: oneOf('normal'),
  cg_name: str(),
  cg_display_name: str(),
  pool_name: str(),
  volume_ext_name: str('The volume it was taken of'),
  volume_display_name: str(),
  volume_capacity_mb: int('MB the volume had'),
  created_at: utc(),
  modified_at: utc(),
});

const snapshotPage = response({ snapshots: listOf(Snapshot), count });
const snapshotNamed = response({ snapshot_name: str() });
const moment = (description: string) =>
  optional(
    text(`${description}, DD:MM:YY:HH:MM:SS in UTC`, {
      max: 17,
      pattern: '^[0-9]{2}(:[0-9]{2}){5}$',
      form: 'a moment as DD:MM:YY:HH:MM:SS',
      example: '31:01:26:00:00:00',
    }),
  );

export const snapshots = {
  list: endpoint('GET', '/snapshots', {
    summary: 'List the snapshots of all volumes',
    access: signedIn,
    params: page,
    reply: snapshotPage,
  }),
  listOfGroup: endpoint('GET', '/consistency_groups/{volume_cg_id}/snapshots', {
    summary: "List a volume's snapshots",
    access: signedIn,
    params: {
      volume_cg_id: consistencyGroupId,
      ...page,
      application: optional(
        choice(
          ['user', 'file_history', 'mirror', 'migration', 'obs_mirror', 'shadow_copy'],
          'Only those taken for this purpose',
        ),
      ),
      jobname: optional({ ...mirrorJobId, description: 'Only those of this mirror job' }),
      snapshot_policy: optional({ ...snapshotPolicyId, description: 'Only those this policy took' }),
      start_date: moment('Only those taken after this'),
      end_date: moment('Only those taken before this'),
    },
    reply: snapshotPage,
    errors: ['consistency_group_not_found'],
  }),
  get: endpoint('GET', '/snapshots/{id}', {
    summary: 'Show one snapshot',
    access: signedIn,
    params: { id: snapshotId },
    reply: response({ snapshot: Snapshot }),
    errors: ['snapshot_not_found'],
  }),
  create: endpoint('POST', '/consistency_groups/{volume_cg_id}/snapshots', {
    summary: 'Take a snapshot of a volume',
    access: creatorOf('consistency_group', 'volume_cg_id'),
    params: {
      volume_cg_id: consistencyGroupId,
      display_name: name('Name shown to users', { example: 'before the upgrade' }),
    },
    reply: snapshotNamed,
    errors: [
      'consistency_group_not_found',
      'name_taken',
      'capacity_refused',
      'pool_protected',
      'limit_reached',
      'state_conflict',
    ],
  }),
  rename: endpoint('POST', '/snapshots/{id}/rename', {
    summary: 'Rename a snapshot',
    access: creatorOf('snapshot'),
    params: { id: snapshotId, newname: name('New name', { example: 'keep this', aliases: ['new_name'] }) },
    reply: snapshotNamed,
    errors: ['snapshot_not_found', 'name_taken', 'state_conflict'],
  }),
  delete: endpoint('DELETE', '/snapshots/{snapshot_id}', {
    summary: 'Delete a snapshot',
    access: creatorOf('snapshot', 'snapshot_id'),
    params: { snapshot_id: snapshotId },
    reply: snapshotNamed,
    errors: ['snapshot_not_found', 'state_conflict'],
  }),
} satisfies Group;
