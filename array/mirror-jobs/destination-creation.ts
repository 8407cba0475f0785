import { findVolumeOfMirror } from '../volumes/repository.ts';
import type { InputOf } from '@granary/contract';
import type { peerApi } from '@granary/contract/array';
import { bytes, fail, type Tx } from '@granary/kernel';
import type { PeerActor } from '../peers/service.ts';
import { nextName } from '../sequences/repository.ts';
import { changedOptions, defaultOptions } from '../shares/options.ts';
import { readOptions } from '../shares/request.ts';
import type { DestinationRecords } from './destination-records.ts';
import {
  findDestination,
  insertDestination,
  listDestinations,
  removeDestination,
  updateDestination,
} from './repository.ts';
import type { DestinationMirror } from './mirror.ts';

export type NewMirror = InputOf<typeof peerApi.groups.peers.createMirror>;

const MIRRORS_OF_PEER_MAX = 1000;

/** How a destination comes to be: on record first, then its volume. */
export class DestinationCreation {
  readonly #records: DestinationRecords;

  constructor(records: DestinationRecords) {
    this.#records = records;
  }

  /** Goes on with one that is `known`. Gives its name. */
  async make(wanted: NewMirror, peer: PeerActor, known: DestinationMirror | undefined): Promise<string> {
    const mirror = known ?? (await this.#records.tools.store.write((tx) => this.#insert(tx, wanted, peer)));
    await this.#makeVolume(mirror, wanted, peer);
    return mirror.name;
  }

  /** After a crash: one that was being made is there if its volume is; its source asks again. */
  reconcile(mirror: DestinationMirror): Promise<void> {
    return this.#records.tools.store.write((tx) => {
      const volume = findVolumeOfMirror(tx, mirror.name);
      if (volume === undefined) removeDestination(tx, mirror.name);
      else updateDestination(tx, mirror.name, { state: 'active', volume });
    });
  }

  #insert(tx: Tx, wanted: NewMirror, peer: PeerActor): DestinationMirror {
    const { clock } = this.#records.tools;
    const mine = listDestinations(tx).filter(({ peer: uuid, state }) => uuid === peer.uuid && state !== 'broken');
    if (mine.length >= MIRRORS_OF_PEER_MAX) throw fail('mirrors_of_peer_limit', { max: MIRRORS_OF_PEER_MAX });
    const name = nextName(tx, 'dstjarray');
    insertDestination(tx, {
      name,
      peer: peer.uuid,
      sourceJob: wanted.job,
      displayName: wanted.display_name,
      state: 'creating',
      volumeName: wanted.volume_name,
      poolDisplayName: this.#records.neighbours.pools.get(wanted.pool).displayName,
      sourceProvider: peer.provider,
      sourceArray: peer.displayName,
      sourceGroup: wanted.cg_name,
      sourceGroupDisplayName: wanted.cg_display_name,
      sourcePoolDisplayName: wanted.pool_display_name,
      sourceWwid: wanted.wwid,
      createdAt: clock.now(),
      modifiedAt: clock.now(),
    });
    return findDestination(tx, name) as DestinationMirror;
  }

  async #makeVolume(mirror: DestinationMirror, wanted: NewMirror, peer: PeerActor): Promise<void> {
    const { store, events, clock } = this.#records.tools;
    const actor = `array ${peer.displayName}`;
    const activate = (tx: Tx, volume: string) => {
      updateDestination(tx, mirror.name, { state: 'active', volume, modifiedAt: clock.now() });
      const title = `Volume ${wanted.volume_name} (${volume}) is the destination of mirror ${wanted.display_name} (${mirror.name}) from array ${peer.displayName}.`;
      events.record(tx, { title, subject: `mirror_job:${mirror.name}`, actor });
    };
    try {
      const known = store.read((db) => findVolumeOfMirror(db, mirror.name));
      if (known === undefined) await this.#createVolume(mirror, wanted, actor, activate);
      else await store.write((tx) => activate(tx, known));
    } catch (error) {
      if (store.read((db) => findVolumeOfMirror(db, mirror.name)) === undefined)
        await store.write((tx) => {
          removeDestination(tx, mirror.name);
        });
      throw error;
    }
  }

  /** `activate` is part of the transaction that records the volume. */
  async #createVolume(
    mirror: DestinationMirror,
    wanted: NewMirror,
    actor: string,
    activate: (tx: Tx, volume: string) => void,
  ): Promise<void> {
    const { volumes } = this.#records.neighbours;
    await volumes.create(
      {
        displayName: wanted.volume_name,
        pool: wanted.pool,
        sizeBytes: bytes(wanted.size_bytes),
        compress: wanted.compress,
        dedupe: wanted.dedupe,
        encrypted: wanted.encrypted,
        mirrorJob: mirror.name,
        share: wanted.is_share
          ? { options: changedOptions(defaultOptions, readOptions(wanted)), orSimilar: true }
          : undefined,
      },
      actor,
      activate,
    );
  }
}
