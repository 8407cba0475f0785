import { counted } from '@granary/contract';
import { capacityText, fail, GranaryError, type Db, type JobOutcome, type RunningJob, type Tx } from '@granary/kernel';
import { isEngineError } from '../../engine/errors.ts';
import type { LifecycleChange, ShareLifecycle } from '../../volumes/share-lifecycle.ts';
import type { LifecycleFacts } from '../../shares/view.ts';
import type { Snapshot } from '../../snapshots/snapshot.ts';
import type { SnapshotService } from '../../snapshots/service.ts';
import type { ArrayTools } from '../../tools.ts';
import { findVolume } from '../../volumes/repository.ts';
import type { Volume } from '../../volumes/volume.ts';
import { called } from '../../wording.ts';
import type { FileArchiver } from '../archive/file-archiver.ts';
import type { ArchiveCollector } from '../archive/archive-collector.ts';
import type { CriteriaContext } from '../criteria/fields.ts';
import { findActiveRules, listRules } from '../policies/repository.ts';
import type { RuleInPlace } from '../policies/policy.ts';
import { LifecycleRecords } from './records.ts';
import { findShare, markRun, saveScan, setState } from './repository.ts';
import type { ScanState, ScannedShare } from './scanned-share.ts';
import { ShareScan } from './scan.ts';

interface Neighbours {
  readonly snapshots: SnapshotService;
  readonly archives: FileArchiver;
  readonly sweeping: ArchiveCollector;
  readonly context: (nowMs: number) => CriteriaContext;
}

interface Arguments {
  readonly volume: string;
}

interface Running {
  readonly controller: AbortController;
  readonly ended: PromiseWithResolvers<void>;
  scan: ShareScan | undefined;
  isInterrupted: boolean;
}

const KIND = 'lifecycle-scan';
const RETRY_MS = 1_000;

/** Looks through shares for what their file lifecycle policies are about, one job a share. */
export class ScanService implements ShareLifecycle {
  readonly #tools: ArrayTools;
  readonly #facts: LifecycleRecords;
  readonly #neighbours: Neighbours;
  readonly #running = new Map<string, Running>();
  #isStopping = false;

  constructor(tools: ArrayTools, neighbours: Neighbours) {
    this.#tools = tools;
    this.#facts = new LifecycleRecords(tools.store);
    this.#neighbours = neighbours;
    tools.jobs.register<Arguments>(
      KIND,
      (job) => this.#run(job),
      (tx, { volume }, reason) => this.#giveUp(tx, volume, reason),
    );
  }

