import type { InputOf, OutputOf } from '@granary/contract';
import type { peerApi } from '@granary/contract/array';
import { badParameter, fail, type Tx, Locks } from '@granary/kernel';
import type { PeerActor } from '../peers/service.ts';
import type { Pools } from '../pools/service.ts';
import { nextName } from '../sequences/repository.ts';
import type { Snapshots } from '../snapshots/service.ts';
import type { ArrayTools } from '../tools.ts';
import { updateVolume } from '../volumes/repository.ts';
import type { Volumes } from '../volumes/service.ts';
import { frameLabel, readFrame, type Range } from './frames.ts';
import {
  findDestination,
  findDestinationOf,
  findNextSnapshot,
  findSurplusSnapshots,
  findVolumeOf,
  insertDestination,
  listDestinations,
  releaseSnapshots,
  removeDestination,
  updateDestination,
  type DestinationRow,
} from './repository.ts';

type Peers = typeof peerApi.groups.peers;
type NewMirror = InputOf<Peers['createMirror']>;
type NewRound = InputOf<Peers['beginRound']>;
type Part = InputOf<Peers['writeRanges']>;
type EndOfRound = InputOf<Peers['completeRound']>;
type PeerMirror = OutputOf<Peers['getMirror']>['mirror'];

interface Neighbours {
  readonly pools: Pools;
  readonly volumes: Volumes;
  readonly snapshots: Snapshots;
}

/** A source that does not call for so long is out of reach. */
const SILENCE_MS_MAX = 90_000;
const IDLE_MS_MAX = 60_000;
const MIRRORS_OF_PEER_MAX = 1000;
/** Stands for the snapshot on its way while the volume is being emptied for it. */
const CLEARING = '-';

/**
 * Mirrors whose destination is here. Their sources call; every answer means that what it tells of is on disk. What a
 * source sends again is taken again and changes nothing.
 */
export class Destinations {
  readonly #tools: ArrayTools;
  readonly #neighbours: Neighbours;
  readonly #turns = new Locks();
  /** When a source called last, and when data of it came last. */
  readonly #heard = new Map<string, number>();
  readonly #worked = new Map<string, number>();
  readonly #startedAt = performance.now();

  constructor(tools: ArrayTools, neighbours: Neighbours) {
    this.#tools = tools;
    this.#neighbours = neighbours;
  }

  get(name: string): DestinationRow | undefined {
    return this.#tools.store.read((db) => findDestination(db, name));
  }

