import type { RecordOf } from '@granary/contract';
import type { MirrorJob } from '@granary/contract/array';
import { formatUtc } from '@granary/kernel';
import type { DestinationRow, SourceRow } from './repository.ts';

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
export function sourceView(row: SourceRow, around: Surroundings): MirrorView {
  return {
    job_name: row.name,
    job_display_name: row.display_name,
    src: {
      provider: around.provider,
      array_display_name: around.arrayName,
      cg_display_name: row.cg_display_name,
      cg_name: row.cg_name,
      pool_display_name: row.pool_display_name,
    },
    dst: {
      provider: row.remote_provider,
      array_display_name: row.remote_display_name,
      cg_display_name: row.remote_volume,
      cg_name: null,
      pool_display_name: row.remote_pool,
    },
    status: statusOf(row, row.state === 'paused', around),
    ...figures(row, row.sent_bytes),
  };
}

/** As its destination shows it. */
export function destinationView(row: DestinationRow, around: Surroundings): MirrorView {
  return {
    job_name: row.name,
    job_display_name: row.display_name,
    src: {
      provider: row.src_provider,
      array_display_name: row.src_array,
      cg_display_name: row.src_cg,
      cg_name: row.src_cg_name,
      pool_display_name: row.src_pool,
    },
    dst: {
      provider: around.provider,
      array_display_name: around.arrayName,
      cg_display_name: row.volume_name,
      cg_name: null,
      pool_display_name: row.pool_display_name,
    },
    status: statusOf(row, row.is_paused === 1, around),
    ...figures(row, row.received_bytes),
  };
}

type Standing = Pick<SourceRow, 'round' | 'position'> & { readonly state: string };

function statusOf({ state, round, position }: Standing, isPaused: boolean, around: Surroundings): string {
  // Not before its volume is one like any other.
  if (state === 'broken') return 'Broken';
  if (isPaused) return 'Paused';
  if (around.isCutOff) return 'Disconnected';
  if (round === null && state !== 'creating') return 'Idle';
  const percent = around.sizeBytes === 0 ? 0 : Math.floor((position / around.sizeBytes) * 100);
  return `Syncing ${Math.min(percent, 99)}%`;
}

type Figures = Pick<SourceRow, 'base_taken_at' | 'sync_ms' | 'created_at' | 'modified_at'>;

function figures(row: Figures, bytes: number) {
  return {
    rpo: row.base_taken_at === null ? null : formatUtc(row.base_taken_at),
    // What travels is compressed wherever that pays.
    wan_optimization: 'YES' as const,
    avg_sync_rate_kb_sec: row.sync_ms === 0 ? 0 : Math.round(bytes / 1024 / (row.sync_ms / 1000)),
    created_at: formatUtc(row.created_at),
    modified_at: formatUtc(row.modified_at),
  };
}
