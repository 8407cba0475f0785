import type { JobOutcome, RunningJob, Tx } from '@granary/kernel';
import { partOf } from '../engine/parts.ts';
import { LongWork, type Position } from '../long-work.ts';
import type { ArrayTools } from '../tools.ts';
import { called } from '../wording.ts';
import { conflict, isFailed, refuseIfAway, refuseUnlessFree } from './drive.ts';
import { findDrive, updateDrive } from './repository.ts';
import type { DriveRecord } from './record.ts';
import type { ArrayDriveService } from './service.ts';

interface ShredArguments {
  readonly drive: string;
}

interface ShredRequest {
  readonly id: string;
  readonly force: boolean;
}

const KIND = 'drive.shred';
const STOP_MS_MAX = 30_000;

/** Overwrites free drives, so that what they held is gone for good. */
export class DriveShredding {
  readonly #tools: ArrayTools;
  readonly #drives: ArrayDriveService;
  readonly #work = new LongWork();

  constructor(tools: ArrayTools, drives: ArrayDriveService) {
    this.#tools = tools;
    this.#drives = drives;
    tools.jobs.register<ShredArguments, Position>(
      KIND,
      (job) => this.#run(job),
      (tx, { drive }, reason) => this.#failed(tx, drive, reason),
    );
  }

  async start({ id, force }: ShredRequest, actor: string): Promise<string> {
    const { store, jobs, clock } = this.#tools;
    await store.write((tx) => {
      const drive = this.#drives.named(tx, id);
      const { record } = drive;
      refuseUnlessFree(drive);
      refuseIfAway(drive);
      if (isFailed(drive) && !force)
        throw conflict(record, 'has failed; put it back into service first, or use force=YES to try it as it is');
      const enqueued = jobs.enqueue(tx, KIND, `drive:${id}`, { drive: id } satisfies ShredArguments);
      updateDrive(tx, id, { shredJob: enqueued }, clock.now());
      this.#drives.record(tx, record, {
        title: `Drive ${called(record)} is being shredded.`,
        actor,
        severity: 'notice',
      });
    });
    return id;
  }

  /** The drive is free again when this resolves: nothing writes to it any more. */
  async cancel(id: string, actor: string): Promise<string> {
    const { store, jobs } = this.#tools;
    const { record: drive } = this.#drives.get(id);
    if (drive.shredJob === null) throw conflict(drive, 'is not being shredded');
    if (this.#work.stop(drive.shredJob)) await jobs.wait(drive.shredJob, STOP_MS_MAX);
    await store.write((tx) => {
      if (findDrive(tx, id)?.shredJob === drive.shredJob) this.#release(tx, id);
      const title = `Shredding of drive ${called(drive)} was cancelled; what was overwritten stays overwritten.`;
      this.#drives.record(tx, drive, { title, actor, severity: 'notice' });
    });
    return id;
  }

  async #run(job: RunningJob<ShredArguments, Position>): Promise<JobOutcome> {
    const { store, engine } = this.#tools;
    const { drive } = job.arguments;
    const record = store.read((db) => findDrive(db, drive));
    if (record?.shredJob !== job.id) return { outcome: 'done' };
    const ended = await this.#work.run(job, {
      note: `Shredding ${drive}`,
      work: (from, work) => partOf(engine, 'hardware').shredDrive(record.uuid, from, work),
    });
    if (ended.how === 'put-off') return ended.outcome;
    if (ended.how === 'stopped') return { outcome: 'done', finish: (tx) => this.#release(tx, drive) };
    if (ended.how === 'done') return { outcome: 'done', finish: (tx) => this.#done(tx, record) };
    const { reason } = ended;
    return { outcome: 'failed', reason, finish: (tx) => this.#failed(tx, drive, reason) };
  }

  #release(tx: Tx, drive: string): void {
    updateDrive(tx, drive, { shredJob: null }, this.#tools.clock.now());
  }

  #done(tx: Tx, drive: DriveRecord): void {
    updateDrive(tx, drive.name, { shredJob: null, isFailed: false }, this.#tools.clock.now());
    const title = `Drive ${called(drive)} was shredded; its data is gone for good.`;
    this.#drives.record(tx, drive, { title, severity: 'notice' });
  }

  #failed(tx: Tx, drive: string, reason: string): void {
    const record = findDrive(tx, drive);
    if (!record) return;
    updateDrive(tx, drive, { shredJob: null, isFailed: true }, this.#tools.clock.now());
    const title = `Drive ${called(record)} could not be shredded: ${reason}`;
    this.#drives.record(tx, record, { title, severity: 'error' });
  }
}
