import { setTimeout as sleep } from 'node:timers/promises';
import { peerApi } from '@granary/contract/array';
import { connectionReason, fail, type Tx } from '@granary/kernel';
import type { PoolService } from '../pools/service.ts';
import type { RemoteArray, RemotePool } from '../remote-arrays/remote-array.ts';
import type { RemoteArrayService } from '../remote-arrays/service.ts';
import { nextName } from '../sequences/repository.ts';
import { removeRule } from '../snapshot-policies/repository.ts';
import type { SnapshotPolicyService } from '../snapshot-policies/service.ts';
import type { Snapshot } from '../snapshots/snapshot.ts';
import type { SnapshotService } from '../snapshots/service.ts';
import type { ArrayTools } from '../tools.ts';
import type { Volume } from '../volumes/volume.ts';
import { checkNoDestination, checkUnmoved } from '../volumes/rules.ts';
import type { VolumeService } from '../volumes/service.ts';
import { ReplicationSender, type SenderTools } from './replication-sender.ts';
import { assignToRule, releaseFromMirror } from '../snapshots/repository.ts';
import {
  countSources,
  findSource,
  insertSource,
  isMirrorNameTaken,
  listSources,
  listSourcesOf,
  updateSource,
} from './repository.ts';
import type { SourceMirror } from './mirror.ts';
import { TransferSlots } from './transfer-slots.ts';
import { describeSource } from './source-description.ts';

export interface MirrorRequest {
  readonly displayName: string;
  readonly cgName: string;
  readonly remotePool: string;
  readonly policy: string;
  readonly volumeName: string;
  readonly dedupe?: boolean | undefined;
  readonly compress?: boolean | undefined;
}

interface Neighbours {
  readonly pools: PoolService;
  readonly volumes: VolumeService;
  readonly snapshots: SnapshotService;
  readonly snapshotPolicies: SnapshotPolicyService;
  readonly remoteArrays: RemoteArrayService;
}

/** On record already. */
export interface MirrorBeingMade {
  readonly name: string;
  /** Rejects with what the other array refuses. */
  readonly made: Promise<void>;
}

interface Checked {
  readonly volume: Volume;
  readonly pool: RemotePool;
  readonly array: RemoteArray;
}

const SOURCES_MAX = 500;
const SHIPPING_MAX = 4;
const CREATE_MS_MAX = 60_000;
/** How long a break waits for the other side to acknowledge it. */
const TELL_MS_MAX = 5_000;

/** Mirrors whose source is here: made and ended by users, sent by a replication sender each. */
export class MirrorSources {
  readonly #tools: ArrayTools;
  readonly #neighbours: Neighbours;
  readonly #senderTools: SenderTools;
  readonly #senders = new Map<string, ReplicationSender>();
  #isStarted = false;

  constructor(tools: ArrayTools, neighbours: Neighbours) {
    this.#tools = tools;
    this.#neighbours = neighbours;
    const ended = (tx: Tx, mirror: SourceMirror) => {
      this.#end(tx, mirror, { isPeerInformed: true }, 'was broken by its other side', 'system');
    };
    this.#senderTools = { ...tools, ...neighbours, slots: new TransferSlots(SHIPPING_MAX), ended };
    neighbours.snapshots.onTaken((snapshots) => {
      for (const snapshot of snapshots) this.#wakeFor(snapshot);
    });
  }

  get(name: string): SourceMirror | undefined {
    const mirror = this.#tools.store.read((db) => findSource(db, name));
    return mirror?.state === 'abandoned' ? undefined : mirror;
  }

  problem(name: string): string | undefined {
    return this.#senders.get(name)?.problem;
  }

