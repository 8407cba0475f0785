import { formatUtc, wholeMegabytes } from '@granary/kernel';
import type { Project } from './projects.ts';
import type { DirectoryRow } from './repository.ts';
import type { NamedQuota } from './service.ts';

/** There is one limit, which is never exceeded: nothing is softer. */
export function quotaView({ id, name, scope, usedBytes, limitBytes }: NamedQuota) {
  return {
    source_id: String(id),
    source_id_display: name ?? String(id),
    usage: String(wholeMegabytes(usedBytes)),
    soft: '0',
    hard: limitText(limitBytes),
    source_type: scope,
    nas_type: name !== undefined && scope !== 'project' ? 'nas' : 'uid',
  };
}

export function limitText(limitBytes: number | undefined): string {
  return String(wholeMegabytes(limitBytes ?? 0));
}

export function projectView(project: Project, progressOf: (row: DirectoryRow) => number) {
  return {
    name: project.name,
    display_name: project.display_name,
    id: project.number,
    volume_id: project.volume,
    was_deleted: project.delete_job === null ? ('NO' as const) : ('YES' as const),
    created_at: formatUtc(project.created_at),
    modified_at: formatUtc(project.modified_at),
    directories_count: project.directories.length,
    directories: project.directories.map((row) => ({ path: row.path, status: statusOf(row, progressOf) })),
  };
}

function statusOf(row: DirectoryRow, progressOf: (row: DirectoryRow) => number): string {
  if (row.state === 'ready') return 'Ready';
  return `${row.state === 'adding' ? 'Adding' : 'Removing'} ${Math.floor(progressOf(row))}%`;
}
