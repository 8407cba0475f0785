import type { InputOf, OutputOf } from '@granary/contract';
import type { peerApi } from '@granary/contract/array';
import { fail, Locks } from '@granary/kernel';
import type { PeerActor } from '../peers/service.ts';
import type { ArrayTools } from '../tools.ts';
import { findVolume } from '../volumes/repository.ts';
import { DestinationRecords, type Neighbours } from './destination-records.ts';
import { DestinationRemoval } from './destination-removal.ts';
import { DestinationCreation, type NewMirror } from './destination-creation.ts';
import { DestinationRounds, type NewRound, type Part } from './destination-rounds.ts';
import { findDestinationOf, listDestinations } from './repository.ts';
import type { DestinationMirror } from './mirror.ts';

type Peers = typeof peerApi.groups.peers;
type EndOfRound = InputOf<Peers['completeRound']>;
type PeerMirror = OutputOf<Peers['getMirror']>['mirror'];

/** A source that did not call for this time is out of reach. */
const SILENCE_MS_MAX = 90_000;

/**
 * Mirrors whose destination is here. Their sources call; every answer describes what is durable. What a
 * source sends again is taken again and changes nothing.
 */
export class MirrorDestinations {
  readonly #tools: ArrayTools;
  readonly #records: DestinationRecords;
  readonly #making: DestinationCreation;
  readonly #rounds: DestinationRounds;
  readonly #endings: DestinationRemoval;
  readonly #turns = new Locks();
  /** When a source called last. */
  readonly #lastCallAt = new Map<string, number>();
  readonly #startedAt = performance.now();

  constructor(tools: ArrayTools, neighbours: Neighbours) {
    this.#tools = tools;
    this.#records = new DestinationRecords(tools, neighbours);
    this.#making = new DestinationCreation(this.#records);
    this.#rounds = new DestinationRounds(this.#records);
    this.#endings = new DestinationRemoval(this.#records);
  }

  get(name: string): DestinationMirror | undefined {
    return this.#records.get(name);
  }

  isSilent(name: string): boolean {
    return performance.now() - (this.#lastCallAt.get(name) ?? this.#startedAt) > SILENCE_MS_MAX;
  }

  create(wanted: NewMirror, peer: PeerActor): Promise<PeerMirror> {
    return this.#turns.run(keyOf(peer, wanted.job), async () => {
      const { store } = this.#tools;
      const known = store.read((db) => findDestinationOf(db, peer.uuid, wanted.job));
      if (known && known.state !== 'creating') return this.#view(this.#recordCall(known));
      const name = await this.#making.make(wanted, peer, known);
      return this.#view(this.#recordCall(this.#records.require(name)));
    });
  }

  show(job: string, isPaused: boolean, peer: PeerActor): Promise<PeerMirror> {
    return this.#turns.run(keyOf(peer, job), async () => {
      const mirror = this.#find(job, peer);
      if (mirror.isPaused !== isPaused) await this.#records.change(mirror, { isPaused });
      return this.#view(mirror);
    });
  }

  /** What never was a copy of anything goes; it is no error if there is nothing. */
  abandon(job: string, peer: PeerActor): Promise<void> {
    return this.#turns.run(keyOf(peer, job), async () => {
      const mirror = this.#tools.store.read((db) => findDestinationOf(db, peer.uuid, job));
      if (!mirror) return;
      if (mirror.base !== null || mirror.state === 'broken') throw fail('mirror_holds_data', { name: mirror.name });
      await this.#records.change(mirror, { state: 'deleting' });
      await this.#endings.delete(mirror);
    });
  }

  begin(round: NewRound, peer: PeerActor): Promise<PeerMirror> {
    return this.#turns.run(keyOf(peer, round.job), async () => {
      const mirror = this.#find(round.job, peer);
      if (mirror.state !== 'active' || mirror.base === round.snapshot) return this.#view(mirror);
      await this.#rounds.begin(mirror, round, peer);
      return this.#view(this.#records.require(mirror.name));
    });
  }

  write(part: Part, peer: PeerActor): Promise<PeerMirror> {
    return this.#turns.run(keyOf(peer, part.job), async () => {
      const mirror = this.#find(part.job, peer);
      // Where this one stands is the truth: the source goes on from there.
      if (mirror.state !== 'active' || mirror.round !== part.snapshot || mirror.position !== part.from)
        return this.#view(mirror);
      await this.#rounds.write(mirror, part, peer);
      return this.#view(this.#records.require(mirror.name));
    });
  }

  complete({ job, snapshot, keep }: EndOfRound, peer: PeerActor): Promise<PeerMirror> {
    return this.#turns.run(keyOf(peer, job), async () => {
      const mirror = this.#find(job, peer);
      if (mirror.state === 'active' && mirror.base !== snapshot) {
        if (mirror.round !== snapshot) throw fail('mirror_not_received', { name: mirror.name, snapshot });
        await this.#rounds.end(mirror);
      }
      if (keep !== undefined) await this.#rounds.prune(mirror.name, keep);
      return this.#view(this.#records.require(mirror.name));
    });
  }

  breakFor(job: string, inherited: boolean, peer: PeerActor): Promise<PeerMirror> {
    return this.#turns.run(keyOf(peer, job), async () => {
      const mirror = this.#find(job, peer);
      await this.#endings.break(mirror, inherited, `array ${peer.displayName}`);
      return this.#view(this.#records.require(mirror.name));
    });
  }

  /** From this side: its source learns it with its next call. */
  break(mirror: DestinationMirror, inherited: boolean, actor: string): Promise<void> {
    return this.#turns.run(`${mirror.peer} ${mirror.sourceJob}`, async () => {
      const present = this.#records.require(mirror.name);
      if (present.state === 'broken') throw fail('mirror_broken_already', { name: mirror.name });
      await this.#endings.break(present, inherited, actor);
    });
  }

  /** What a crash cut off. */
  async reconcile(): Promise<void> {
    const { store, log } = this.#tools;
    for (const mirror of store.read(listDestinations)) {
      try {
        if (mirror.state === 'creating') await this.#making.reconcile(mirror);
        if (mirror.state === 'breaking') await this.#endings.finishBreak(mirror, 'system');
        if (mirror.state === 'deleting') await this.#endings.delete(mirror);
      } catch (error) {
        log.error({ error, mirror: mirror.name }, 'a mirror could not be ended; break it again when its pool is well');
      }
    }
  }

  #find(job: string, peer: PeerActor): DestinationMirror {
    const mirror = this.#tools.store.read((db) => findDestinationOf(db, peer.uuid, job));
    if (!mirror || mirror.state === 'creating' || mirror.state === 'deleting') throw fail('job_not_found', { id: job });
    return this.#recordCall(mirror);
  }

  #view({ name, state, base, round, position, volume }: DestinationMirror): PeerMirror {
    const kind = this.#tools.store.read((db) => findVolume(db, volume ?? ''))?.kind;
    const shown = state === 'broken' || state === 'breaking' ? 'broken' : 'active';
    return { name, state: shown, base, round, position, is_share: kind === 'file' };
  }

  #recordCall(mirror: DestinationMirror): DestinationMirror {
    this.#lastCallAt.set(mirror.name, performance.now());
    return mirror;
  }
}

function keyOf({ uuid }: PeerActor, job: string): string {
  return `${uuid} ${job}`;
}
