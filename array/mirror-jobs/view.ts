import type { RecordOf } from '@granary/contract';
import type { MirrorJob } from '@granary/contract/array';
import { formatUtc } from '@granary/kernel';
import type { DestinationMirror, SourceMirror } from './mirror.ts';

type MirrorView = RecordOf<typeof MirrorJob>;

/** What a record says beyond its row. */
export interface Surroundings {
  /** Who this array is to others. */
  readonly provider: string;
  readonly arrayName: string;
  /** How large what is on its way is. */
  readonly sizeBytes: number;
  /** The other side does not call. */
  readonly isCutOff: boolean;
}

/** As its source shows it. */
export function sourceView(mirror: SourceMirror, around: Surroundings): MirrorView {
  return {
    job_name: mirror.name,
    job_display_name: mirror.displayName,
    src: {
      provider: around.provider,
      array_display_name: around.arrayName,
      cg_display_name: mirror.groupDisplayName,
      cg_name: mirror.consistencyGroup,
      pool_display_name: mirror.poolDisplayName,
    },
    dst: {
      provider: mirror.remoteProvider,
      array_display_name: mirror.remoteDisplayName,
      cg_display_name: mirror.remoteVolume,
      cg_name: null,
      pool_display_name: mirror.remotePool,
    },
    status: statusOf(mirror, mirror.state === 'paused', around),
    ...figures(mirror, mirror.sentBytes),
  };
}

/** As its destination shows it. */
export function destinationView(mirror: DestinationMirror, around: Surroundings): MirrorView {
  return {
    job_name: mirror.name,
    job_display_name: mirror.displayName,
    src: {
      provider: mirror.sourceProvider,
      array_display_name: mirror.sourceArray,
      cg_display_name: mirror.sourceGroupDisplayName,
      cg_name: mirror.sourceGroup,
      pool_display_name: mirror.sourcePoolDisplayName,
    },
    dst: {
      provider: around.provider,
      array_display_name: around.arrayName,
      cg_display_name: mirror.volumeName,
      cg_name: null,
      pool_display_name: mirror.poolDisplayName,
    },
    status: statusOf(mirror, mirror.isPaused, around),
    ...figures(mirror, mirror.receivedBytes),
  };
}

type Standing = Pick<SourceMirror, 'round' | 'position'> & { readonly state: string };

function statusOf({ state, round, position }: Standing, isPaused: boolean, around: Surroundings): string {
  // Not before its volume is one like any other.
  if (state === 'broken') return 'Broken';
  if (isPaused) return 'Paused';
  if (around.isCutOff) return 'Disconnected';
  if (round === null && state !== 'creating') return 'Idle';
  const percent = around.sizeBytes === 0 ? 0 : Math.floor((position / around.sizeBytes) * 100);
  return `Syncing ${Math.min(percent, 99)}%`;
}

type Figures = Pick<SourceMirror, 'baseTakenAt' | 'syncMs' | 'createdAt' | 'modifiedAt'>;

function figures(mirror: Figures, bytes: number) {
  return {
    rpo: mirror.baseTakenAt === null ? null : formatUtc(mirror.baseTakenAt),
    // What travels is compressed wherever that pays.
    wan_optimization: 'YES' as const,
    avg_sync_rate_kb_sec: mirror.syncMs === 0 ? 0 : Math.round(bytes / 1024 / (mirror.syncMs / 1000)),
    created_at: formatUtc(mirror.createdAt),
    modified_at: formatUtc(mirror.modifiedAt),
  };
}