  /** One that is under way is left alone: what came due meanwhile is part of it. */
  async start(volume: string, now: number): Promise<void> {
    await this.#tools.store.write((tx) => {
      markRun(tx, volume, now);
      const share = findShare(tx, volume);
      if (share?.state === 'enabled' && share.scan === null) this.#begin(tx, volume, now);
    });
  }

  /** On request. */
  async startNow(share: Volume, actor: string): Promise<void> {
    const { store, clock, events } = this.#tools;
    await store.write((tx) => {
      const scanned = findShare(tx, share.name);
      if (scanned?.state !== 'enabled')
        throw fail('lifecycle_not_enabled', { share: called(share), state: scanned?.state ?? 'disabled' });
      if (scanned.scan !== null) throw fail('share_being_scanned', { share: called(share) });
      if (findActiveRules(tx, share.name).length === 0)
        throw fail('share_without_lifecycle_policy', { share: called(share) });
      this.#begin(tx, share.name, clock.now());
      const title = `A file lifecycle scan of share ${called(share)} was started.`;
      events.record(tx, { title, subject: `volume:${share.name}`, actor });
    });
  }

  #begin(tx: Tx, volume: string, now: number): void {
    const totalFiles = this.#tools.readings.volume(volume)?.share?.files ?? 0;
    saveScan(tx, volume, {
      startedAt: now,
      afterInode: 0,
      seenFiles: 0,
      totalFiles,
      spentMs: 0,
      isOfOneMoment: true,
    });
    this.changed(tx);
    this.#enqueue(tx, volume);
  }

  /** In the transaction that attaches a policy. */
  enableIn(tx: Tx, share: Volume): void {
    const scanned = findShare(tx, share.name);
    if (scanned?.state === 'disabled') {
      throw fail('lifecycle_disabled', { share: called(share) });
    }
    if (scanned) return;
    setState(tx, share.name, 'enabled', this.#tools.clock.now());
    this.changed(tx);
  }

  checkChange(db: Db, share: Volume, command: LifecycleChange): void {
    nextState(share, findShare(db, share.name)?.state ?? 'disabled', command);
  }

  changeIn(tx: Tx, share: Volume, command: LifecycleChange, actor: string): void {
    const { clock, events } = this.#tools;
    const { name } = share;
    const scanned = findShare(tx, name);
    const state = scanned?.state ?? 'disabled';
    const next = nextState(share, state, command);
    if (next === state && scanned) return;
    setState(tx, name, next, clock.now());
    this.changed(tx);
    if (next === 'disabled') this.#removeScan(tx, name);
    if (command === 'resume' && scanned?.scan !== null) this.#enqueue(tx, name);
    events.record(tx, {
      title: `File lifecycle of share ${called(share)} was ${WORDS[command]}.`,
      subject: `volume:${name}`,
      actor,
    });
    if (next !== 'enabled') tx.afterCommit(() => this.#running.get(name)?.controller.abort());
  }

  factsOf(volume: string): LifecycleFacts | undefined {
    return this.#facts.of(volume, this.#running.get(volume)?.scan?.state);
  }

  /** Those at work end where they are and go on at the next start: before the ways to their buckets are closed. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.all([...this.#running.keys()].map((volume) => this.interrupt(volume)));
  }

  async interrupt(volume: string): Promise<void> {
    const running = this.#running.get(volume);
    if (!running) return;
    running.isInterrupted = true;
    running.controller.abort();
    await running.ended.promise;
  }

  async change(volume: string, command: LifecycleChange, actor: string): Promise<void> {
    await this.#tools.store.write((tx) => {
      const share = findVolume(tx, volume);
      if (!share) throw fail('volume_not_found', { id: volume });
      this.changeIn(tx, share, command, actor);
    });
  }

  /** In a transaction that changes which policies a share has, or what they are called. */
  changed(tx: Tx): void {
    tx.afterCommit(() => this.#facts.invalidate());
  }

  #enqueue(tx: Tx, volume: string): void {
    this.#tools.jobs.enqueue(tx, KIND, `lifecycle:${volume}`, { volume } satisfies Arguments);
  }

  async #run({ arguments: { volume }, signal }: RunningJob<Arguments>): Promise<JobOutcome> {
    const { store } = this.#tools;
    if (this.#isStopping) return { outcome: 'retry', afterMs: RETRY_MS, reason: 'the array stops' };
    // Before the state is read: who pauses it from here on finds it.
    const running: Running = {
      controller: new AbortController(),
      ended: Promise.withResolvers(),
      scan: undefined,
      isInterrupted: false,
    };
    this.#running.set(volume, running);
    try {
      const { scanned, share } = store.read((db) => ({
        scanned: findShare(db, volume),
        share: findVolume(db, volume),
      }));
      if (scanned?.state !== 'enabled' || scanned.scan === null) return { outcome: 'done' };
      if (share?.state !== 'ready') return { outcome: 'done', finish: (tx) => this.#removeScan(tx, volume) };
      return await this.#scan(share, scanned.scan, running, signal);
    } catch (error) {
      if (running.isInterrupted)
        return { outcome: 'retry', afterMs: RETRY_MS, reason: 'another operation needs the volume' };
      if (running.controller.signal.aborted) return { outcome: 'done' };
      if (signal.aborted) return { outcome: 'retry', afterMs: 0, reason: 'the array stops' };
      if (isEngineError(error, 'interrupted')) return { outcome: 'retry', afterMs: RETRY_MS, reason: error.message };
      if (!(error instanceof GranaryError)) throw error;
      // It was deleted meanwhile.
      if (store.read((db) => findVolume(db, volume))?.state !== 'ready') return { outcome: 'done' };
      const reason = error.message;
      return { outcome: 'failed', reason, finish: (tx) => this.#giveUp(tx, volume, reason) };
    } finally {
      this.#running.delete(volume);
      running.ended.resolve();
    }
  }

  async #scan(share: Volume, begun: ScanState, running: Running, stopping: AbortSignal): Promise<JobOutcome> {
    const { snapshots, archives, context } = this.#neighbours;
    const { store, engine } = this.#tools;
    const state = { ...begun, isOfOneMoment: begun.isOfOneMoment && begun.afterInode === 0 };
    const signal = AbortSignal.any([running.controller.signal, stopping]);
    const snapshot = await this.#takeSnapshot(share);
    try {
      const options = { share, snapshot: snapshot.name, state, signal };
      running.scan = new ShareScan({ store, engine, archives, context }, options);
      await running.scan.run();
      if (state.isOfOneMoment) await archives.markUnneeded(share.name, state.startedAt, snapshot.createdAt);
    } finally {
      // It is never listed, and a start after a crash deletes it, too.
      await snapshots.drop([snapshot]);
    }
    return { outcome: 'done', finish: (tx) => this.#finish(tx, share, state) };
  }

  async #takeSnapshot(volume: Volume): Promise<Snapshot> {
    const { snapshots } = this.#neighbours;
    const wanted = { volume, displayName: 'file lifecycle scan', application: 'user', orSimilar: true } as const;
    const [snapshot] = await snapshots.begin([wanted]);
    if (!snapshot) throw fail('no_snapshot_taken', { volume: called(volume) });
    return snapshot;
  }

  #finish(tx: Tx, share: Volume, state: ScanState): void {
    const { name } = share;
    this.#removeScan(tx, name);
    this.#neighbours.sweeping.start(tx);
    const { rules } = listRules(tx, { volume: name }, { first: 0, number: 0 });
    for (const rule of rules) if (rule.lastRunAt === state.startedAt) this.#recordEvent(tx, share, rule);
  }

  #removeScan(tx: Tx, volume: string): void {
    saveScan(tx, volume, undefined);
    this.changed(tx);
  }

  #giveUp(tx: Tx, volume: string, reason: string): void {
    this.#removeScan(tx, volume);
    const share = findVolume(tx, volume);
    const title = `The file lifecycle scan of share ${share ? called(share) : volume} was given up: ${reason}`;
    this.#tools.events.record(tx, { severity: 'error', title, subject: `volume:${volume}` });
  }

  #recordEvent(tx: Tx, share: Volume, rule: RuleInPlace): void {
    const { events } = this.#tools;
    const policy = `File lifecycle policy ${rule.policyDisplayName} (${rule.policy})`;
    const subject = `volume:${share.name}`;
    if (rule.problem !== null) {
      const title = `${policy} had trouble on share ${called(share)}: ${rule.problem}`;
      events.record(tx, { severity: 'warning', title, subject });
    }
    if (!rule.wasDryRun && rule.matchedFiles === 0) return;
    events.record(tx, { title: `${policy} ${outcomeOf(rule)} on share ${called(share)}.`, subject });
  }
}

const WORDS = { enable: 'enabled', disable: 'disabled', pause: 'paused', resume: 'resumed' } as const;

function nextState(share: Volume, state: ScannedShare['state'], command: LifecycleChange): ScannedShare['state'] {
  if (command === 'enable') return state === 'disabled' ? 'enabled' : state;
  if (command === 'disable') return 'disabled';
  const needed = command === 'pause' ? 'enabled' : 'paused';
  if (state === needed) return command === 'pause' ? 'paused' : 'enabled';
  throw fail('lifecycle_command', { share: called(share), state, command, needed });
}

function outcomeOf(rule: RuleInPlace): string {
  const files = (count: number) => counted(count, 'files');
  if (rule.wasDryRun) {
    return `would handle ${files(rule.matchedFiles)} (${capacityText(rule.matchedBytes)})`;
  }
  const others = [
    ...(rule.changedFiles > 0 ? [`${files(rule.changedFiles)} changed meanwhile`] : []),
    ...(rule.failedFiles > 0 ? [`${files(rule.failedFiles)} failed`] : []),
  ];
  const done = `handled ${files(rule.handledFiles)} (${capacityText(rule.handledBytes)})`;
  return others.length === 0 ? done : `${done}; ${others.join(', ')}`;
}
