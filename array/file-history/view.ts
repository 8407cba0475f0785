import { formatUtc } from '@granary/kernel';
import type { FileRestore } from './restore.ts';

export function restoreView(restore: FileRestore, progressOf: (restore: FileRestore) => number) {
  return {
    name: restore.name,
    volume_name: restore.volume,
    snapshot_name: restore.snapshot,
    path: restore.path,
    to_path: restore.toPath,
    status: statusOf(restore, progressOf),
    problem: restore.problem,
    created_at: formatUtc(restore.createdAt),
    modified_at: formatUtc(restore.modifiedAt),
  };
}

function statusOf(restore: FileRestore, progressOf: (restore: FileRestore) => number): string {
  if (restore.state === 'running') return `Running ${Math.floor(progressOf(restore))}%`;
  return restore.state === 'done' ? 'Completed' : 'Failed';
}
