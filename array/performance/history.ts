import type { Log, Store } from '@granary/kernel';
import { Ladder, oldestKept, type Changes } from './ladder.ts';
import { deleteBuckets, deleteBucketsBefore, findBuckets, putBucket } from './repository.ts';

interface Thing {
  readonly kind: string;
  readonly id: string;
  readonly ladder: Ladder;
  usedAt: number;
  cleanedAt: number;
}

interface HistoryOptions {
  readonly store: Store;
  readonly log: Log;
}

const BUCKETS_PER_WRITE_MAX = 500;
/** Series without requests and without I/O for this time are evicted from memory; they stay on disk. */
const FORGET_AFTER_S = 900;
const CLEAN_EVERY_S = 3600;

/** The measurements of everything: those in use in memory, all of them on disk as of the last `flush`. Times in seconds. */
export class PerformanceHistory {
  readonly #options: HistoryOptions;
  readonly #things = new Map<string, Thing>();

  constructor(options: HistoryOptions) {
    this.#options = options;
  }

  add(kind: string, id: string, sums: ArrayLike<number>, from: number, to: number): void {
    this.#thing(kind, id, to).ladder.add(sums, from, to);
  }

  windows(kind: string, id: string, end: number, seconds: number, count: number, now: number): Float64Array[] {
    return this.#thing(kind, id, now).ladder.windows(end, seconds, count, now);
  }

  /** For good; on disk too, by and by. */
  remove(kind: string, id: string): void {
    this.#things.delete(keyOf(kind, id));
    this.#options.store
      .write((tx) => deleteBuckets(tx, kind, id))
      .catch((error: unknown) => this.#options.log.warn({ error, kind, id }, 'measurements could not be removed'));
  }

  /** What does not get to the disk now is tried again at the next time. */
  async flush(now: number): Promise<void> {
    const changed = [...this.#things.values()].filter(({ ladder }) => ladder.hasChanges);
    const batches = batchesOf(changed.map((thing) => ({ thing, changes: thing.ladder.takeChanges() })));
    for (const batch of batches) {
      try {
        await this.#write(batch, now);
      } catch (error) {
        this.#options.log.warn({ error }, 'measurements could not be written');
        for (const { thing, changes } of batch) thing.ladder.putBack(changes);
      }
    }
    this.#evict(now);
  }

  async #write(batch: readonly Changed[], now: number): Promise<void> {
    await this.#options.store.write((tx) => {
      for (const { thing, changes } of batch) {
        const { kind, id } = thing;
        // Forgotten since.
        if (this.#things.get(keyOf(kind, id)) !== thing) continue;
        for (const bucket of changes.buckets) putBucket(tx, kind, id, bucket);
        if (now - thing.cleanedAt < CLEAN_EVERY_S) continue;
        for (const { step, bucket } of oldestKept(now)) deleteBucketsBefore(tx, kind, id, step, bucket);
        thing.cleanedAt = now;
      }
    });
  }

  #evict(now: number): void {
    for (const [key, { ladder, usedAt }] of this.#things)
      if (!ladder.hasChanges && (now - usedAt > FORGET_AFTER_S || ladder.isEmptyAt(now))) this.#things.delete(key);
  }

  #thing(kind: string, id: string, now: number): Thing {
    const key = keyOf(kind, id);
    let thing = this.#things.get(key);
    if (!thing) {
      thing = { kind, id, ladder: new Ladder(), usedAt: now, cleanedAt: -Infinity };
      thing.ladder.restore(
        this.#options.store.read((db) => findBuckets(db, kind, id)),
        now,
      );
      this.#things.set(key, thing);
    }
    thing.usedAt = now;
    return thing;
  }
}

interface Changed {
  readonly thing: Thing;
  readonly changes: Changes;
}

function keyOf(kind: string, id: string): string {
  return `${kind} ${id}`;
}

/** The most buckets in one transaction, so that other writes do not wait long. */
function batchesOf(changed: readonly Changed[]): Changed[][] {
  const batches: Changed[][] = [];
  let room = 0;
  for (const one of changed) {
    const { length } = one.changes.buckets;
    if (room < length) {
      batches.push([]);
      room = BUCKETS_PER_WRITE_MAX;
    }
    batches.at(-1)?.push(one);
    room -= length;
  }
  return batches;
}
