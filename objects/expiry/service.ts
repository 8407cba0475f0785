import { hash } from 'node:crypto';
import { setImmediate as yieldTurn } from 'node:timers/promises';
import type { Clock, EventLog, Log, Store } from '@granary/kernel';
import { ObjectError, type Arguments, type Bucket, type Commit } from '@granary/storage/object-store';
import type { ObjectCatalogue } from '../engine/engine.ts';
import { counted } from '@granary/contract';
import { findWalk, deleteWalksBefore, saveWalk } from './repository.ts';
import { START, stepOf, type Doomed, type Position } from './walk.ts';

interface ExpiryOptions {
  readonly store: Store;
  readonly events: EventLog;
  readonly clock: Clock;
  readonly log: Log;
  readonly commit: Commit;
  readonly engine: {
    readonly catalogue: Pick<ObjectCatalogue, 'expired' | 'bucketsAging' | 'listVersions' | 'uploads'>;
  };
}

/** What a run removed, by what it was. */
type Removed = Record<Doomed['kind'] | 'expired', number>;

const POLL_MS = 30_000;
const STEP_LENGTH = 500;
const BUCKETS_AT_ONCE = 100;
const DAY_MS = 86_400_000;
const WALKS_KEPT_DAYS = 7;

/** No user and no address is behind it. */
const RULE = { event: 'LifecycleExpiration:Delete', user: 's3.amazonaws.com', ip: '', requestId: '' } as const;

/** Another caller was faster, or a lock keeps the version: no reason to stop. */
const EXPECTED = new Set(['precondition-failed', 'object-locked', 'no-such-bucket', 'no-such-upload', 'no-such-key']);

/**
 * Removes what is over its time: objects with a time of their own (Swift's X-Delete-At) as it comes, and what the
 * lifecycle rules of buckets mean once a day, or sooner when the rules change. How far a bucket was walked is kept, so
 * that a restart continues the walk.
 */
export class ExpiryService {
  readonly #options: ExpiryOptions;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #stopped = false;

  constructor(options: ExpiryOptions) {
    this.#options = options;
  }

  start(): void {
    this.#timer = setInterval(() => void this.run(), POLL_MS);
    this.#timer.unref();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#timer);
    await this.#running;
  }

  /** One look at everything; those who ask while one runs get that one. */
  run(): Promise<void> {
    this.#running ??= this.#runOnce().finally(() => (this.#running = undefined));
    return this.#running;
  }

  async #runOnce(): Promise<void> {
    const removed: Removed = { current: 0, noncurrent: 0, marker: 0, upload: 0, expired: 0 };
    try {
      await this.#removeExpired(removed);
      await this.#walkBuckets(removed);
    } catch (error) {
      if (!this.#stopped) this.#options.log.error({ error }, 'what is over its time could not be removed');
    }
    await this.#recordEvents(removed).catch((error: unknown) => {
      this.#options.log.error({ error }, 'an event could not be recorded');
    });
  }

  async #removeExpired(removed: Removed): Promise<void> {
    const { clock, commit, engine } = this.#options;
    for (;;) {
      const at = clock.now();
      const found = engine.catalogue.expired(at, STEP_LENGTH);
      const gone = await this.#all(
        found.map(({ bucket, key, sequence: ifSequence }) =>
          commit('deleteObject', { bucket, key, conditions: { ifSequence }, cause: RULE, at }),
        ),
      );
      removed.expired += gone;
      if (this.#stopped || gone === 0 || found.length < STEP_LENGTH) return;
      await yieldTurn();
    }
  }

  async #walkBuckets(removed: Removed): Promise<void> {
    const { catalogue } = this.#options.engine;
    let after = 0;
    for (;;) {
      const buckets = catalogue.bucketsAging(after, BUCKETS_AT_ONCE);
      for (const bucket of buckets) await this.#walk(bucket, removed);
      after = buckets.at(-1)?.id ?? after;
      if (this.#stopped || buckets.length < BUCKETS_AT_ONCE) return;
      await yieldTurn();
    }
  }

  async #walk(bucket: Bucket, removed: Removed): Promise<void> {
    const { store, clock, engine } = this.#options;
    const day = Math.floor(clock.now() / DAY_MS);
    const rules = hash('sha256', JSON.stringify(bucket.settings.lifecycle));
    const before = store.read((db) => findWalk(db, 'expiry', bucket.id));
    const isToday = before?.day === day && before.rules === rules;
    let position: Position | null = START;
    if (isToday) position = before.position === null ? null : (JSON.parse(before.position) as Position);
    while (position && !this.#stopped) {
      const { doomed, next } = stepOf(engine.catalogue, bucket, position, clock.now(), STEP_LENGTH);
      await this.#remove(bucket, doomed, removed);
      await store.write((tx) => {
        saveWalk(tx, { work: 'expiry', bucket: bucket.id, day, rules, position: next && JSON.stringify(next) });
        if (next === null) deleteWalksBefore(tx, day - WALKS_KEPT_DAYS);
      });
      position = next;
      await yieldTurn();
    }
  }

  async #remove(bucket: Bucket, doomed: readonly Doomed[], removed: Removed): Promise<void> {
    for (const kind of ['current', 'noncurrent', 'marker', 'upload'] as const) {
      const those = doomed.filter((one) => one.kind === kind);
      removed[kind] += await this.#all(those.map((one) => this.#removeOne(bucket, one)));
    }
  }

  #removeOne({ id: bucket }: Bucket, doomed: Doomed): Promise<unknown> {
    const { clock, commit } = this.#options;
    const at = clock.now();
    if (doomed.kind === 'upload') {
      const { id: upload, key } = doomed.upload;
      return commit('abortUpload', { upload, bucket, key, at });
    }
    const { key, versionId, sequence: ifSequence } = doomed.version;
    // What rules remove here stays where it was replicated to, as with S3: rules of its own hold there.
    const conditions = { ifSequence };
    const args: Arguments<'deleteObject'> = { bucket, key, unreplicated: true, conditions, cause: RULE, at };
    if (doomed.kind === 'current') return commit('deleteObject', args);
    if (doomed.kind === 'marker') return commit('deleteObject', { ...args, versionId });
    return commit('deleteObject', { ...args, versionId, conditions: { ifSequence, ifNoncurrent: true } });
  }

  /** How many of them came about. */
  async #all(changes: readonly Promise<unknown>[]): Promise<number> {
    const ends = await Promise.allSettled(changes);
    const failed = ends.filter((end) => end.status === 'rejected').map(({ reason }) => reason as Error);
    const unexpected = failed.find((reason) => !(reason instanceof ObjectError && EXPECTED.has(reason.code)));
    if (unexpected !== undefined) throw unexpected;
    return ends.length - failed.length;
  }

  async #recordEvents({ current, noncurrent, marker, upload, expired }: Removed): Promise<void> {
    const { store, events } = this.#options;
    const parts = [
      current > 0 && counted(current, 'objects'),
      noncurrent > 0 && counted(noncurrent, 'older versions'),
      marker > 0 && counted(marker, 'delete markers'),
      upload > 0 && counted(upload, 'unfinished uploads'),
    ].filter((part) => part !== false);
    const titles = [
      parts.length > 0 && `Lifecycle rules removed ${parts.join(', ')}.`,
      expired > 0 && `Objects whose time was over were removed: ${expired}.`,
    ].filter((title) => title !== false);
    if (titles.length === 0) return;
    await store.write((tx) => {
      for (const title of titles) events.record(tx, { title, subject: 'expiry:array' });
    });
  }
}
