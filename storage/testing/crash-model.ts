import assert from 'node:assert/strict';
import type { BlockDevice } from '../block-device.ts';
import type { Pool } from '../pool/pool.ts';
import type { Deed } from './crash-story.ts';
import { sectorBytes, VolumeModel } from './volume-model.ts';

const SECTOR_BYTES = 512;
const SECTORS_PER_READ = 1024;

interface MaybeVolume {
  /** As of the last flush. */
  durable: VolumeModel;
  /** As of the last acknowledged write. */
  latest: VolumeModel;
  /** Stamps that may have reached the disk since the last flush. */
  maybe: Map<number, Set<number>>;
  state: 'there' | 'maybe there' | 'maybe gone';
}

interface MaybeSnapshot {
  readonly volume: string;
  readonly model: VolumeModel;
  state: 'there' | 'maybe there' | 'maybe gone';
}

/**
 * What must and what may be found after a crash. It is informed of every deed when it begins and when it is
 * acknowledged.
 */
export class CrashModel {
  readonly #volumes = new Map<string, MaybeVolume>();
  readonly #snapshots = new Map<string, MaybeSnapshot>();

  begin(deed: Deed): void {
    switch (deed.kind) {
      case 'writes':
        for (const { volume, sector, count, stamp } of deed.writes) this.#mayWrite(volume, sector, count, stamp);
        return;
      case 'create':
        this.#addVolume(deed.volume, new VolumeModel(deed.sectors));
        return;
      case 'snapshot': {
        const { latest } = this.#volume(deed.volume);
        this.#snapshots.set(deed.snapshot, { volume: deed.volume, model: latest.copy(), state: 'maybe there' });
        return;
      }
      case 'clone':
        this.#addVolume(deed.volume, this.#snapshot(deed.snapshot).model.copy());
        return;
      case 'deleteSnapshot':
        this.#snapshot(deed.snapshot).state = 'maybe gone';
        return;
      case 'reduce':
      case 'flush':
    }
  }

  answered(deed: Deed): void {
    switch (deed.kind) {
      case 'writes':
        for (const { volume, sector, count, stamp } of deed.writes)
          this.#volume(volume).latest.fill(sector, count, stamp);
        return;
      case 'create':
      case 'clone':
        this.#volume(deed.volume).state = 'there';
        return;
      case 'snapshot':
        this.#snapshot(deed.snapshot).state = 'there';
        return;
      case 'deleteSnapshot':
        this.#snapshots.delete(deed.snapshot);
        return;
      case 'reduce':
        return;
      case 'flush':
        for (const volume of this.#volumes.values()) {
          volume.durable = volume.latest.copy();
          volume.maybe.clear();
        }
    }
  }

  async verify(pool: Pool): Promise<void> {
    for (const [id, volume] of this.#volumes) {
      const found = pool.volumes.list().find((each) => each.id === id);
      if (!found && volume.state === 'maybe there') continue;
      assert(found, `volume ${id} is gone`);
      await verifySectors(found, volume.durable, volume.maybe, `volume ${id}`);
    }
    for (const [id, { volume, model, state }] of this.#snapshots) {
      const found = pool.snapshots.list(volume).some((each) => each.id === id);
      if (!found && state !== 'there') continue;
      assert(found, `snapshot ${id} is gone`);
      await verifySectors(pool.snapshots.open(id), model, new Map(), `snapshot ${id}`);
    }
  }

  #addVolume(id: string, model: VolumeModel): void {
    this.#volumes.set(id, { durable: model, latest: model.copy(), maybe: new Map(), state: 'maybe there' });
  }

  #mayWrite(id: string, sector: number, count: number, stamp: number): void {
    const { maybe } = this.#volume(id);
    for (let at = sector; at < sector + count; at++) {
      const stamps = maybe.get(at) ?? new Set();
      stamps.add(stamp);
      maybe.set(at, stamps);
    }
  }

  #volume(id: string): MaybeVolume {
    const volume = this.#volumes.get(id);
    assert(volume, `the story knows no volume ${id}`);
    return volume;
  }

  #snapshot(id: string): MaybeSnapshot {
    const snapshot = this.#snapshots.get(id);
    assert(snapshot, `the story knows no snapshot ${id}`);
    return snapshot;
  }
}

async function verifySectors(
  device: BlockDevice,
  durable: VolumeModel,
  maybe: ReadonlyMap<number, ReadonlySet<number>>,
  name: string,
): Promise<void> {
  for (let sector = 0; sector < durable.sectors; sector += SECTORS_PER_READ) {
    const count = Math.min(SECTORS_PER_READ, durable.sectors - sector);
    const bytes = Buffer.alloc(count * SECTOR_BYTES);
    await device.read(sector * SECTOR_BYTES, bytes);
    for (let index = 0; index < count; index++) {
      const seen = bytes.subarray(index * SECTOR_BYTES, (index + 1) * SECTOR_BYTES);
      verifySector(seen, sector + index, durable, maybe.get(sector + index), name);
    }
  }
}

function verifySector(
  seen: Buffer,
  sector: number,
  durable: VolumeModel,
  maybe: ReadonlySet<number> | undefined,
  name: string,
): void {
  const flushed = durable.stamps[sector] ?? 0;
  const stamp = seen.readUInt32LE(4);
  const allowed = stamp === flushed || maybe?.has(stamp) === true;
  const others = [...(maybe ?? [])].join(', ') || 'none';
  assert(
    allowed,
    `${name}, sector ${sector}: stamp ${stamp}, where ${flushed} was flushed and ${others} written since`,
  );
  assert(seen.equals(sectorBytes(stamp, sector)), `${name}, sector ${sector}: not as stamp ${stamp} was written`);
}
