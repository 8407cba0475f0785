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
  /** The other side is not heard of. */
  readonly isCutOff: boolean;
}

/** As its source shows it. */
export function sourceView(row: SourceMirror, around: Surroundings): MirrorView {
  return {
    job_name: row.name,
    job_display_name: row.displayName,
    src: {
      provider: around.provider,
      array_display_name: around.arrayName,
      cg_display_name: row.groupDisplayName,
      cg_name: row.consistencyGroup,
      pool_display_name: row.poolDisplayName,
    },
    dst: {
      provider: row.remoteProvider,
      array_display_name: row.remoteDisplayName,
      cg_display_name: row.remoteVolume,
      cg_name: null,
      pool_display_name: row.remotePool,
    },
    status: statusOf(row, row.state === 'paused', around),
    ...figures(row, row.sentBytes),
  };
}

/** As its destination shows it. */
export function destinationView(row: DestinationMirror, around: Surroundings): MirrorView {
  return {
    job_name: row.name,
    job_display_name: row.displayName,
    src: {
      provider: row.sourceProvider,
      array_display_name: row.sourceArray,
      cg_display_name: row.sourceGroupDisplayName,
      cg_name: row.sourceGroup,
      pool_display_name: row.sourcePoolDisplayName,
    },
    dst: {
      provider: around.provider,
      array_display_name: around.arrayName,
      cg_display_name: row.volumeName,
      cg_name: null,
      pool_display_name: row.poolDisplayName,
    },
    status: statusOf(row, row.isPaused, around),
    ...figures(row, row.receivedBytes),
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

function figures(row: Figures, bytes: number) {
  return {
    rpo: row.baseTakenAt === null ? null : formatUtc(row.baseTakenAt),
    // What travels is compressed wherever that pays.
    wan_optimization: 'YES' as const,
    avg_sync_rate_kb_sec: row.syncMs === 0 ? 0 : Math.round(bytes / 1024 / (row.syncMs / 1000)),
    created_at: formatUtc(row.createdAt),
    modified_at: formatUtc(row.modifiedAt),
  };
}
