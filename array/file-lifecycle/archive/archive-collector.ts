import { setImmediate as turn } from 'node:timers/promises';
import type { JobOutcome, RunningJob, Tx } from '@granary/kernel';
import { RemoteRefusal } from '@granary/protocols/s3/client';
import type { DestinationBuckets } from '../../object-storage-destinations/buckets.ts';
import type { ArrayTools } from '../../tools.ts';
import { findKeyBehind, findRemovable, hasObjects, removeObject } from './repository.ts';
import type { ArchivedObject } from './archived-object.ts';

const KIND = 'lifecycle-sweep';
const SUBJECT = 'lifecycle-objects';
/** Looked at in one go: whatever else the array does waits as long. */
const OBJECTS_AT_ONCE = 250;
const RETRY_MS = 600_000;
const TRIES_MAX = 10;

interface Trouble {
  /** The first one. */
  reason: Error | undefined;
  /** Destinations. */
  readonly unreachable: Set<string>;
}

/** Removes objects that no stub can need any more: a job, so that what a crash cuts off goes on. */
export class ArchiveCollector {
  readonly #tools: ArrayTools;
  readonly #buckets: DestinationBuckets;
  /** There may be more behind a sweep that is under way, where it has been already. */
  #isWanted = false;

  constructor(tools: ArrayTools, buckets: DestinationBuckets) {
    this.#tools = tools;
    this.#buckets = buckets;
    tools.jobs.register(KIND, (job) => this.#run(job));
  }

  /** In the transaction that may have made some of them removable. */
  start(tx: Tx): void {
    const { jobs } = this.#tools;
    this.#isWanted = jobs.isBusy(tx, SUBJECT);
    if (!this.#isWanted && hasObjects(tx)) jobs.enqueue(tx, KIND, SUBJECT, {});
  }

  async #run({ signal, attempts }: RunningJob): Promise<JobOutcome> {
    const { store, log } = this.#tools;
    const trouble: Trouble = { reason: undefined, unreachable: new Set() };
    for (let after: string | undefined = ''; after !== undefined;) {
      if (signal.aborted) return { outcome: 'retry', afterMs: 0, reason: 'the array stops' };
      const from: string = after;
      after = store.read((db) => findKeyBehind(db, from, OBJECTS_AT_ONCE));
      const objects = store.read((db) => findRemovable(db, from, after));
      if (objects.length > 0) await this.#removeAll(objects, trouble, signal);
      else await turn();
    }
    const finish = (tx: Tx) => {
      if (this.#isWanted) this.start(tx);
    };
    if (trouble.reason === undefined) return { outcome: 'done', finish };
    log.warn({ error: trouble.reason }, 'objects of archived files could not be removed');
    const reason = String(trouble.reason);
    // What is left is tried again after the next scan.
    if (attempts >= TRIES_MAX) return { outcome: 'failed', reason };
    return { outcome: 'retry', afterMs: RETRY_MS, reason };
  }

  /** A destination that cannot be reached is not tried for each of its objects. Those behind it are removed all the same. */
  async #removeAll(objects: readonly ArchivedObject[], trouble: Trouble, signal: AbortSignal): Promise<void> {
    const removed: ArchivedObject[] = [];
    for (const object of objects) {
      if (signal.aborted) break;
      if (trouble.unreachable.has(object.destination)) continue;
      try {
        await this.#remove(object, signal);
        removed.push(object);
      } catch (error) {
        trouble.reason ??= error instanceof Error ? error : new Error(String(error));
        if (!(error instanceof RemoteRefusal)) trouble.unreachable.add(object.destination);
      }
    }
    await this.#tools.store.write((tx) => {
      for (const { key } of removed) removeObject(tx, key);
    });
  }

  async #remove({ key, upload, destination: reference }: ArchivedObject, signal: AbortSignal): Promise<void> {
    const destination = this.#buckets.find(reference);
    if (!destination) return;
    const bucket = await this.#buckets.open(destination, signal);
    if (upload !== null) await bucket.abortUpload(key, upload);
    await bucket.remove(key, {});
  }
}
