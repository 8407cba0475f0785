import { fail, type JobOutcome, type RunningJob, type Tx } from '@granary/kernel';
import { partOf } from '../engine/parts.ts';
import type { ScrubResult } from '../engine/hardware.ts';
import { LongWork, type Position } from '../long-work.ts';
import type { ArrayTools } from '../tools.ts';
import { called } from '../wording.ts';
import { addMismatches, findRaidGroup, updateRaidGroup } from './repository.ts';
import type { RaidGroup } from './raid-group.ts';
import type { RaidGroupService } from './service.ts';

interface ScrubArguments {
  readonly group: string;
  /** Where one that was paused goes on, as a fraction. */
  readonly from: number;
}

const KIND = 'raid_group.scrub';
const STOP_MS_MAX = 30_000;

/** Reads everything a RAID group holds, compares and repairs; the result is recorded as an event. */
export class RaidGroupScrubbing {
  readonly #tools: ArrayTools;
  readonly #groups: RaidGroupService;
  readonly #work = new LongWork();

  constructor(tools: ArrayTools, groups: RaidGroupService) {
    this.#tools = tools;
    this.#groups = groups;
    tools.jobs.register<ScrubArguments, Position>(
      KIND,
      (job) => this.#run(job),
      (tx, { group }, reason) => this.#failed(tx, group, reason),
    );
  }

  async start(id: string, actor: string): Promise<string> {
    const { store, jobs, clock, readings } = this.#tools;
    await readings.refresh();
    await store.write((tx) => {
      const group = this.#groups.named(tx, id);
      if (group.scrubJob !== null) throw conflict(group, 'is being scrubbed already');
      const state = readings.group(id)?.state ?? 'failed';
      if (state !== 'normal') throw conflict(group, `is ${state}; it can be scrubbed once it is normal`);
      const { scrubPosition: from } = group;
      const enqueued = jobs.enqueue(tx, KIND, `raid_group:${id}`, { group: id, from } satisfies ScrubArguments);
      updateRaidGroup(tx, id, { scrubJob: enqueued, ...(from === 0 && { mismatches: 0 }) }, clock.now());
      const goesOn = from > 0 ? `, from ${Math.floor(from * 100)}% on` : '';
      this.#groups.record(tx, group, { title: `RAID group ${called(group)} is being scrubbed${goesOn}.`, actor });
    });
    return id;
  }

  async pause(id: string, actor: string): Promise<string> {
    const group = this.#groups.get(id);
    if (group.scrubJob === null) throw conflict(group, 'is not being scrubbed');
    await this.stop(id);
    await this.#tools.store.write((tx) => {
      const { scrubPosition: position } = this.#groups.named(tx, id);
      // It may just have come to its end.
      if (position === 0) return;
      const title = `The scrub of RAID group ${called(group)} was paused at ${Math.floor(position * 100)}%.`;
      this.#groups.record(tx, group, { title, actor });
    });
    return id;
  }

  /** Nothing is being scrubbed any more when this resolves; the next scrub goes on from there. */
  async stop(id: string): Promise<void> {
    const { store, jobs } = this.#tools;
    const { scrubJob: job } = this.#groups.get(id);
    if (job === null) return;
    if (this.#work.stop(job)) await jobs.wait(job, STOP_MS_MAX);
    await store.write((tx) => {
      if (findRaidGroup(tx, id)?.scrubJob === job) this.#end(tx, id, {});
    });
  }

  async #run(job: RunningJob<ScrubArguments, Position>): Promise<JobOutcome> {
    const { store, engine } = this.#tools;
    const { group, from } = job.arguments;
    const raidGroup = store.read((db) => findRaidGroup(db, group));
    if (raidGroup?.scrubJob !== job.id || raidGroup.state !== 'ready') return { outcome: 'done' };
    const before = await this.#mismatches(group);
    const ended = await this.#work.run(job, {
      note: `Scrubbing ${group}`,
      from,
      work: (position, work) => partOf(engine, 'hardware').scrubGroup(group, position, work),
    });
    if (ended.how === 'done') return { outcome: 'done', finish: (tx) => this.#done(tx, group, ended.result) };
    if (ended.how === 'failed') {
      const { reason } = ended;
      return { outcome: 'failed', reason, finish: (tx) => this.#failed(tx, group, reason) };
    }
    const found = Math.max(0, (await this.#mismatches(group)) - before);
    if (ended.how === 'put-off') {
      if (found > 0) await store.write((tx) => addMismatches(tx, group, found));
      return ended.outcome;
    }
    return {
      outcome: 'done',
      finish: (tx) => {
        // Stopped before it began, it is off the record already, and another may have taken its place.
        if (findRaidGroup(tx, group)?.scrubJob !== job.id) return;
        addMismatches(tx, group, found);
        this.#end(tx, group, { scrubPosition: ended.position });
      },
    };
  }

  /** What the engine has counted: one that is cut off gives no result of its own. */
  async #mismatches(group: string): Promise<number> {
    const { readings } = this.#tools;
    await readings.refresh().catch(() => undefined);
    return readings.group(group)?.mismatches ?? 0;
  }

  #done(tx: Tx, group: string, found: ScrubResult): void {
    const raidGroup = findRaidGroup(tx, group);
    if (!raidGroup) return;
    addMismatches(tx, group, found.mismatches);
    this.#end(tx, group, { scrubPosition: 0 });
    this.#groups.record(tx, raidGroup, resultOf(raidGroup, found));
  }

  #failed(tx: Tx, group: string, reason: string): void {
    const raidGroup = findRaidGroup(tx, group);
    if (!raidGroup) return;
    this.#end(tx, group, {});
    const title = `The scrub of RAID group ${called(raidGroup)} was broken off: ${reason}`;
    this.#groups.record(tx, raidGroup, { title, severity: 'warning' });
  }

  #end(tx: Tx, group: string, changes: { scrubPosition?: number }): void {
    updateRaidGroup(tx, group, { ...changes, scrubJob: null }, this.#tools.clock.now());
  }
}

/** What was found before a pause or restart stands on the record already. */
function resultOf(group: RaidGroup, { mismatches, repaired, lost }: ScrubResult) {
  const end = `The scrub of RAID group ${called(group)} ended:`;
  const earlier = group.mismatches === 0 ? '' : ` (and ${group.mismatches} before it was interrupted)`;
  if (mismatches === 0) return { title: `${end} no mismatches found${earlier}.`, severity: 'info' } as const;
  const counts = `${mismatches} mismatches found${earlier}, ${repaired} repaired, ${lost} lost`;
  if (lost === 0) return { title: `${end} ${counts}.`, severity: 'warning' } as const;
  return { title: `${end} ${counts}. Restore what was lost from a snapshot or a copy.`, severity: 'error' } as const;
}

function conflict(group: RaidGroup, problem: string): Error {
  return fail('group_state', { id: called(group), problem });
}
