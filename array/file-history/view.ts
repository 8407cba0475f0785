import { formatUtc } from '@granary/kernel';
import type { RestoreRow } from './repository.ts';

export function restoreView(row: RestoreRow, progressOf: (row: RestoreRow) => number) {
  return {
    name: row.name,
    volume_name: row.volume,
    snapshot_name: row.snapshot,
    path: row.path,
    to_path: row.to_path,
    status: statusOf(row, progressOf),
    problem: row.problem,
    created_at: formatUtc(row.created_at),
    modified_at: formatUtc(row.modified_at),
  };
}

function statusOf(row: RestoreRow, progressOf: (row: RestoreRow) => number): string {
  if (row.state === 'running') return `Running ${Math.floor(progressOf(row))}%`;
  return row.state === 'done' ? 'Completed' : 'Failed';
}
