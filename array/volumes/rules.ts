import { badParameter, capacityText, fail, type Db } from '@granary/kernel';
import type { Reduction, VolumeCaps } from '../engine/engine.ts';
import { MB } from '../units.ts';
import { serversOf, type VolumeRow } from './repository.ts';

export const VOLUMES_MAX = 16_384;
/** 1 PB: as far as a volume can be addressed. */
export const SIZE_BYTES_MAX = 2 ** 50;

/** What a filesystem needs for itself. */
const SHARE_BYTES_MIN = 4 * MB;

export function checkSize(sizeBytes: number, kind: VolumeRow['kind']): void {
  if (kind === 'file' && sizeBytes < SHARE_BYTES_MIN) {
    const problem = `A share has at least ${capacityText(SHARE_BYTES_MIN)}; ask for more.`;
    throw fail('capacity_refused', { problem });
  }
  if (sizeBytes > SIZE_BYTES_MAX) {
    const problem = `A volume has at most ${SIZE_BYTES_MAX / 2 ** 40} TB; ask for less.`;
    throw fail('capacity_refused', { problem });
  }
}

interface Expansion {
  readonly size_bytes: number;
  readonly auto_expand: number;
  readonly auto_expand_by_mb: number | null;
  readonly max_capacity_mb: number | null;
}

/** That a volume which expands by itself knows by how much, and has room to. */
export function checkExpansion(wanted: Expansion): void {
  if (wanted.auto_expand === 1 && wanted.auto_expand_by_mb === null)
    throw badParameter('autoexpandby', 'must be sent with autoexpand=YES: how much it expands by each time');
  if (wanted.max_capacity_mb === null) return;
  if (wanted.max_capacity_mb * MB < wanted.size_bytes)
    throw badParameter('maxcapacity', `must be at least the size of the volume, ${capacityText(wanted.size_bytes)}`);
  if (wanted.max_capacity_mb * MB > SIZE_BYTES_MAX)
    throw badParameter('maxcapacity', `must be at most ${SIZE_BYTES_MAX / 2 ** 40} TB`);
}

export function checkReady(row: VolumeRow): void {
  if (row.state === 'ready') return;
  const doing = row.state === 'deleting' ? 'deleted' : 'made';
  throw fail('state_conflict', { problem: `Volume ${row.name} is being ${doing}.` });
}

/** `instead`: what can be done about it other than detaching. */
export function checkDetached(db: Db, row: VolumeRow, instead = ''): void {
  const servers = serversOf(db, row.name);
  if (servers.length > 0) throw fail('volume_attached', { id: row.name, servers: servers.join(', '), instead });
}

/** What must not change behind the back of a job that copies it. */
export function checkUnmoved(row: VolumeRow): void {
  if (row.migration === null) return;
  const problem = `Volume ${row.name} is being migrated by ${row.migration}; wait for that, or abort it.`;
  throw fail('state_conflict', { problem });
}

export function checkNoDestination(row: VolumeRow): void {
  if (row.mirror_job === null) return;
  const problem = `Volume ${row.name} is the destination of mirror ${row.mirror_job}; break the mirror first.`;
  throw fail('state_conflict', { problem });
}

type Capped = Pick<VolumeRow, 'read_iops_capping' | 'read_mbps_capping' | 'write_iops_capping' | 'write_mbps_capping'>;

export function capsOf(row: Capped): VolumeCaps {
  return {
    readIops: row.read_iops_capping,
    readBytesPerSecond: row.read_mbps_capping * MB,
    writeIops: row.write_iops_capping,
    writeBytesPerSecond: row.write_mbps_capping * MB,
  };
}

/** The bytes of a share pass through its filesystem, which has no caps. */
export function refuseCaps(caps: { readonly [K in keyof Capped]?: number | undefined }): void {
  for (const [parameter, cap] of Object.entries(caps))
    if (cap !== undefined && cap > 0) throw badParameter(parameter, 'is for block volumes: a share has no caps');
}

export function isCapped(row: Capped): boolean {
  return Object.values(capsOf(row)).some((cap) => cap > 0);
}

export function engineReduction({ compress, dedupe }: Pick<VolumeRow, 'compress' | 'dedupe'>): Reduction {
  return { compression: compress === 1, deduplication: dedupe === 1 };
}

/** How events and messages call it. */
export function titleOf({ kind, display_name, name }: Pick<VolumeRow, 'kind' | 'name' | 'display_name'>): string {
  return `${kind === 'file' ? 'Share' : 'Volume'} ${display_name} (${name})`;
}
