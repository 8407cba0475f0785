import { setTimeout as sleep } from 'node:timers/promises';
import { type GroupState as RaidState, RaidGroup, type ResyncSpeed as RaidSpeed, StorageError } from '@granary/storage';
import type { Work } from '../../work.ts';
import type { ResyncSpeed, ScrubResult } from '../../hardware.ts';
import type { GroupReport } from '../../report.ts';
import type { GroupRecord } from '../engine-catalogue.ts';
import type { GroupEvents } from './group-events.ts';
import { totalsOf } from '../reports/totals.ts';

/** A drive that hangs is taken out all the same. */
const REST_MS_MAX = 5000;
/** The least time over which a speed is measured. */
const SPEED_MS = 500;

/** One RAID group; there may be no drive of it to be found. */
export class EngineGroup {
  readonly id: string;
  readonly events: GroupEvents;
  raid: RaidGroup | undefined;
  #speed: RaidSpeed | undefined;
  #sample = { atMs: performance.now(), bytes: 0 };
  #bytesPerSecond = 0;

  constructor(id: string, events: GroupEvents) {
    this.id = id;
    this.events = events;
  }

  /** What the group is opened with. A value set before the group could be opened is used when it opens. */
  get speed(): RaidSpeed | undefined {
    return this.#speed;
  }

  setSpeed(speed: ResyncSpeed): void {
    const wanted = speedOf(speed);
    this.raid?.setResyncSpeed(wanted);
    this.#speed = wanted;
  }

  /** The group, if it can do anything. */
  get working(): RaidGroup {
    if (this.raid) return this.raid;
    throw new StorageError('group-failed', `RAID group ${this.id} lacks too many of its drives; bring them back.`);
  }

  hasFailed(): boolean {
    return this.raid === undefined || this.raid.state().status === 'failed';
  }

  scrub(from: number, work: Work): Promise<ScrubResult> {
    const { signal, onProgress } = work;
    return this.working.scrub({ from, ...(signal && { signal }), ...(onProgress && { onProgress }) });
  }

  /** Runs `work` once all that was answered is on the drives; without that when they take too long over it. */
  async atRest(work: () => void): Promise<void> {
    let isDone = false;
    const doOnce = () => {
      if (!isDone) work();
      isDone = true;
    };
    const resting = this.raid?.atRest(doOnce).catch(() => undefined);
    await Promise.race([resting, sleep(REST_MS_MAX, undefined, { ref: false })]);
    doOnce();
  }

  /** A drive that is offline is noticed now, not at the next write. */
  async notice(): Promise<void> {
    await this.raid?.flush().catch(() => undefined);
  }

  /** It works, and with this drive. */
  uses(drive: string): boolean {
    return !this.hasFailed() && this.memberState(drive) !== 'failed';
  }

  /** How far the drive can be used. */
  memberState(drive: string): 'online' | 'rebuilding' | 'failed' {
    const members = this.raid?.state().members ?? [];
    if (members.some(({ replacedBy }) => replacedBy?.driveId === drive)) return 'rebuilding';
    const state = members.find(({ driveId }) => driveId === drive)?.state ?? 'active';
    return state === 'active' ? 'online' : state;
  }

  report(record: GroupRecord): GroupReport {
    const { raid } = this;
    if (!raid) return { ...ofFailed, id: this.id, capacityBytes: record.capacityBytes, ...namesOf(record) };
    const state = raid.state();
    return {
      id: this.id,
      state: state.status,
      progress: state.progress ?? null,
      capacityBytes: raid.capacityBytes,
      members: memberIdsOf(state),
      spares: [...state.spares],
      mismatches: state.mismatches,
      resyncSpeed: this.#measure(state),
      io: totalsOf(raid.statistics()),
      metadataCache: raid.checksumCache(),
    };
  }

  #measure({ status, backgroundBytes }: RaidState): number {
    const nowMs = performance.now();
    const ms = nowMs - this.#sample.atMs;
    if (ms >= SPEED_MS) {
      this.#bytesPerSecond = Math.round(((backgroundBytes - this.#sample.bytes) * 1000) / ms);
      this.#sample = { atMs: nowMs, bytes: backgroundBytes };
    }
    return status === 'recovering' || status === 'scrubbing' ? this.#bytesPerSecond : 0;
  }
}

/** Members, and those that are being filled to take a member's place. */
export function memberIdsOf({ members }: RaidState): string[] {
  return members.flatMap(({ driveId, replacedBy }) => (replacedBy ? [driveId, replacedBy.driveId] : [driveId]));
}

export function speedOf({ minimum, maximum }: ResyncSpeed): RaidSpeed {
  return { minimumBytesPerSecond: minimum, maximumBytesPerSecond: maximum };
}

function namesOf({ members, spares }: GroupRecord): Pick<GroupReport, 'members' | 'spares'> {
  return { members: [...members], spares: [...spares] };
}

const none = { count: 0, bytes: 0, microseconds: 0 };
const ofFailed = {
  state: 'failed',
  progress: null,
  mismatches: 0,
  resyncSpeed: 0,
  io: { reads: none, writes: none },
} as const;
