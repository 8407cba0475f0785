import { formatUtc, wholeMegabytes } from '@granary/kernel';
import type { ProjectWithDirectories } from './projects.ts';
import type { QuotaDirectory } from './project.ts';
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

export function projectView(project: ProjectWithDirectories, progressOf: (directory: QuotaDirectory) => number) {
  return {
    name: project.name,
    display_name: project.displayName,
    id: project.number,
    volume_id: project.volume,
    was_deleted: project.deleteJob === null ? ('NO' as const) : ('YES' as const),
    created_at: formatUtc(project.createdAt),
    modified_at: formatUtc(project.modifiedAt),
    directories_count: project.directories.length,
    directories: project.directories.map((directory) => ({
      path: directory.path,
      status: statusOf(directory, progressOf),
    })),
  };
}

function statusOf(directory: QuotaDirectory, progressOf: (directory: QuotaDirectory) => number): string {
  if (directory.state === 'ready') return 'Ready';
  return `${directory.state === 'adding' ? 'Adding' : 'Removing'} ${Math.floor(progressOf(directory))}%`;
}
