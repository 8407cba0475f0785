import type { JobOutcome, RunningJob, Tx } from '@granary/kernel';
import type { Buckets } from '../../object-storage-destinations/buckets.ts';
import type { ArrayTools } from '../../tools.ts';
import { findRemovable, removeObject, type ObjectRow } from './repository.ts';

const KIND = 'lifecycle-sweep';
const SUBJECT = 'lifecycle-objects';
const BATCH = 100;
const RETRY_MS = 600_000;
const TRIES_MAX = 10;

/** Removes objects that no stub can need any more: a job, so that what a crash cuts off goes on. */
export class Sweeping {
  readonly #tools: ArrayTools;
  readonly #buckets: Buckets;

  constructor(tools: ArrayTools, buckets: Buckets) {
    this.#tools = tools;
    this.#buckets = buckets;
    tools.jobs.register(KIND, (job) => this.#run(job));
  }

  /** In the transaction that may have made some of them removable. */
  start(tx: Tx): void {
    const { jobs } = this.#tools;
    if (findRemovable(tx, 1).length > 0 && !jobs.isBusy(tx, SUBJECT)) jobs.enqueue(tx, KIND, SUBJECT, {});
  }

  async #run({ signal, attempts }: RunningJob): Promise<JobOutcome> {
    const { store, log } = this.#tools;
    for (;;) {
      if (signal.aborted) return { outcome: 'retry', afterMs: 0, reason: 'the array stops' };
      const objects = store.read((db) => findRemovable(db, BATCH));
      if (objects.length === 0) return { outcome: 'done' };
      const removed: ObjectRow[] = [];
      let failure: unknown;
      for (const object of objects) {
        try {
          signal.throwIfAborted();
          await this.#remove(object, signal);
          removed.push(object);
        } catch (error) {
          failure = error;
        }
      }
      await store.write((tx) => {
        for (const { key } of removed) removeObject(tx, key);
      });
      if (removed.length > 0) continue;
      log.warn({ error: failure }, 'objects of archived files could not be removed');
      // What is left is tried again after the next scan.
      if (attempts >= TRIES_MAX) return { outcome: 'failed', reason: String(failure) };
      return { outcome: 'retry', afterMs: RETRY_MS, reason: String(failure) };
    }
  }

  async #remove({ key, upload, destination: reference }: ObjectRow, signal: AbortSignal): Promise<void> {
    const destination = this.#buckets.find(reference);
    if (!destination) return;
    const bucket = await this.#buckets.open(destination, signal);
    if (upload !== null) await bucket.abortUpload(key, upload);
    await bucket.remove(key, {});
  }
}
