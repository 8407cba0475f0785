import type { JobOutcome, RunningJob } from '@granary/kernel';
import type { Work } from './engine/work.ts';
import { EngineError, isEngineError } from './engine/errors.ts';

/** Where a job goes on after a restart, as a fraction of the whole. */
export interface Position {
  readonly position: number;
}

type Ended<T> =
  | { readonly how: 'done'; readonly result: T }
  | { readonly how: 'stopped'; readonly position: number }
  | { readonly how: 'failed'; readonly reason: string }
  | { readonly how: 'put-off'; readonly outcome: JobOutcome };

interface LongWorkOptions<T> {
  readonly note: string;
  /** Where to begin, unless the job was begun before. */
  readonly from?: number;
  readonly work: (from: number, work: Work) => Promise<T>;
}

const RETRY_MS = 1_000;

/** Work of the engine that takes long: a job runs it and saves its progress, and it can be stopped. */
export class LongWork {
  readonly #running = new Map<number, AbortController>();
  readonly #stopped = new Set<number>();

  /** True when the job is at work and ends soon; false when it is not, and will end at once when its turn comes. */
  stop(jobId: number): boolean {
    this.#stopped.add(jobId);
    const controller = this.#running.get(jobId);
    controller?.abort();
    return controller !== undefined;
  }

  async run<T>(job: RunningJob<unknown, Position>, options: LongWorkOptions<T>): Promise<Ended<T>> {
    const from = job.checkpoint?.position ?? options.from ?? 0;
    const saver = new Saver(job, options.note, from);
    const controller = new AbortController();
    this.#running.set(job.id, controller);
    if (this.#stopped.has(job.id)) controller.abort();
    try {
      if (controller.signal.aborted) return { how: 'stopped', position: from };
      const signal = AbortSignal.any([controller.signal, job.signal]);
      const result = await options.work(from, { signal, onProgress: (fraction) => saver.record(fraction) });
      return { how: 'done', result };
    } catch (error) {
      if (controller.signal.aborted) return { how: 'stopped', position: saver.position };
      return await this.#classify(job, saver, error);
    } finally {
      await saver.whenSaved();
      this.#running.delete(job.id);
      this.#stopped.delete(job.id);
    }
  }

  async #classify(job: RunningJob, saver: Saver, error: unknown): Promise<Ended<never>> {
    if (job.signal.aborted || isEngineError(error, 'interrupted')) {
      await saver.whenSaved();
      await saver.save();
      const afterMs = job.signal.aborted ? 0 : RETRY_MS;
      return { how: 'put-off', outcome: { outcome: 'retry', afterMs, reason: 'It goes on soon.' } };
    }
    if (error instanceof EngineError) return { how: 'failed', reason: error.message };
    throw error;
  }
}

/** Saves each percent, one after the other, and never faster than the disk takes them. */
class Saver {
  readonly #job: RunningJob<unknown, Position>;
  readonly #note: string;
  #position: number;
  #savedPercent: number;
  #saving: Promise<void> | undefined;

  constructor(job: RunningJob<unknown, Position>, note: string, position: number) {
    this.#job = job;
    this.#note = note;
    this.#position = position;
    this.#savedPercent = Math.floor(position * 100);
  }

  get position(): number {
    return this.#position;
  }

  record(fraction: number): void {
    this.#position = fraction;
    if (Math.floor(fraction * 100) > this.#savedPercent) void this.save();
  }

  /** What cannot be saved is done again after a restart. */
  save(): Promise<void> {
    this.#saving ??= this.#save().finally(() => (this.#saving = undefined));
    return this.#saving;
  }

  async whenSaved(): Promise<void> {
    await this.#saving;
  }

  async #save(): Promise<void> {
    const position = this.#position;
    this.#savedPercent = Math.floor(position * 100);
    await this.#job.save(position * 100, this.#note, { position }).catch(() => undefined);
  }
}
