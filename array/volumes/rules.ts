import { badParameter, capacityText, fail, type Changes } from '@granary/kernel';
import type { Reduction, VolumeCaps } from '../engine/engine.ts';
import { MB } from '../units.ts';
import type { Volume } from './volume.ts';

export const VOLUMES_MAX = 16_384;
/** 1 PB: as far as a volume can be addressed. */
export const SIZE_BYTES_MAX = 2 ** 50;

/** What a filesystem needs for itself. */
const SHARE_BYTES_MIN = 4 * MB;

export function checkSize(sizeBytes: number, kind: Volume['kind']): void {
  if (kind === 'file' && sizeBytes < SHARE_BYTES_MIN) {
    throw fail('share_too_small', { min: capacityText(SHARE_BYTES_MIN) });
  }
  if (sizeBytes > SIZE_BYTES_MAX) {
    throw fail('volume_too_large', { max: SIZE_BYTES_MAX / 2 ** 40 });
  }
}

type Expansion = Pick<Volume, 'sizeBytes' | 'expandsItself' | 'expandByBytes' | 'maxBytes'>;

/** That a volume which expands by itself knows by how much, and has room to. */
export function checkExpansion(wanted: Expansion): void {
  if (wanted.expandsItself && wanted.expandByBytes === null)
    throw badParameter('autoexpandby', 'must be sent with autoexpand=YES: how much it expands by each time');
  if (wanted.maxBytes === null) return;
  if (wanted.maxBytes < wanted.sizeBytes)
    throw badParameter('maxcapacity', `must be at least the size of the volume, ${capacityText(wanted.sizeBytes)}`);
  if (wanted.maxBytes > SIZE_BYTES_MAX)
    throw badParameter('maxcapacity', `must be at most ${SIZE_BYTES_MAX / 2 ** 40} TB`);
}

export function checkReady(volume: Volume): void {
  if (volume.state === 'ready') return;
  const doing = volume.state === 'deleting' ? 'deleted' : 'made';
  throw fail('volume_busy', { id: volume.name, doing });
}

/** `instead`: what can be done about it other than detaching. */
export function checkDetached(volume: Volume, servers: readonly string[], instead = ''): void {
  if (servers.length > 0) throw fail('volume_attached', { id: volume.name, servers: servers.join(', '), instead });
}

/** What must not change behind the back of a job that copies it or takes it back to a snapshot. */
export function checkUnmoved(volume: Volume): void {
  if (volume.restoring !== null) throw fail('volume_restoring', { id: volume.name, snapshot: volume.restoring });
  if (volume.migration === null) return;
  throw fail('volume_migrating', { id: volume.name, job: volume.migration });
}

export function checkNoDestination(volume: Volume): void {
  if (volume.mirrorJob === null) return;
  throw fail('volume_is_destination', { id: volume.name, mirror: volume.mirrorJob });
}

type Capped = Pick<Volume, 'readIopsCap' | 'readMbpsCap' | 'writeIopsCap' | 'writeMbpsCap'>;

export function capsOf(volume: Capped): VolumeCaps {
  return {
    readIops: volume.readIopsCap,
    readBytesPerSecond: volume.readMbpsCap * MB,
    writeIops: volume.writeIopsCap,
    writeBytesPerSecond: volume.writeMbpsCap * MB,
  };
}

/** The bytes of a share pass through its filesystem, which has no caps. */
export function refuseCaps(caps: Changes<Capped>): void {
  const named = {
    read_iops_capping: caps.readIopsCap,
    read_mbps_capping: caps.readMbpsCap,
    write_iops_capping: caps.writeIopsCap,
    write_mbps_capping: caps.writeMbpsCap,
  };
  for (const [parameter, cap] of Object.entries(named))
    if (cap !== undefined && cap > 0) throw badParameter(parameter, 'is for block volumes: a share has no caps');
}

export function isCapped(volume: Capped): boolean {
  return Object.values(capsOf(volume)).some((cap) => cap > 0);
}

export function engineReduction({ compress, dedupe }: Pick<Volume, 'compress' | 'dedupe'>): Reduction {
  return { compression: compress, deduplication: dedupe };
}

/** How events and messages call it. */
export function titleOf({ kind, displayName, name }: Pick<Volume, 'kind' | 'name' | 'displayName'>): string {
  return `${kind === 'file' ? 'Share' : 'Volume'} ${displayName} (${name})`;
}
