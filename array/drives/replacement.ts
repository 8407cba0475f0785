import { setTimeout as sleep } from 'node:timers/promises';
import { badParameter, fail, type JobOutcome, type RunningJob, type Tx } from '@granary/kernel';
import { partOf } from '../engine/parts.ts';
import { EngineError, isEngineError } from '../engine/errors.ts';
import type { ArrayTools } from '../tools.ts';
import { called } from '../wording.ts';
import { conflict, isWhole, refuseUnlessUsable, type Drive } from './drive.ts';
import type { DriveGroup, FindGroup } from './group.ts';
import * as repository from './repository.ts';
import type { ArrayDriveService } from './service.ts';

interface ReplaceArguments {
  readonly group: string;
  /** By uuid: the old one may be gone when the work ends. */
  readonly from: string;
  readonly to: string;
}

interface ReplaceRequest {
  readonly id: string;
  readonly toname: string;
  readonly force: boolean;
}

const KIND = 'drive.replace';
const LOOK_EVERY_MS = 300;
const SAVE_EVERY_MS = 5_000;
const RETRY_MS = 1_000;

/** Puts a free drive in the place of a member of a RAID group, and sees the rebuild through. */
export class DriveReplacement {
  readonly #tools: ArrayTools;
  readonly #drives: ArrayDriveService;
  readonly #findGroup: FindGroup;

  constructor(tools: ArrayTools, drives: ArrayDriveService, findGroup: FindGroup) {
    this.#tools = tools;
    this.#drives = drives;
    this.#findGroup = findGroup;
    tools.jobs.register<ReplaceArguments>(
      KIND,
      (job) => this.#run(job),
      (tx, args, reason) => this.#failed(tx, args, reason),
    );
  }

