import type { JobOutcome, RunningJob, Submitted, Tx } from '@granary/kernel';
import { partOf } from '../engine/parts.ts';
import { LongWork, type Position } from '../long-work.ts';
import type { ArrayTools } from '../tools.ts';
import { answerWhenDone } from '../waiting.ts';
import { called } from '../wording.ts';
import { conflict, isFailed, refuseIfAway, refuseUnlessFree } from './drive.ts';
import { findDrive, updateDrive } from './repository.ts';
import type { DriveRecord } from './record.ts';
import type { DriveService } from './service.ts';

interface ShredArguments {
  readonly drive: string;
}

interface ShredRequest {
  readonly id: string;
  readonly force: boolean;
  readonly timeout: number;
}

const KIND = 'drive.shred';
const STOP_MS_MAX = 30_000;

/** Overwrites free drives, so that what they held is gone for good. */
export class DriveShredding {
  readonly #tools: ArrayTools;
  readonly #drives: DriveService;
  readonly #work = new LongWork();

  constructor(tools: ArrayTools, drives: DriveService) {
    this.#tools = tools;
    this.#drives = drives;
    tools.jobs.register<ShredArguments, Position>(
      KIND,
      (job) => this.#run(job),
      (tx, { drive }, reason) => this.#failed(tx, drive, reason),
    );
  }

  async start({ id, force, timeout }: ShredRequest, actor: string): Promise<string | Submitted> {
    const { store, jobs, clock } = this.#tools;
    const job = await store.write((tx) => {
      const drive = this.#drives.named(tx, id);
      const { record: row } = drive;
      refuseUnlessFree(drive);
      refuseIfAway(drive);
      if (isFailed(drive) && !force)
        throw conflict(row, 'has failed; put it back into service first, or use force=YES to try it as it is');
      const enqueued = jobs.enqueue(tx, KIND, `drive:${id}`, { drive: id } satisfies ShredArguments);
      updateDrive(tx, id, { shredJob: enqueued }, clock.now());
      this.#drives.record(tx, row, { title: `Drive ${called(row)} is being shredded.`, actor, severity: 'notice' });
      return enqueued;
    });
    return answerWhenDone(jobs, job, timeout, () => id);
  }

  /** The drive is free again when this resolves: nothing writes to it any more. */
  async cancel(id: string, actor: string): Promise<string> {
    const { store, jobs } = this.#tools;
    const { record: row } = this.#drives.get(id);
    if (row.shredJob === null) throw conflict(row, 'is not being shredded');
    if (this.#work.stop(row.shredJob)) await jobs.wait(row.shredJob, STOP_MS_MAX);
    await store.write((tx) => {
      if (findDrive(tx, id)?.shredJob === row.shredJob) this.#release(tx, id);
      const title = `Shredding of drive ${called(row)} was cancelled; what was overwritten stays overwritten.`;
      this.#drives.record(tx, row, { title, actor, severity: 'notice' });
    });
    return id;
  }

  async #run(job: RunningJob<ShredArguments, Position>): Promise<JobOutcome> {
    const { store, engine } = this.#tools;
    const { drive } = job.arguments;
    const row = store.read((db) => findDrive(db, drive));
    if (row?.shredJob !== job.id) return { outcome: 'done' };
    const ended = await this.#work.run(job, {
      note: `Shredding ${drive}`,
      work: (from, work) => partOf(engine, 'hardware').shredDrive(row.uuid, from, work),
    });
    if (ended.how === 'put-off') return ended.outcome;
    if (ended.how === 'stopped') return { outcome: 'done', finish: (tx) => this.#release(tx, drive) };
    if (ended.how === 'done') return { outcome: 'done', finish: (tx) => this.#done(tx, row) };
    const { reason } = ended;
    return { outcome: 'failed', reason, finish: (tx) => this.#failed(tx, drive, reason) };
  }

  #release(tx: Tx, drive: string): void {
    updateDrive(tx, drive, { shredJob: null }, this.#tools.clock.now());
  }

  #done(tx: Tx, row: DriveRecord): void {
    updateDrive(tx, row.name, { shredJob: null, isFailed: false }, this.#tools.clock.now());
    const title = `Drive ${called(row)} was shredded; its data is gone for good.`;
    this.#drives.record(tx, row, { title, severity: 'notice' });
  }

  #failed(tx: Tx, drive: string, reason: string): void {
    const row = findDrive(tx, drive);
    if (!row) return;
    updateDrive(tx, drive, { shredJob: null, isFailed: true }, this.#tools.clock.now());
    const title = `Drive ${called(row)} could not be shredded: ${reason}`;
    this.#drives.record(tx, row, { title, severity: 'error' });
  }
}