  /** Recorded here first as being created, then created there, then active. After a crash in between it is removed there. */
  async create(request: MirrorRequest, actor: string): Promise<MirrorBeingMade> {
    const checked = this.#check(request);
    const name = await this.#tools.store.write((tx) => this.#insert(tx, request, checked));
    return { name, made: this.#make(name, request, checked, actor) };
  }

  async #make(name: string, request: MirrorRequest, checked: Checked, actor: string): Promise<void> {
    const { store } = this.#tools;
    try {
      await this.#createThere(name, request, checked);
      await this.#activate(name, request, checked, actor);
    } catch (error) {
      // Recorded as an event too: the caller may not have waited for it.
      const what = `could not be made: ${connectionReason(error)}`;
      await store.write((tx) => {
        updateSource(tx, name, { state: 'abandoned', modifiedAt: this.#tools.clock.now() });
        const mirror = findSource(tx, name);
        if (mirror) this.#recordEvent(tx, mirror, what.replace(/\.$/, ''), actor, 'warning');
      });
      this.#sender(name)?.wake();
      throw error;
    }
    this.#sender(name)?.wake();
  }

  async pause(name: string, actor: string): Promise<void> {
    await this.#setState(name, 'active', 'paused', 'was paused', actor);
    this.#senders.get(name)?.interrupt();
  }

  async continue(name: string, actor: string): Promise<void> {
    await this.#setState(name, 'paused', 'active', 'goes on', actor);
    this.#senders.get(name)?.interrupt();
  }

  /** Here at once; the other side follows as soon as it can be reached. */
  async break(name: string, inherited: boolean, actor: string): Promise<void> {
    await this.#tools.store.write((tx) => {
      const mirror = findSource(tx, name);
      if (mirror?.state !== 'active' && mirror?.state !== 'paused') throw fail('mirror_broken_already', { name });
      this.#end(tx, mirror, { isPeerInformed: false, inheritsWwid: inherited }, 'was broken', actor);
    });
    const sender = this.#sender(name);
    const isReached = sender?.problem === undefined;
    sender?.interrupt();
    if (isReached) await withinTime(sender?.ended, TELL_MS_MAX);
  }

  async setRateLimit(name: string, kilobytes: number, actor: string): Promise<void> {
    const { store, clock } = this.#tools;
    await store.write((tx) => {
      const mirror = findSource(tx, name);
      if (!mirror) throw fail('job_not_found', { id: name });
      updateSource(tx, name, { rateLimitKb: kilobytes, modifiedAt: clock.now() });
      this.#recordEvent(tx, mirror, kilobytes === 0 ? 'has no rate limit' : `sends at most ${kilobytes} KB/s`, actor);
    });
  }

  /** Those that were being made are given up: their callers are gone. */
  async reconcile(): Promise<void> {
    const { store, clock } = this.#tools;
    const cut = store.read(listSources).filter(({ state }) => state === 'creating');
    if (cut.length === 0) return;
    await store.write((tx) => {
      for (const { name } of cut) updateSource(tx, name, { state: 'abandoned', modifiedAt: clock.now() });
    });
  }

  start(): void {
    this.#isStarted = true;
    for (const { name, state, isPeerInformed } of this.#tools.store.read(listSources))
      if (state !== 'broken' || !isPeerInformed) this.#sender(name)?.wake();
  }

  async stop(): Promise<void> {
    this.#isStarted = false;
    await Promise.all([...this.#senders.values()].map((sender) => sender.stop()));
  }

  #check(request: MirrorRequest): Checked {
    const { volumes, snapshotPolicies, remoteArrays } = this.#neighbours;
    const volume = volumes.byGroup(request.cgName);
    if (volume.state !== 'ready') throw fail('volume_in_making', { id: volume.name });
    checkNoDestination(volume);
    checkUnmoved(volume);
    snapshotPolicies.get(request.policy);
    const { pool, array } = remoteArrays.pool(request.remotePool);
    if (volume.wrappedKey !== null && !array.isEncryptionActive) {
      throw fail('remote_not_encrypting', { id: volume.name, remote: array.displayName, name: array.name });
    }
    return { volume, pool, array };
  }

  #insert(tx: Tx, request: MirrorRequest, { volume, pool, array }: Checked): string {
    const { clock } = this.#tools;
    const { remoteArrays, pools } = this.#neighbours;
    if (isMirrorNameTaken(tx, request.displayName)) throw fail('name_taken', { name: request.displayName });
    if (countSources(tx) >= SOURCES_MAX) throw fail('mirror_sources_limit', { max: SOURCES_MAX });
    remoteArrays.get(array.name);
    const name = nextName(tx, 'srcjarray');
    const now = clock.now();
    insertSource(tx, {
      name,
      displayName: request.displayName,
      state: 'creating',
      volume: volume.name,
      consistencyGroup: volume.consistencyGroup,
      groupDisplayName: volume.displayName,
      poolDisplayName: pools.get(volume.pool).displayName,
      remoteArray: array.name,
      remoteUuid: array.uuid,
      remoteDisplayName: array.displayName,
      remoteProvider: array.provider,
      remotePool: pool.displayName,
      remoteVolume: request.volumeName,
      createdAt: now,
      modifiedAt: now,
    });
    return name;
  }

  async #createThere(name: string, request: MirrorRequest, { volume, pool, array }: Checked): Promise<void> {
    const { remoteArrays } = this.#neighbours;
    const { mirror } = await remoteArrays.linkTo(array).call(
      peerApi.groups.peers.createMirror,
      {
        job: name,
        display_name: request.displayName,
        pool: pool.remoteName,
        volume_name: request.volumeName,
        size_bytes: volume.sizeBytes,
        compress: request.compress ?? volume.compress,
        dedupe: request.dedupe ?? volume.dedupe,
        encrypted: volume.wrappedKey !== null,
        ...describeSource(volume, this.#neighbours),
      },
      { timeoutMs: CREATE_MS_MAX },
    );
    // An array of an older release passes over what it does not know.
    if (volume.kind === 'file' && !mirror.is_share) {
      throw fail('remote_without_shares', { remote: array.displayName, name: array.name });
    }
  }

  /** With the rule that takes its snapshots, and the first of them. */
  async #activate(name: string, request: MirrorRequest, { volume }: Checked, actor: string): Promise<void> {
    const { clock } = this.#tools;
    const { snapshotPolicies, snapshots } = this.#neighbours;
    const policy = snapshotPolicies.get(request.policy);
    const naming = { displayName: `${policy.displayName} (first)`, application: 'mirror', orSimilar: true } as const;
    const first = await snapshots.begin([{ ...naming, volume, mirrorJob: name, policy: policy.name }]);
    try {
      await snapshots.show(first, actor, (tx) => {
        const mirror = findSource(tx, name);
        if (mirror?.state !== 'creating') throw fail('mirror_given_up', { name });
        const wanted = { policy: policy.name, volume: volume.name, application: 'mirror', mirrorJob: name } as const;
        const rule = snapshotPolicies.attachIn(tx, wanted, actor);
        assignToRule(tx, name, rule);
        updateSource(tx, name, { state: 'active', rule, modifiedAt: clock.now() });
        this.#recordEvent(tx, mirror, `of volume ${volume.displayName} (${volume.name}) was created`, actor);
      });
    } catch (error) {
      await snapshots.drop(first);
      throw error;
    }
    snapshotPolicies.scheduler.wake();
  }

