import type { RecordOf } from '@granary/contract';
import type { RaidGroup as RaidGroupRecord } from '@granary/contract/array';
import { formatUtc, MB, wholeGigabytes } from '@granary/kernel';
import type { GroupReport, GroupState } from '../engine/report.ts';
import type { RaidGroupFacts } from './raid-group.ts';

const KB = 1024;

export function viewOfRaidGroup({
  group,
  report,
  scrubbed,
  freeBytes,
}: RaidGroupFacts): RecordOf<typeof RaidGroupRecord> {
  return {
    name: group.name,
    display_name: group.displayName,
    protection: group.protection,
    // RAID6 keeps data once, and two parities of it.
    mirror_num: group.protection === 'RAID1' ? group.width : 1,
    stripe_size: group.stripeBytes / KB,
    protection_width: group.width,
    capacity: wholeGigabytes(group.capacityBytes),
    available: wholeGigabytes(freeBytes),
    status: statusOf(report, scrubbed),
    ssd: group.isSsd ? 'YES' : 'NO',
    mismatch_count: group.mismatches,
    resync_speed: Math.round((report?.resyncSpeed ?? 0) / MB),
    min_resync_speed: group.minResyncMb,
    max_resync_speed: group.maxResyncMb,
    created_at: formatUtc(group.createdAt),
    modified_at: formatUtc(group.modifiedAt),
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
