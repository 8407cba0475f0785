import type { OutputOf } from '@granary/contract';
import { peerApi } from '@granary/contract/array';
import { connectionReason, fail, type Tx } from '@granary/kernel';
import type { PoolService } from '../pools/service.ts';
import { PeerRefusal, type PeerLink } from '../remote-arrays/peer-link.ts';
import type { RemoteArrayService } from '../remote-arrays/service.ts';
import { findPolicy, findRule } from '../snapshot-policies/repository.ts';
import type { SnapshotPolicy } from '../snapshot-policies/policy.ts';
import { MANUAL } from '../snapshot-policies/schedule.ts';
import { findNextByHand, findNextOfMirror, findSnapshot } from '../snapshots/repository.ts';
import type { SnapshotInPlace } from '../snapshots/snapshot.ts';
import type { SnapshotService } from '../snapshots/service.ts';
import type { ArrayTools } from '../tools.ts';
import type { VolumeService } from '../volumes/service.ts';
import { FrameSize } from './frame-size.ts';
import { RateLimiter } from './rate-limiter.ts';
import { findSource, removeSource, updateSource } from './repository.ts';
import type { SourceMirror } from './mirror.ts';
import { ReplicationRound, type Progress } from './replication-round.ts';
import type { TransferSlots } from './transfer-slots.ts';
import { describeSource } from './source-description.ts';

type PeerMirror = OutputOf<typeof peers.getMirror>['mirror'];

export interface SenderTools extends ArrayTools {
  readonly remoteArrays: RemoteArrayService;
  readonly pools: PoolService;
  readonly volumes: VolumeService;
  readonly snapshots: SnapshotService;
  /** How many may ship at once. */
  readonly slots: TransferSlots;
  /** In the transaction that ends a mirror which the other side has broken. */
  readonly ended: (tx: Tx, mirror: SourceMirror) => void;
}

const LOOK_EVERY_MS = 30_000;
const RETRY_MS_MIN = 1_000;
const RETRY_MS_MAX = 15_000;
const { peers } = peerApi.groups;

/**
 * Carries one mirror's snapshots over, one after the other, for as long as the mirror lives. Where the other side stands
 * is asked, not remembered: whatever was cut off, on either side or between, goes on from there.
 */
export class ReplicationSender {
  readonly #job: string;
  readonly #tools: SenderTools;
  readonly #pace = new RateLimiter();
  readonly #size = new FrameSize();
  readonly #stopping = new AbortController();
  #trip = new AbortController();
  #problem: string | undefined;
  #running: Promise<void> | undefined;
  #isWanted = false;
  #retryMs = RETRY_MS_MIN;
  #wake: (() => void) | undefined;

  constructor(job: string, tools: SenderTools) {
    this.#job = job;
    this.#tools = tools;
  }

  /** Why it does not get on at present. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Resolves when nothing is left to be done for good. */
  get ended(): Promise<void> | undefined {
    return this.#running;
  }

  /** There may be something to do; it starts, or looks again. */
  wake(): void {
    if (this.#stopping.signal.aborted) return;
    this.#isWanted = true;
    this.#wake?.();
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
      if (this.#isWanted) this.wake();
    });
  }