  async start(request: ReplaceRequest, actor: string): Promise<string> {
    const { store, jobs, clock, readings } = this.#tools;
    const { id, toname, force } = request;
    if (id === toname) throw badParameter('toname', 'must be another drive than the one it replaces');
    await this.#drives.inTurn(async () => {
      await readings.refresh();
      return store.write((tx) => {
        const from = this.#drives.named(tx, id);
        const to = this.#drives.named(tx, toname);
        const group = this.#groupOf(tx, from);
        refuseUnlessUsable(to);
        this.#refuseSize(group, to);
        this.#refuseState(tx, group, from);
        if (!force) this.#refuseRisks(tx, group, from, to);
        repository.joinGroup(tx, toname, group.name, 'member', clock.now());
        repository.updateDrive(tx, toname, { replaces: id }, clock.now());
        const args: ReplaceArguments = { group: group.name, from: from.record.uuid, to: to.record.uuid };
        const title = `Drive ${called(to.record)} is taking the place of drive ${called(from.record)} in RAID group ${called(group)}.`;
        this.#drives.record(tx, to.record, { title, actor, severity: 'notice' });
        return jobs.enqueue(tx, KIND, `raid_group:${group.name}:replace`, args);
      });
    });
    return id;
  }

  #groupOf(tx: Tx, { record: drive }: Drive): DriveGroup {
    if (drive.raidGroup === null) throw conflict(drive, 'is in no RAID group; there is nothing to replace');
    const group = this.#findGroup(tx, drive.raidGroup);
    if (group?.state !== 'ready') throw conflict(drive, 'is in a RAID group that is being made or deleted');
    if (drive.role === 'spare') throw conflict(drive, `is a hot spare of ${called(group)}; remove it and add another`);
    return group;
  }

  #refuseSize(group: DriveGroup, { record: drive, placed }: Drive): void {
    if (placed.capacityGb >= group.memberGb) return;
    const has = `Drive ${called(drive)} has ${placed.capacityGb} GiB`;
    throw fail('replacement_too_small', { has, group: called(group), needed: group.memberGb });
  }

  #refuseState(tx: Tx, group: DriveGroup, { record: drive }: Drive): void {
    if (drive.replaces !== null) throw conflict(drive, 'is just taking the place of another; wait for the rebuild');
    const other = repository.drivesOfGroup(tx, group.name).find(({ replaces }) => replaces === drive.name);
    if (other) throw conflict(drive, `is being replaced by drive ${called(other)} already`);
    if (this.#tools.readings.group(group.name)?.state !== 'failed') return;
    throw fail('group_lacks_drives', { group: called(group) });
  }

  #refuseRisks(tx: Tx, group: DriveGroup, from: Drive, to: Drive): void {
    const isSsd = to.placed.medium === 'ssd';
    if (isSsd !== group.isSsd) {
      const kinds = isSsd ? 'an SSD among hard disks' : 'a hard disk among SSDs';
      throw conflict(to.record, `would be ${kinds} in RAID group ${called(group)}; take another or use force=YES`);
    }
    if (!isWhole(from)) return;
    const whole = this.#drives
      .ofGroup(tx, group.name)
      .filter((drive) => drive.record.role === 'member' && isWhole(drive));
    if (group.width - whole.length < group.toleratedFailures) return;
    throw fail('replace_failed_first', { group: called(group), id: called(from.record) });
  }

  /** The engine rebuilds by itself, over restarts too: this begins it once and looks how far it is. */
  async #run(job: RunningJob<ReplaceArguments>): Promise<JobOutcome> {
    try {
      return await this.#follow(job);
    } catch (error) {
      if (job.signal.aborted) return { outcome: 'retry', afterMs: 0, reason: 'It goes on soon.' };
      if (isEngineError(error, 'interrupted')) return { outcome: 'retry', afterMs: RETRY_MS, reason: error.message };
      if (error instanceof EngineError) return this.#failure(job.arguments, error.message);
      throw error;
    }
  }

  async #follow(job: RunningJob<ReplaceArguments>): Promise<JobOutcome> {
    const { engine, readings, clock } = this.#tools;
    const { group, from, to } = job.arguments;
    let savedAt = clock.now();
    let isBegun = false;
    for (;;) {
      await readings.refresh();
      const report = readings.group(group);
      if (!report) return this.#failure(job.arguments, `RAID group ${group} is gone.`);
      const hasTakenPlace = report.members.includes(to) && !report.members.includes(from);
      const state = readings.drive(to)?.state;
      if (hasTakenPlace && state === 'online')
        return { outcome: 'done', finish: (tx) => this.#done(tx, job.arguments) };
      if (state === 'failed' || state === 'absent') return this.#failure(job.arguments, 'The new drive failed.');
      if (report.state === 'failed') return this.#failure(job.arguments, 'Too many drives of the RAID group failed.');
      if (!isBegun && !hasTakenPlace) await partOf(engine, 'hardware').replaceDrive(group, from, to);
      isBegun = true;
      if (clock.now() - savedAt >= SAVE_EVERY_MS) {
        savedAt = clock.now();
        await job.save((report.progress ?? 0) * 100, `Rebuilding onto ${to}`);
      }
      await sleep(LOOK_EVERY_MS, undefined, { signal: job.signal });
    }
  }

  #failure(args: ReplaceArguments, reason: string): JobOutcome {
    return { outcome: 'failed', reason, finish: (tx) => this.#failed(tx, args, reason) };
  }

  #done(tx: Tx, { group, from, to }: ReplaceArguments): void {
    const now = this.#tools.clock.now();
    const [old, fresh] = [repository.findDriveByUuid(tx, from), repository.findDriveByUuid(tx, to)];
    if (old?.raidGroup === group) repository.leaveGroup(tx, old.name, now);
    if (!fresh) return;
    repository.updateDrive(tx, fresh.name, { replaces: null }, now);
    const title = `Drive ${called(fresh)} took the place of drive ${old ? called(old) : from} in RAID group ${group}.`;
    this.#drives.record(tx, fresh, { title, severity: 'notice' });
    this.#drives.removeAbsent(tx);
  }

  /** Whether it is a member the engine says; the next reading puts that on record. */
  #failed(tx: Tx, { group, from, to }: ReplaceArguments, reason: string): void {
    const now = this.#tools.clock.now();
    const [old, fresh] = [repository.findDriveByUuid(tx, from), repository.findDriveByUuid(tx, to)];
    if (!fresh) return;
    repository.updateDrive(tx, fresh.name, { replaces: null }, now);
    const title = `Drive ${called(fresh)} could not take the place of drive ${old ? called(old) : from} in RAID group ${group}: ${reason}`;
    this.#drives.record(tx, fresh, { title, severity: 'error' });
  }
}