  isSilent(name: string): boolean {
    return performance.now() - (this.#heard.get(name) ?? this.#startedAt) > SILENCE_MS_MAX;
  }

  create(wanted: NewMirror, peer: PeerActor): Promise<PeerMirror> {
    return this.#turns.run(keyOf(peer, wanted.job), async () => {
      const { store } = this.#tools;
      const known = store.read((db) => findDestinationOf(db, peer.uuid, wanted.job));
      if (known && known.state !== 'creating') return viewOf(this.#hear(known));
      const row = known ?? (await store.write((tx) => this.#insert(tx, wanted, peer)));
      await this.#makeVolume(row, wanted, peer);
      return viewOf(this.#hear(this.#row(row.name)));
    });
  }

  show(job: string, isPaused: boolean, peer: PeerActor): Promise<PeerMirror> {
    return this.#turns.run(keyOf(peer, job), async () => {
      const row = this.#find(job, peer);
      const is_paused = isPaused ? 1 : 0;
      if (row.is_paused !== is_paused) await this.#change(row, { is_paused });
      return viewOf(row);
    });
  }

  /** What never was a copy of anything goes; it is no error if there is nothing. */
  abandon(job: string, peer: PeerActor): Promise<void> {
    return this.#turns.run(keyOf(peer, job), async () => {
      const row = this.#tools.store.read((db) => findDestinationOf(db, peer.uuid, job));
      if (!row) return;
      if (row.base !== null || row.state === 'broken')
        throw fail('state_conflict', { problem: `Mirror ${row.name} holds data; break it instead.` });
      await this.#change(row, { state: 'deleting' });
      await this.#delete(row);
    });
  }

  begin(round: NewRound, peer: PeerActor): Promise<PeerMirror> {
    return this.#turns.run(keyOf(peer, round.job), async () => {
      const row = this.#find(round.job, peer);
      if (row.state !== 'active' || row.base === round.snapshot) return viewOf(row);
      const { volumes } = this.#neighbours;
      const volume = volumeIn(row);
      if (volumes.get(volume).size_bytes < round.size_bytes) await volumes.expandTo(volume, round.size_bytes, 'system');
      if (row.round === round.snapshot) return viewOf(row);
      await this.#clear(row, round.base ?? null);
      await this.#change(row, {
        round: round.snapshot,
        round_name: round.snapshot_name,
        round_taken_at: round.taken_at,
        position: 0,
        src_provider: peer.provider,
        src_array: peer.displayName,
        src_cg_name: round.cg_name,
        src_cg: round.cg_display_name,
        src_pool: round.pool_display_name,
        src_wwid: round.wwid,
      });
      this.#worked.set(row.name, performance.now());
      return viewOf(this.#row(row.name));
    });
  }

  write(part: Part, peer: PeerActor): Promise<PeerMirror> {
    return this.#turns.run(keyOf(peer, part.job), async () => {
      const row = this.#find(part.job, peer);
      const { snapshot, from, to } = part;
      // Where this one stands is the truth: the source goes on from there.
      if (row.state !== 'active' || row.round !== snapshot || row.position !== from) return viewOf(row);
      const ranges = await this.#read(part, row, peer);
      const volume = volumeIn(row);
      await this.#apply(volume, ranges);
      const received = ranges.reduce((sum, { bytes }) => sum + (bytes?.length ?? 0), 0);
      await this.#change(row, {
        position: to,
        received_bytes: row.received_bytes + received,
        sync_ms: row.sync_ms + this.#spent(row.name),
      });
      return viewOf(this.#row(row.name));
    });
  }

  complete({ job, snapshot, keep }: EndOfRound, peer: PeerActor): Promise<PeerMirror> {
    return this.#turns.run(keyOf(peer, job), async () => {
      const row = this.#find(job, peer);
      if (row.state === 'active' && row.base !== snapshot) {
        if (row.round !== snapshot)
          throw fail('state_conflict', { problem: `Mirror ${row.name} has not received ${snapshot}.` });
        await this.#end(row);
      }
      if (keep !== undefined) await this.#letGo(row.name, keep);
      return viewOf(this.#row(row.name));
    });
  }

  breakFor(job: string, inherited: boolean, peer: PeerActor): Promise<PeerMirror> {
    return this.#turns.run(keyOf(peer, job), async () => {
      const row = this.#find(job, peer);
      await this.#break(row, inherited, `array ${peer.displayName}`);
      return viewOf(this.#row(row.name));
    });
  }

  /** From this side: its source hears of it when it calls. */
  break(row: DestinationRow, inherited: boolean, actor: string): Promise<void> {
    return this.#turns.run(`${row.peer} ${row.source_job}`, async () => {
      const present = this.#row(row.name);
      if (present.state === 'broken')
        throw fail('state_conflict', { problem: `Mirror ${row.name} is broken already.` });
      await this.#break(present, inherited, actor);
    });
  }

  /** What a crash cut off. One that was being made is there if its volume is: its source asks again. */
  async settle(): Promise<void> {
    const { store, log } = this.#tools;
    for (const row of store.read(listDestinations)) {
      try {
        if (row.state === 'creating') await this.#settleNew(row);
        if (row.state === 'breaking') await this.#finishBreak(row, 'system');
        if (row.state === 'deleting') await this.#delete(row);
      } catch (error) {
        log.error({ error, mirror: row.name }, 'a mirror could not be ended; break it again when its pool is well');
      }
    }
  }

  #settleNew(row: DestinationRow): Promise<void> {
    return this.#tools.store.write((tx) => {
      const volume = findVolumeOf(tx, row.name);
      if (volume === undefined) removeDestination(tx, row.name);
      else updateDestination(tx, row.name, { state: 'active', volume });
    });
  }

  #insert(tx: Tx, wanted: NewMirror, peer: PeerActor): DestinationRow {
    const { clock } = this.#tools;
    const mine = listDestinations(tx).filter(({ peer: uuid, state }) => uuid === peer.uuid && state !== 'broken');
    if (mine.length >= MIRRORS_OF_PEER_MAX)
      throw fail('limit_reached', { problem: `At most ${MIRRORS_OF_PEER_MAX} mirrors of one array are taken.` });
    const name = nextName(tx, 'dstjarray');
    insertDestination(tx, {
      name,
      peer: peer.uuid,
      source_job: wanted.job,
      display_name: wanted.display_name,
      state: 'creating',
      volume_name: wanted.volume_name,
      pool_display_name: this.#neighbours.pools.get(wanted.pool).display_name,
      src_provider: peer.provider,
      src_array: peer.displayName,
      src_cg_name: wanted.cg_name,
      src_cg: wanted.cg_display_name,
      src_pool: wanted.pool_display_name,
      src_wwid: wanted.wwid,
      created_at: clock.now(),
      modified_at: clock.now(),
    });
    return findDestination(tx, name) as DestinationRow;
  }

  async #makeVolume(row: DestinationRow, wanted: NewMirror, peer: PeerActor): Promise<void> {
    const { store, events, clock } = this.#tools;
    const actor = `array ${peer.displayName}`;
    try {
      const volume = store.read((db) => findVolumeOf(db, row.name)) ?? (await this.#newVolume(row, wanted, actor));
      await store.write((tx) => {
        updateDestination(tx, row.name, { state: 'active', volume, modified_at: clock.now() });
        const title = `Volume ${wanted.volume_name} (${volume}) is the destination of mirror ${wanted.display_name} (${row.name}) from array ${peer.displayName}.`;
        events.record(tx, { title, subject: `mirror_job:${row.name}`, actor });
      });
    } catch (error) {
      if (store.read((db) => findVolumeOf(db, row.name)) === undefined)
        await store.write((tx) => {
          removeDestination(tx, row.name);
        });
      throw error;
    }
  }

  async #newVolume(row: DestinationRow, wanted: NewMirror, actor: string): Promise<string> {
    const { volumes } = this.#neighbours;
    const volume = await volumes.create(
      {
        displayName: wanted.volume_name,
        pool: wanted.pool,
        sizeBytes: wanted.size_bytes,
        compress: wanted.compress,
        dedupe: wanted.dedupe,
        encrypted: wanted.encrypted,
        mirrorJob: row.name,
      },
      actor,
    );
    return volume.name;
  }

  /** Before a round begins, the volume is what the last whole snapshot shows; or empty, where all of it is to come. */
  async #clear(row: DestinationRow, base: string | null): Promise<void> {
    const { engine } = this.#tools;
    if (base !== null && base !== row.base) {
      const problem = `Mirror ${row.name} holds ${row.base ?? 'nothing'}, not ${base}.`;
      throw fail('state_conflict', { problem });
    }
    await this.#dropStrays(row);
    if (base === null && (row.base !== null || row.round !== null)) {
      // On record first: cut off in between, nobody takes it for what the last snapshot shows.
      await this.#change(row, { round: CLEARING, position: 0 });
      await this.#empty(volumeIn(row));
    } else if (row.round !== null && row.base_snapshot !== null) {
      // The same: what was received of that round is gone with this.
      await this.#change(row, { round: CLEARING, position: 0 });
      await engine.revertVolume(row.base_snapshot);
    }
  }

  /** Of a round that was cut off at its very end, and is not asked for any more. */
  async #dropStrays(row: DestinationRow): Promise<void> {
    const { store } = this.#tools;
    for (;;) {
      const stray = store.read((db) => findNextSnapshot(db, row.name, row.base_snapshot));
      if (stray === undefined) return;
      await this.#neighbours.snapshots.delete([stray], 'system');
    }
  }

  async #empty(volume: string): Promise<void> {
    const { engine } = this.#tools;
    await engine.discardVolume(volume, 0, this.#neighbours.volumes.get(volume).size_bytes);
    await engine.flushVolume(volume);
  }

  async #read({ job, snapshot, from, to, octets }: Part, row: DestinationRow, peer: PeerActor): Promise<Range[]> {
    const plain = peer.keys.unseal(octets.bytes, frameLabel(job, snapshot, from, to));
    const ranges = plain && (await readFrame(plain));
    if (!ranges) throw badParameter('octets', 'was damaged on its way; send it again');
    const end = Math.min(to, this.#neighbours.volumes.get(volumeIn(row)).size_bytes);
    if (to < from || ranges.some(({ offset, length }) => offset < from || offset + length > end))
      throw badParameter('octets', 'must lie between from and to, inside the volume');
    return ranges;
  }

  async #apply(volume: string, ranges: readonly Range[]): Promise<void> {
    const { engine } = this.#tools;
    for (const { offset, length, bytes } of ranges) {
      if (bytes) await engine.writeVolume(volume, offset, bytes);
      else await engine.discardVolume(volume, offset, length);
    }
    await engine.flushVolume(volume);
  }

  /** The snapshot first: cut off after it, the next attempt finds it. */
  async #end(row: DestinationRow): Promise<void> {
    const { store, engine } = this.#tools;
    const { snapshots, volumes } = this.#neighbours;
    const volume = volumeIn(row);
    await engine.flushVolume(volume);
    const taken = store.read((db) => findNextSnapshot(db, row.name, row.base_snapshot));
    const naming = {
      displayName: row.round_name ?? row.round ?? row.name,
      application: 'mirror',
      mirrorJob: row.name,
      orSimilar: true,
    } as const;
    const snapshot = taken ?? (await snapshots.take([volumes.get(volume)], naming, 'system'))[0]?.name ?? null;
    await this.#change(row, {
      base: row.round,
      base_taken_at: row.round_taken_at,
      base_snapshot: snapshot,
      round: null,
      round_name: null,
      round_taken_at: null,
      position: 0,
      sync_ms: row.sync_ms + this.#spent(row.name),
    });
  }

  async #letGo(name: string, keep: number): Promise<void> {
    const surplus = this.#tools.store.read((db) => findSurplusSnapshots(db, name, keep));
    await this.#neighbours.snapshots.delete(surplus, 'system').catch((error: unknown) => {
      this.#tools.log.warn({ error, mirror: name }, 'snapshots that are not kept could not be deleted');
    });
  }

  async #break(row: DestinationRow, inherited: boolean, actor: string): Promise<void> {
    if (row.state === 'broken') return;
    if (row.state === 'active') await this.#change(row, { state: 'breaking', inherit_wwid: inherited ? 1 : 0 });
    await this.#finishBreak(this.#row(row.name), actor);
  }

  /** Never anything between two snapshots: what was half received is undone. */
  async #finishBreak(row: DestinationRow, actor: string): Promise<void> {
    const { store, engine, clock, events } = this.#tools;
    const volume = volumeIn(row);
    if (row.round !== null && row.base_snapshot !== null) await engine.revertVolume(row.base_snapshot);
    else if (row.round !== null) await this.#empty(volume);
    await store.write((tx) => {
      const now = clock.now();
      updateVolume(tx, volume, {
        mirror_job: null,
        ...(row.inherit_wwid === 1 && { wwid: row.src_wwid }),
        modified_at: now,
      });
      releaseSnapshots(tx, row.name);
      updateDestination(tx, row.name, { state: 'broken', round: null, position: 0, modified_at: now });
      const held =
        row.base === null
          ? 'It is empty: no snapshot had come whole'
          : `It is as its snapshot ${row.base_snapshot ?? ''} shows it`;
      const title = `Mirror ${row.display_name} (${row.name}) was broken; ${row.volume_name} (${volume}) is a volume like any other. ${held}.`;
      events.record(tx, { severity: 'notice', title, subject: `mirror_job:${row.name}`, actor });
    });
  }

  async #delete(row: DestinationRow): Promise<void> {
    const { store, clock } = this.#tools;
    const volume = row.volume ?? store.read((db) => findVolumeOf(db, row.name));
    if (volume !== undefined) {
      await store.write((tx) => {
        releaseSnapshots(tx, row.name);
        updateVolume(tx, volume, { mirror_job: null, modified_at: clock.now() });
        updateDestination(tx, row.name, { volume });
      });
      await this.#neighbours.volumes
        .delete(volume, { force: true, skipBin: true }, 'system')
        .catch((error: unknown) => {
          this.#tools.log.warn({ error, volume }, 'the destination of an abandoned mirror could not be deleted');
        });
    }
    await store.write((tx) => {
      removeDestination(tx, row.name);
    });
  }

  #find(job: string, peer: PeerActor): DestinationRow {
    const row = this.#tools.store.read((db) => findDestinationOf(db, peer.uuid, job));
    if (!row || row.state === 'creating' || row.state === 'deleting') throw fail('job_not_found', { id: job });
    return this.#hear(row);
  }

  #row(name: string): DestinationRow {
    const row = this.get(name);
    if (!row) throw fail('job_not_found', { id: name });
    return row;
  }

  #hear(row: DestinationRow): DestinationRow {
    this.#heard.set(row.name, performance.now());
    return row;
  }

  #change(row: DestinationRow, change: Partial<DestinationRow>): Promise<void> {
    const { store, clock } = this.#tools;
    return store.write((tx) => {
      updateDestination(tx, row.name, { ...change, modified_at: clock.now() });
    });
  }

  /** Since data of it was last worked on, unless that was long ago. */
  #spent(name: string): number {
    const now = performance.now();
    const ms = now - (this.#worked.get(name) ?? now);
    this.#worked.set(name, now);
    return ms < IDLE_MS_MAX ? Math.round(ms) : 0;
  }
}

function keyOf({ uuid }: PeerActor, job: string): string {
  return `${uuid} ${job}`;
}

function volumeIn({ name, volume }: DestinationRow): string {
  if (volume === null) throw fail('state_conflict', { problem: `Mirror ${name} has no volume yet.` });
  return volume;
}

function viewOf({ name, state, base, round, position }: DestinationRow): PeerMirror {
  return { name, state: state === 'broken' || state === 'breaking' ? 'broken' : 'active', base, round, position };
}