  async #setState(
    name: string,
    from: SourceMirror['state'],
    to: SourceMirror['state'],
    what: string,
    actor: string,
  ): Promise<void> {
    const { store, clock } = this.#tools;
    await store.write((tx) => {
      const mirror = findSource(tx, name);
      if (mirror?.state !== from) throw fail('mirror_state', { name, state: mirror?.state ?? 'gone', needed: from });
      updateSource(tx, name, { state: to, modifiedAt: clock.now() });
      this.#recordEvent(tx, mirror, what, actor);
    });
  }

  /** Its snapshots stay, as snapshots like any other; nothing takes more of them. */
  #end(tx: Tx, mirror: SourceMirror, change: Partial<SourceMirror>, what: string, actor: string): void {
    updateSource(tx, mirror.name, {
      ...change,
      state: 'broken',
      round: null,
      rule: null,
      position: 0,
      modifiedAt: this.#tools.clock.now(),
    });
    if (mirror.rule !== null) removeRule(tx, mirror.rule);
    releaseFromMirror(tx, mirror.name);
    this.#recordEvent(tx, mirror, what, actor, 'notice');
  }

  #recordEvent(
    tx: Tx,
    mirror: SourceMirror,
    what: string,
    actor: string,
    severity: 'info' | 'notice' | 'warning' = 'info',
  ): void {
    const title = `Mirror ${mirror.displayName} (${mirror.name}) to array ${mirror.remoteDisplayName} ${what}.`;
    this.#tools.events.record(tx, { severity, title, subject: `mirror_job:${mirror.name}`, actor });
  }

  #wakeFor({ mirrorJob, volume, application }: Snapshot): void {
    if (mirrorJob !== null) this.#senders.get(mirrorJob)?.wake();
    if (application !== 'user') return;
    for (const { name } of this.#tools.store.read((db) => listSourcesOf(db, volume))) this.#senders.get(name)?.wake();
  }

  #sender(name: string): ReplicationSender | undefined {
    if (!this.#isStarted) return undefined;
    const known = this.#senders.get(name);
    if (known) return known;
    const sender = new ReplicationSender(name, this.#senderTools);
    this.#senders.set(name, sender);
    return sender;
  }
}

async function withinTime(work: Promise<void> | undefined, ms: number): Promise<void> {
  const over = new AbortController();
  const { signal } = over;
  await Promise.race([work, sleep(ms, undefined, { signal }).catch(() => undefined)]);
  over.abort();
}
