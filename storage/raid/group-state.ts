import type { DriveStatistics } from '../drive/drive.ts';
import { BLOCK_BYTES } from '../units.ts';
import type { GroupCore, GroupCounters } from './core.ts';
import type { RaidLevel } from './layout.ts';
import type { Member } from './members/member.ts';
import type { ScrubState } from './repair/group-scrubber.ts';
import type { MemberState } from './members/superblock.ts';
import type { ResyncSpeed } from './repair/throttle.ts';

export type GroupStatus = 'normal' | 'degraded' | 'recovering' | 'scrubbing' | 'failed';

export interface MemberDescription {
  readonly slot: number;
  readonly driveId: string;
  readonly uuid: string;
  readonly state: MemberState;
  /** While the member is being filled. */
  readonly pendingBytes?: number;
  readonly replacedBy?: { readonly driveId: string; readonly pendingBytes: number };
  readonly statistics: DriveStatistics;
}

export interface GroupState {
  readonly status: GroupStatus;
  /** Of a rebuild, resync or scrub: 0 to 1. */
  readonly progress?: number;
  readonly level: RaidLevel;
  readonly stripeBytes: number;
  readonly events: number;
  readonly members: readonly MemberDescription[];
  readonly spares: readonly string[];
  readonly mismatches: number;
  readonly dirtyRegions: number;
  readonly resyncSpeed: ResyncSpeed;
  /** Bytes rebuilt, resynced and scrubbed since the group was opened. */
  readonly backgroundBytes: number;
  readonly scrub: ScrubState;
  readonly counters: Readonly<GroupCounters>;
}

export function describeGroup(
  core: GroupCore,
  scrub: ScrubState,
  recoveries: readonly (number | undefined)[],
): GroupState {
  const { membership, layout } = core;
  const recovering = recoveries.filter((progress) => progress !== undefined);
  const status = statusOf(core, recovering.length > 0, scrub.isRunning);
  const progress =
    status === 'recovering' ? Math.min(...recovering) : status === 'scrubbing' ? scrub.progress : undefined;
  return {
    status,
    ...(progress !== undefined && Number.isFinite(progress) && { progress }),
    level: layout.level,
    stripeBytes: layout.stripeBytes,
    events: membership.events,
    members: membership.members.map((member) =>
      describeMember(member, membership.successors[member.slot], layout.regionRows * BLOCK_BYTES),
    ),
    spares: membership.spares.map(({ drive }) => drive.id),
    mismatches: core.counters.mismatches,
    dirtyRegions: core.intent.markedCount,
    resyncSpeed: core.throttle.speed,
    backgroundBytes: core.throttle.pacedBytes,
    scrub,
    counters: { ...core.counters },
  };
}

function statusOf({ membership }: GroupCore, isRecovering: boolean, isScrubbing: boolean): GroupStatus {
  if (membership.failure !== undefined) return 'failed';
  if (isRecovering) return 'recovering';
  if (!membership.isComplete) return 'degraded';
  return isScrubbing ? 'scrubbing' : 'normal';
}

function describeMember(member: Member, successor: Member | undefined, regionBytes: number): MemberDescription {
  const pendingBytes = ({ pending }: Member) => (pending?.size ?? 0) * regionBytes;
  return {
    slot: member.slot,
    driveId: member.drive.id,
    uuid: member.uuid,
    state: member.state,
    ...(member.pending && { pendingBytes: pendingBytes(member) }),
    ...(successor && { replacedBy: { driveId: successor.drive.id, pendingBytes: pendingBytes(successor) } }),
    statistics: member.drive.statistics(),
  };
}
