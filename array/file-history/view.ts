import { formatUtc } from '@granary/kernel';
import type { FileRestore } from './restore.ts';

export function restoreView(row: FileRestore, progressOf: (row: FileRestore) => number) {
  return {
    name: row.name,
    volume_name: row.volume,
    snapshot_name: row.snapshot,
    path: row.path,
    to_path: row.toPath,
    status: statusOf(row, progressOf),
    problem: row.problem,
    created_at: formatUtc(row.createdAt),
    modified_at: formatUtc(row.modifiedAt),
  };
}

function statusOf(row: FileRestore, progressOf: (row: FileRestore) => number): string {
  if (row.state === 'running') return `Running ${Math.floor(progressOf(row))}%`;
  return row.state === 'done' ? 'Completed' : 'Failed';
}
