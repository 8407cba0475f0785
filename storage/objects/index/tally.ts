import type { Transaction } from '@granary/kernel/sqlite';
import type { Place } from '../records.ts';
import { advance } from './stored.ts';

/** What one change adds to the counters of a bucket. Negative to subtract. */
export interface Step {
  readonly bucket: number;
  readonly account: string;
  readonly policy: number;
  readonly objects: number;
  readonly bytes: number;
  /** Buckets made or gone. */
  readonly buckets: number;
  readonly at: number;
}

/**
 * Counters that every change moves: written once for all changes of a transaction instead of once for each. A change
 * that may be undone alone has a tally of its own and gives it to that of its transaction when it went well.
 */
export class Tally {
  readonly #steps: Step[] = [];
  readonly #live = new Map<number, Map<number, number>>();
  readonly #marked = new Set<number>();
  readonly #hidden = new Map<number, number>();

  step(step: Step): void {
    this.#steps.push(step);
  }

  /** Objects of a bucket that something newer hides since; negative when it hides them no more. */
  hide(bucket: number, objects: number): void {
    this.#hidden.set(bucket, (this.#hidden.get(bucket) ?? 0) + objects);
  }

  /** Bytes that came to life, or died, at a place. */
  live(place: Place, bytes: number): void {
    this.#liveIn(place.drive, place.segment, bytes);
  }

  /** Has pieces that are missing or not where the ring wants them. */
  mark(partition: number): void {
    this.#marked.add(partition);
  }

  add(other: Tally): void {
    this.#steps.push(...other.#steps);
    for (const [drive, segments] of other.#live) {
      for (const [segment, bytes] of segments) this.#liveIn(drive, segment, bytes);
    }
    for (const partition of other.#marked) this.#marked.add(partition);
    for (const [bucket, objects] of other.#hidden) this.hide(bucket, objects);
  }

  /** Writes all counters and resets them. `mark` is the number that marked partitions get. */
  flush(db: Transaction, mark: number): void {
    this.#flushBuckets(db);
    this.#flushUsage(db);
    for (const [drive, segments] of this.#live) {
      for (const [segment, bytes] of segments) addLive(db, drive, segment, bytes);
    }
    for (const partition of this.#marked) {
      db.run('INSERT INTO partitions VALUES (?1, ?2) ON CONFLICT DO UPDATE SET marked = ?2', partition, mark);
    }
    this.clear();
  }

  clear(): void {
    this.#steps.length = 0;
    this.#live.clear();
    this.#marked.clear();
    this.#hidden.clear();
  }

  #flushBuckets(db: Transaction): void {
    const sums = new Map<number, { objects: number; bytes: number }>();
    for (const { bucket, objects, bytes } of this.#steps) {
      const sum = sums.get(bucket);
      if (!sum) sums.set(bucket, { objects, bytes });
      else {
        sum.objects += objects;
        sum.bytes += bytes;
      }
    }
    for (const [bucket, { objects, bytes }] of sums) {
      if (objects === 0 && bytes === 0) continue;
      db.run('UPDATE buckets SET objects = objects + ?, bytes = bytes + ? WHERE id = ?', objects, bytes, bucket);
    }
    for (const [bucket, objects] of this.#hidden) {
      if (objects !== 0) db.run('UPDATE buckets SET noncurrent = noncurrent + ? WHERE id = ?', objects, bucket);
    }
  }

  #flushUsage(db: Transaction): void {
    const byOwner = Map.groupBy(this.#steps, ({ account, policy }) => `${account}/${policy}`);
    for (const steps of byOwner.values()) advance(db, steps);
  }

  #liveIn(drive: number, segment: number, bytes: number): void {
    let segments = this.#live.get(drive);
    if (!segments) this.#live.set(drive, (segments = new Map<number, number>()));
    segments.set(segment, (segments.get(segment) ?? 0) + bytes);
  }
}

/** A segment in which nothing lives has no row. */
function addLive(db: Transaction, drive: number, segment: number, bytes: number): void {
  if (bytes === 0) return;
  db.run('INSERT INTO segments VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET live = live + ?3', drive, segment, bytes);
  if (bytes < 0) db.run('DELETE FROM segments WHERE drive = ? AND segment = ? AND live = 0', drive, segment);
}
