import type { InputOf } from '@granary/contract';
import type { peerApi } from '@granary/contract/array';
import { bytes, badParameter, fail } from '@granary/kernel';
import type { PeerActor } from '../peers/service.ts';
import { changedOptions } from '../shares/options.ts';
import { findShare, updateShareOptions } from '../shares/repository.ts';
import { readOptions } from '../shares/request.ts';
import { findNextOfMirror, findSurplusOfMirror } from '../snapshots/repository.ts';
import { type DestinationRecords, volumeIn } from './destination-records.ts';
import { frameLabel, readFrame, type Range } from './frames.ts';
import type { DestinationMirror } from './mirror.ts';

type Peers = typeof peerApi.groups.peers;
export type NewRound = InputOf<Peers['beginRound']>;
export type Part = InputOf<Peers['writeRanges']>;

const IDLE_MS_MAX = 60_000;
/** Stands for the snapshot on its way while the volume is being emptied for it. */
const CLEARING = '-';

/** Rounds of a mirror, as its destination sees them: each brings the volume from one snapshot of the source to the next. */
export class DestinationRounds {
  readonly #records: DestinationRecords;
  /** When data of a mirror was worked on last. */
  readonly #worked = new Map<string, number>();

  constructor(records: DestinationRecords) {
    this.#records = records;
  }

  async begin(mirror: DestinationMirror, round: NewRound, peer: PeerActor): Promise<void> {
    const { volumes } = this.#records.neighbours;
    const volume = volumeIn(mirror);
    if (volumes.get(volume).sizeBytes < round.size_bytes)
      await volumes.expandTo(volume, bytes(round.size_bytes), 'system');
    if (mirror.round === round.snapshot) return;
    if (round.is_share) await this.#followOptions(volume, round);
    await this.#clear(mirror, round.base ?? null);
    await this.#records.change(mirror, {
      round: round.snapshot,
      roundName: round.snapshot_name,
      roundTakenAt: round.taken_at,
      position: 0,
      sourceProvider: peer.provider,
      sourceArray: peer.displayName,
      sourceGroup: round.cg_name,
      sourceGroupDisplayName: round.cg_display_name,
      sourcePoolDisplayName: round.pool_display_name,
      sourceWwid: round.wwid,
    });
    this.#worked.set(mirror.name, performance.now());
  }

  /** What the source lets its clients do holds here, too, once the mirror is broken. */
  #followOptions(volume: string, round: NewRound): Promise<void> {
    return this.#records.tools.store.write((tx) => {
      const share = findShare(tx, volume);
      if (share) updateShareOptions(tx, volume, changedOptions(share.options, readOptions(round)));
    });
  }

  async write(mirror: DestinationMirror, part: Part, peer: PeerActor): Promise<void> {
    const ranges = await this.#read(part, mirror, peer);
    await this.#apply(volumeIn(mirror), ranges);
    const received = ranges.reduce((sum, { bytes }) => sum + (bytes?.length ?? 0), 0);
    await this.#records.change(mirror, {
      position: part.to,
      receivedBytes: mirror.receivedBytes + received,
      syncMs: mirror.syncMs + this.#spent(mirror.name),
    });
  }

  /** The snapshot first: cut off after it, the next attempt finds it. */
  async end(mirror: DestinationMirror): Promise<void> {
    const { store, engine } = this.#records.tools;
    const { snapshots, volumes } = this.#records.neighbours;
    const volume = volumeIn(mirror);
    await engine.flushVolume(volume);
    const taken = store.read((db) => findNextOfMirror(db, mirror.name, mirror.baseSnapshot));
    const naming = {
      displayName: mirror.roundName ?? mirror.round ?? mirror.name,
      application: 'mirror',
      mirrorJob: mirror.name,
      orSimilar: true,
    } as const;
    const snapshot = taken ?? (await snapshots.take([volumes.get(volume)], naming, 'system'))[0]?.name ?? null;
    await this.#records.change(mirror, {
      base: mirror.round,
      baseTakenAt: mirror.roundTakenAt,
      baseSnapshot: snapshot,
      round: null,
      roundName: null,
      roundTakenAt: null,
      position: 0,
      syncMs: mirror.syncMs + this.#spent(mirror.name),
    });
  }

  /** Deletes received snapshots beyond the newest `keep`. */
  async prune(name: string, keep: number): Promise<void> {
    const surplus = this.#records.tools.store.read((db) => findSurplusOfMirror(db, name, keep));
    await this.#records.neighbours.snapshots.delete(surplus, 'system').catch((error: unknown) => {
      this.#records.tools.log.warn({ error, mirror: name }, 'snapshots that are not kept could not be deleted');
    });
  }

  /** Before a round begins, the volume is what the last whole snapshot shows; or empty, where all of it is to come. */
  async #clear(mirror: DestinationMirror, base: string | null): Promise<void> {
    const { engine } = this.#records.tools;
    if (base !== null && base !== mirror.base) {
      throw fail('mirror_base_differs', { name: mirror.name, base: mirror.base ?? 'nothing', wanted: base });
    }
    await this.#dropStrays(mirror);
    if (base === null && (mirror.base !== null || mirror.round !== null)) {
      // Recorded first: after a crash in between, the volume does not count as equal to the last snapshot.
      await this.#records.change(mirror, { round: CLEARING, position: 0 });
      await this.#records.empty(volumeIn(mirror));
    } else if (mirror.round !== null && mirror.baseSnapshot !== null) {
      // The same: what was received of that round is gone with this.
      await this.#records.change(mirror, { round: CLEARING, position: 0 });
      await engine.revertVolume(mirror.baseSnapshot);
    }
  }

  /** Of a round that was cut off at its very end, and is not asked for any more. */
  async #dropStrays(mirror: DestinationMirror): Promise<void> {
    const { store } = this.#records.tools;
    for (;;) {
      const stray = store.read((db) => findNextOfMirror(db, mirror.name, mirror.baseSnapshot));
      if (stray === undefined) return;
      await this.#records.neighbours.snapshots.delete([stray], 'system');
    }
  }

  async #read({ job, snapshot, from, to, octets }: Part, mirror: DestinationMirror, peer: PeerActor): Promise<Range[]> {
    const plain = peer.keys.unseal(octets.bytes, frameLabel(job, snapshot, from, to));
    const ranges = plain && (await readFrame(plain));
    if (!ranges) throw badParameter('octets', 'was damaged on its way; send it again');
    const end = Math.min(to, this.#records.neighbours.volumes.get(volumeIn(mirror)).sizeBytes);
    if (to < from || ranges.some(({ offset, length }) => offset < from || offset + length > end))
      throw badParameter('octets', 'must lie between from and to, inside the volume');
    return ranges;
  }

  async #apply(volume: string, ranges: readonly Range[]): Promise<void> {
    const { engine } = this.#records.tools;
    for (const { offset, length, bytes } of ranges) {
      if (bytes) await engine.writeVolume(volume, offset, bytes);
      else await engine.discardVolume(volume, offset, length);
    }
    await engine.flushVolume(volume);
  }

  /** Since data of it was last worked on, unless that was long ago. */
  #spent(name: string): number {
    const now = performance.now();
    const ms = now - (this.#worked.get(name) ?? now);
    this.#worked.set(name, now);
    return ms < IDLE_MS_MAX ? Math.round(ms) : 0;
  }
}
