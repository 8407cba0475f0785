import type { RecordOf } from '@granary/contract';
import type { RaidGroup as RaidGroupRecord } from '@granary/contract/array';
import { formatUtc, MB, wholeGigabytes } from '@granary/kernel';
import type { GroupReport, GroupState } from '../engine/report.ts';
import type { RaidGroupRow } from './repository.ts';

/** A RAID group: what is on record, and how it does. */
export interface RaidGroup {
  readonly row: RaidGroupRow;
  readonly report: GroupReport | undefined;
  /** Percent, while it is being scrubbed. */
  readonly scrubbed: number | undefined;
  /** What no pool uses yet. */
  readonly freeBytes: number;
}

export function viewOfRaidGroup({ row, report, scrubbed, freeBytes }: RaidGroup): RecordOf<typeof RaidGroupRecord> {
  return {
    name: row.name,
    display_name: row.display_name,
    protection: row.protection,
    // RAID6 keeps data once, and two parities of it.
    mirror_num: row.protection === 'RAID1' ? row.width : 1,
    stripe_size: row.stripe_kb,
    protection_width: row.width,
    capacity: wholeGigabytes(row.capacity_bytes),
    available: wholeGigabytes(freeBytes),
    status: statusOf(report, scrubbed),
    ssd: row.is_ssd === 1 ? 'YES' : 'NO',
    mismatch_count: row.mismatches,
    resync_speed: Math.round((report?.resyncSpeed ?? 0) / MB),
    min_resync_speed: row.min_resync_mb,
    max_resync_speed: row.max_resync_mb,
    created_at: formatUtc(row.created_at),
    modified_at: formatUtc(row.modified_at),
  };
}

const WORDS: Record<GroupState, string> = {
  normal: 'Normal',
  degraded: 'Degraded',
  recovering: 'Recovering',
  scrubbing: 'Scrubbing',
  failed: 'Failed',
};

/** What is wrong comes before what is being done. */
function statusOf(report: GroupReport | undefined, scrubbed: number | undefined): string {
  if (!report) return WORDS.failed;
  const { state, progress } = report;
  if (state === 'recovering') return `${WORDS.recovering} ${percent(progress)}%`;
  if (state !== 'scrubbing' && state !== 'normal') return WORDS[state];
  // The record knows sooner than the last report whether one is under way.
  return scrubbed === undefined ? WORDS.normal : `${WORDS.scrubbing} ${scrubbed}%`;
}

function percent(fraction: number | null): number {
  return Math.floor((fraction ?? 0) * 100);
}