  /** Leaves off what it is doing, and looks again what is wanted. */
  interrupt(): void {
    this.#trip.abort();
    this.wake();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#trip.abort();
    this.#wake?.();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      this.#isWanted = false;
      this.#trip = new AbortController();
      const signal = AbortSignal.any([this.#trip.signal, this.#stopping.signal]);
      try {
        const mirror = this.#tools.store.read((db) => findSource(db, this.#job));
        if (!mirror || !(await this.#advance(mirror, signal))) return;
        this.#setProblem(undefined);
        this.#retryMs = RETRY_MS_MIN;
        await this.#rest(LOOK_EVERY_MS);
      } catch (error) {
        if (signal.aborted) continue;
        this.#setProblem(error);
        await this.#rest(this.#retryMs);
        this.#retryMs = Math.min(this.#retryMs * 2, RETRY_MS_MAX);
      }
    }
  }

  /** False when nothing is left to be done for good. */
  async #advance(source: SourceMirror, signal: AbortSignal): Promise<boolean> {
    const { remoteArrays } = this.#tools;
    if (source.state === 'creating' || (source.state === 'broken' && source.isPeerInformed)) return false;
    const link = remoteArrays.linkTo(remoteArrays.get(source.remoteArray));
    if (source.state === 'abandoned') return this.#abandon(source, link, signal);
    if (source.state === 'broken') return this.#announceBreak(source, link, signal);
    const is_paused = source.state === 'paused';
    const mirror = await this.#ask(source, link.call(peers.getMirror, { job: source.name, is_paused }, { signal }));
    if (!mirror) return false;
    if (is_paused) return true;
    let present = await this.#agree(source, mirror);
    while (present.state === 'active') {
      const snapshot = this.#nextSnapshot(present);
      if (!snapshot) return true;
      this.#setProblem(undefined);
      await this.#inTurn(present, signal, () => this.#ship(present, snapshot, link, signal));
      const after = this.#tools.store.read((db) => findSource(db, this.#job));
      if (!after) return false;
      present = after;
    }
    return true;
  }

  /** A rate-limited round takes long and uses little: it does not occupy a transfer slot. */
  #inTurn(mirror: SourceMirror, signal: AbortSignal, work: () => Promise<void>): Promise<void> {
    return mirror.rateLimitKb > 0 ? work() : this.#tools.slots.use(signal, work);
  }

  /** What the destination has is the truth. */
  async #agree(mirror: SourceMirror, { base }: PeerMirror): Promise<SourceMirror> {
    if (base === mirror.base) return mirror;
    const snapshot = base === null ? undefined : this.#tools.store.read((db) => findSnapshot(db, base));
    const isOurs = snapshot?.volume === mirror.volume;
    if (!isOurs && base !== null) {
      this.#tools.log.warn({ mirror: mirror.name, base }, 'the destination of a mirror has nothing in common with it');
    }
    await this.#change({
      base: isOurs ? base : null,
      baseTakenAt: isOurs ? snapshot.createdAt : null,
      ...(mirror.round === base && { round: null, position: 0 }),
    });
    return this.#mirror();
  }

  #nextSnapshot(mirror: SourceMirror): SnapshotInPlace | undefined {
    const { name, volume, base, round } = mirror;
    return this.#tools.store.read((db) => {
      const current = round === null ? undefined : findSnapshot(db, round);
      if (current?.volume === volume) return current;
      const next = [
        findNextOfMirror(db, name, base),
        this.#isByHand(mirror) ? findNextByHand(db, volume, base) : undefined,
      ];
      const [first] = next.filter((one) => one !== undefined).toSorted();
      return first === undefined ? undefined : findSnapshot(db, first);
    });
  }

  /** By a policy without a schedule, it is those that users take that are shipped. */
  #isByHand(mirror: SourceMirror): boolean {
    return this.#policyOf(mirror)?.schedule === MANUAL;
  }

  async #ship(mirror: SourceMirror, snapshot: SnapshotInPlace, link: PeerLink, signal: AbortSignal): Promise<void> {
    const { engine, snapshots } = this.#tools;
    const base = this.#usableBase(mirror);
    await this.#change({ round: snapshot.name, ...(mirror.round !== snapshot.name && { position: 0 }) });
    await snapshots.using(snapshot.name, async () => {
      const begun = await this.#ask(mirror, this.#begin(mirror, snapshot, base, link, signal));
      if (!begun) return;
      if (begun.base !== snapshot.name) {
        const plan = {
          job: mirror.name,
          base,
          snapshot: snapshot.name,
          sizeBytes: snapshot.sizeBytes,
          from: begun.position,
        };
        await this.#change({ position: begun.position });
        const limit = () => this.#mirror().rateLimitKb * 1024;
        const confirmed = (progress: Progress) => this.#recordProgress(progress);
        await new ReplicationRound(plan, {
          engine,
          link,
          pace: this.#pace,
          size: this.#size,
          limit,
          signal,
          confirmed,
        }).ship();
      }
      await this.#complete(mirror, snapshot, link, signal);
    });
  }

  async #begin(
    mirror: SourceMirror,
    snapshot: SnapshotInPlace,
    base: string | null,
    link: PeerLink,
    signal: AbortSignal,
  ): Promise<{ mirror: PeerMirror }> {
    const volume = this.#tools.volumes.get(mirror.volume);
    return link.call(
      peers.beginRound,
      {
        job: mirror.name,
        snapshot: snapshot.name,
        base: base ?? undefined,
        snapshot_name: snapshot.displayName,
        taken_at: snapshot.createdAt,
        size_bytes: snapshot.sizeBytes,
        ...describeSource(volume, this.#tools),
      },
      { signal, timeoutMs: 60_000 },
    );
  }

  async #complete(source: SourceMirror, snapshot: SnapshotInPlace, link: PeerLink, signal: AbortSignal): Promise<void> {
    const input = {
      job: source.name,
      snapshot: snapshot.name,
      keep: this.#policyOf(source)?.keepAtDestination ?? undefined,
    };
    const mirror = await this.#ask(source, link.call(peers.completeRound, input, { signal, timeoutMs: 60_000 }));
    if (!mirror) return;
    await this.#change({ base: snapshot.name, baseTakenAt: snapshot.createdAt, round: null, position: 0 });
  }

  #policyOf({ rule: name }: SourceMirror): SnapshotPolicy | undefined {
    return this.#tools.store.read((db) => {
      const rule = name === null ? undefined : findRule(db, name);
      return rule && findPolicy(db, rule.policy);
    });
  }

  /** A base that was deleted in spite of all, or belongs to another volume by now, is none. */
  #usableBase({ base, volume }: SourceMirror): string | null {
    if (base === null) return null;
    const snapshot = this.#tools.store.read((db) => findSnapshot(db, base));
    return snapshot?.volume === volume ? base : null;
  }

  /** Undefined once the other side has ended the mirror: then it ends here, too. */
  async #ask(source: SourceMirror, asked: Promise<{ mirror: PeerMirror }>): Promise<PeerMirror | undefined> {
    try {
      const { mirror } = await asked;
      if (mirror.state === 'active') return mirror;
    } catch (error) {
      if (!(error instanceof PeerRefusal) || error.entry !== 'job_not_found') throw error;
    }
    await this.#tools.store.write((tx) => {
      const present = findSource(tx, source.name);
      if (present?.state === 'active' || present?.state === 'paused') this.#tools.ended(tx, present);
    });
    return undefined;
  }

  async #abandon(mirror: SourceMirror, link: PeerLink, signal: AbortSignal): Promise<boolean> {
    await link.call(peers.abandonMirror, { job: mirror.name }, { signal });
    await this.#tools.store.write((tx) => {
      removeSource(tx, mirror.name);
    });
    return false;
  }

  async #announceBreak(mirror: SourceMirror, link: PeerLink, signal: AbortSignal): Promise<boolean> {
    const inherited = mirror.inheritsWwid;
    try {
      await link.call(peers.breakMirror, { job: mirror.name, inherited }, { signal, timeoutMs: 60_000 });
    } catch (error) {
      if (!(error instanceof PeerRefusal) || error.entry !== 'job_not_found') throw error;
    }
    await this.#change({ isPeerInformed: true });
    this.#setProblem(undefined);
    return false;
  }

  #recordProgress({ position, sentBytes, wireBytes, ms }: Progress): Promise<void> {
    // It gets on: a long round does not pay for what went wrong at its beginning.
    this.#retryMs = RETRY_MS_MIN;
    const mirror = this.#mirror();
    return this.#change({
      position,
      sentBytes: mirror.sentBytes + sentBytes,
      wireBytes: mirror.wireBytes + wireBytes,
      syncMs: mirror.syncMs + ms,
    });
  }

  #mirror(): SourceMirror {
    const mirror = this.#tools.store.read((db) => findSource(db, this.#job));
    if (!mirror) throw fail('job_not_found', { id: this.#job });
    return mirror;
  }

  #change(change: Partial<SourceMirror>): Promise<void> {
    const { store, clock } = this.#tools;
    return store.write((tx) => {
      updateSource(tx, this.#job, { ...change, modifiedAt: clock.now() });
    });
  }

  /** Recorded once when it begins, and once when it is over. */
  #setProblem(error: unknown): void {
    const before = this.#problem;
    this.#problem = error === undefined ? undefined : connectionReason(error);
    if ((before === undefined) === (this.#problem === undefined)) return;
    const { store, events, log } = this.#tools;
    log.warn({ error, mirror: this.#job }, error === undefined ? 'a mirror goes on' : 'a mirror cannot go on');
    const title = this.#problem === undefined ? 'goes on.' : `does not get on: ${this.#problem}`;
    const recorded = store.write((tx) => {
      const mirror = findSource(tx, this.#job);
      if (!mirror) return;
      events.record(tx, {
        severity: this.#problem === undefined ? 'notice' : 'warning',
        title: `Mirror ${mirror.displayName} (${mirror.name}) ${title}`,
        subject: `mirror_job:${mirror.name}`,
      });
    });
    recorded.catch(() => undefined);
  }

  #rest(ms: number): Promise<void> {
    if (this.#isWanted || this.#stopping.signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.#wake = undefined;
        resolve();
      };
      const timer = setTimeout(done, ms);
      timer.unref();
      this.#wake = done;
    });
  }
}
