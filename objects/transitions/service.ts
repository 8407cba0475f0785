import { hash } from 'node:crypto';
import type { Clock, EventLog, Log, Store } from '@granary/kernel';
import { ObjectError, type Bucket } from '@granary/storage/object-store';
import type { ObjectCatalogue, ObjectEngine } from '../engine/engine.ts';
import type { MoveOrder } from '../engine/transitions/order.ts';
import type { LastEntry } from '../expiry/entries.ts';
import { findWalk, saveWalk } from '../expiry/repository.ts';
import { counted } from '@granary/contract';
import { stepOf } from './walk.ts';

interface TransitionOptions {
  readonly store: Store;
  readonly events: EventLog;
  readonly clock: Clock;
  readonly log: Log;
  readonly engine: Pick<ObjectEngine, 'move'> & {
    readonly catalogue: Pick<ObjectCatalogue, 'bucketsAging' | 'bucketById' | 'listVersions'>;
  };
}

interface Moved {
  objects: number;
  failed: number;
  /** Of the last that failed. */
  reason: string;
}

const POLL_MS = 30_000;
const STEP_LENGTH = 100;
const MOVED_AT_ONCE = 4;
const BUCKETS_AT_ONCE = 100;
const DAY_MS = 86_400_000;
/** What could not be moved is tried again after this. */
const AGAIN_MS = 3_600_000;

/**
 * Moves objects to other storage policies as the lifecycle rules of their buckets say, once a day, or sooner when the rules
 * change. Buckets take turns, a stretch each, so that a large one does not keep others waiting. How far a bucket was
 * walked is kept when the stretch is done; a move that is done again finds nothing to do.
 */
export class TransitionService {
  readonly #options: TransitionOptions;
  /** When buckets with objects that could not be moved are walked again. */
  readonly #again = new Map<number, number>();
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  /** Ends the waiting for the moves that are under way. */
  #endMoves: () => void = () => undefined;
  #stopped = false;

  constructor(options: TransitionOptions) {
    this.#options = options;
  }

  start(): void {
    this.#timer = setInterval(() => void this.run(), POLL_MS);
    this.#timer.unref();
    void this.run();
  }

  /** Moves under way are not waited for: they are begun anew after the next start. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#endMoves();
    clearInterval(this.#timer);
    await this.#running;
  }

  /** One look at everything; those who ask while one runs get that one. */
  run(): Promise<void> {
    this.#running ??= this.#runOnce().finally(() => (this.#running = undefined));
    return this.#running;
  }

  async #runOnce(): Promise<void> {
    const moved: Moved = { objects: 0, failed: 0, reason: '' };
    try {
      let goesOn = true;
      while (goesOn && !this.#stopped) {
        goesOn = false;
        // Looked up anew: rules of other buckets may have come while a large one was walked.
        for (const bucket of this.#bucketsWithMoves()) if (await this.#step(bucket, moved)) goesOn = true;
      }
    } catch (error) {
      if (!this.#stopped) this.#options.log.error({ error }, 'objects could not be moved between storage policies');
    }
    await this.#recordEvents(moved).catch((error: unknown) => {
      this.#options.log.error({ error }, 'an event could not be recorded');
    });
  }

  #bucketsWithMoves(): number[] {
    const { catalogue } = this.#options.engine;
    const found: number[] = [];
    let after = 0;
    for (;;) {
      const buckets = catalogue.bucketsAging(after, BUCKETS_AT_ONCE);
      found.push(...buckets.filter(hasMoves).map(({ id }) => id));
      after = buckets.at(-1)?.id ?? after;
      if (buckets.length < BUCKETS_AT_ONCE) return found;
    }
  }

  /** One stretch of the walk over a bucket; whether it goes on. */
  async #step(id: number, moved: Moved): Promise<boolean> {
    const { store, clock, engine } = this.#options;
    const bucket = engine.catalogue.bucketById(id);
    if (!bucket || !hasMoves(bucket)) return false;
    const now = clock.now();
    const day = Math.floor(now / DAY_MS);
    const rules = hash('sha256', JSON.stringify(bucket.settings.lifecycle));
    const position = this.#positionOf(id, day, rules, now);
    if (position === undefined) return false;
    const { moves, next } = stepOf(engine.catalogue, bucket, position, now, STEP_LENGTH);
    if (!this.#stopped) await this.#moveAll(moves, moved);
    // What was cut off is found again from where the stretch began.
    if (this.#stopped) return false;
    await store.write((tx) => {
      saveWalk(tx, { work: 'transitions', bucket: id, day, rules, position: next && JSON.stringify(next) });
    });
    return next !== null;
  }

  /** Null at the beginning; undefined when the walk of today is done. */
  #positionOf(bucket: number, day: number, rules: string, now: number): LastEntry | null | undefined {
    const before = this.#options.store.read((db) => findWalk(db, 'transitions', bucket));
    if (before?.day !== day || before.rules !== rules) return null;
    if (before.position !== null) return JSON.parse(before.position) as LastEntry;
    if ((this.#again.get(bucket) ?? Infinity) > now) return undefined;
    this.#again.delete(bucket);
    return null;
  }

  async #moveAll(moves: readonly MoveOrder[], moved: Moved): Promise<void> {
    const waiting = [...moves];
    // One for each stretch: what waits for a promise that lasts is kept as long as that promise.
    const ended = Promise.withResolvers<undefined>();
    this.#endMoves = () => ended.resolve(undefined);
    const lane = async (): Promise<void> => {
      for (let order = waiting.shift(); order && !this.#stopped; order = waiting.shift())
        await this.#move(order, moved);
    };
    await Promise.race([Promise.all(Array.from({ length: MOVED_AT_ONCE }, lane)), ended.promise]);
  }

  async #move(order: MoveOrder, moved: Moved): Promise<void> {
    const { engine, clock, log } = this.#options;
    try {
      if (await engine.move(order)) moved.objects += 1;
    } catch (error) {
      if (this.#stopped) return;
      const { bucket, policy } = order;
      if (!(error instanceof ObjectError)) log.error({ error, bucket, policy }, 'an object could not be moved');
      moved.failed += 1;
      moved.reason = error instanceof ObjectError ? error.message : 'see the log of the array.';
      this.#again.set(bucket, clock.now() + AGAIN_MS);
    }
  }

  async #recordEvents({ objects, failed, reason }: Moved): Promise<void> {
    const { store, events } = this.#options;
    if (objects + failed === 0) return;
    const subject = 'transitions:array';
    await store.write((tx) => {
      const moved = `Lifecycle rules moved ${counted(objects, 'objects')} to other storage policies.`;
      if (objects > 0) events.record(tx, { title: moved, subject });
      const left = `${counted(failed, 'objects')} could not be moved to another storage policy, and will be tried again in an hour: ${reason}`;
      if (failed > 0) events.record(tx, { title: left, subject, severity: 'warning' });
    });
  }
}

function hasMoves({ settings: { lifecycle = [] } }: Bucket): boolean {
  return lifecycle.some(
    ({ enabled, transitions, noncurrentTransitions }) =>
      enabled && (transitions !== undefined || noncurrentTransitions !== undefined),
  );
}
