import { endpoint, type Group } from '../endpoint.ts';
import { optional, page, text, waiting } from '../params.ts';
import { listOf, nullable, record, str, utc } from '../records.ts';
import { response } from '../reply.ts';
import { creatorOf, signedIn } from './access.ts';
import { snapshotId, volumeId } from './ids.ts';
import { count } from './shared.ts';

export const FileRestore = record('FileRestore', {
  name: str(),
  volume_name: str(),
  snapshot_name: str(),
  path: str('Of the file, in the snapshot'),
  to_path: str('Where it is restored to'),
  status: str('Running <n>%, Completed or Failed'),
  problem: nullable(str('Why it failed')),
  created_at: utc(),
  modified_at: utc(),
});

const filePath = (description: string) => text(description, { max: 4096, example: '/reports/march.ods' });

/** Beside the list and the deletion, which are among the volumes' endpoints. */
export const fileHistory = {
  restore: endpoint('POST', '/volumes/{id}/file_history/restore', {
    summary: 'Bring one file of a share back as a snapshot of it has it',
    access: creatorOf('volume'),
    params: {
      id: volumeId,
      snapshot: { ...snapshotId, description: 'The snapshot, of its file history or any other of the share' },
      path: filePath('The file, from the root of the share'),
      to_path: optional(filePath('Where to write it; over the file itself when left out')),
      ...waiting,
    },
    reply: response({ restore_name: str(), to_path: str() }),
    job: { until: ['Completed', 'Failed'] },
    errors: [
      'volume_not_found',
      'snapshot_not_found',
      'state_conflict',
      'limit_reached',
      'capacity_refused',
      'volume_locked',
    ],
  }),
  listRestores: endpoint('GET', '/volumes/{id}/file_history/restores', {
    summary: 'List the files of a share that were or are being restored, the newest first',
    access: signedIn,
    params: { id: volumeId, ...page },
    reply: response({ file_restores: listOf(FileRestore), count }),
    errors: ['volume_not_found', 'state_conflict'],
  }),
} satisfies Group;
