import { randomFrom } from '../../testing/random.ts';
import type { Pool } from '../pool/pool.ts';
import type { VolumeOptions } from '../volume/format.ts';
import { sectorBytes } from './volume-model.ts';

const SECTOR_BYTES = 512;
const SECTORS = 8192;

export interface Write {
  readonly volume: string;
  readonly sector: number;
  readonly count: number;
  /** 0 discards. */
  readonly stamp: number;
}

/** One step of a story; the writes of one deed are concurrent. */
export type Deed =
  | { readonly kind: 'writes'; readonly writes: readonly Write[] }
  | { readonly kind: 'flush' }
  | { readonly kind: 'create'; readonly volume: string; readonly sectors: number }
  | { readonly kind: 'snapshot'; readonly volume: string; readonly snapshot: string }
  | { readonly kind: 'clone'; readonly snapshot: string; readonly volume: string }
  | { readonly kind: 'deleteSnapshot'; readonly snapshot: string }
  | { readonly kind: 'reduce'; readonly volume: string; readonly options: VolumeOptions };

/** The same seed gives the same story, to the process that crashes and to the one that checks afterwards. */
export function* storyOf(seed: number, isReduced: boolean): Generator<Deed> {
  const random = randomFrom(seed);
  const under = (limit: number): number => Math.floor(random() * limit);
  const volumes = ['first', 'second'];
  const snapshots: string[] = [];
  for (const volume of volumes) yield { kind: 'create', volume, sectors: SECTORS };
  for (let number = 1; ; number++) {
    const dice = under(104);
    const snapshot = snapshots[under(Math.max(snapshots.length, 1))];
    if (dice < 70) yield { kind: 'writes', writes: writesOf(under, volumes, number, isReduced) };
    else if (dice < 85) yield { kind: 'flush' };
    else if (dice < 92 && snapshots.length < 6) {
      snapshots.push(`snapshot-${number}`);
      yield { kind: 'snapshot', volume: volumes[under(volumes.length)] ?? 'first', snapshot: `snapshot-${number}` };
    } else if (dice < 95 && snapshot !== undefined && volumes.length < 4) {
      volumes.push(`clone-${number}`);
      yield { kind: 'clone', snapshot, volume: `clone-${number}` };
    } else if (dice >= 100) {
      const options = { compression: under(3) > 0, deduplication: under(2) === 0 };
      yield { kind: 'reduce', volume: volumes[under(volumes.length)] ?? 'first', options };
    } else if (snapshot !== undefined) {
      snapshots.splice(snapshots.indexOf(snapshot), 1);
      yield { kind: 'deleteSnapshot', snapshot };
    }
  }
}

function writesOf(under: (limit: number) => number, volumes: readonly string[], number: number, isReduced: boolean) {
  const volume = volumes[under(volumes.length)] ?? 'first';
  const count = 1 + under(6);
  // Each in a part of the volume of its own: the order of two overlapping concurrent writes is undefined.
  const part = Math.floor(SECTORS / count);
  return Array.from({ length: count }, (_, index): Write => {
    const unit = [1, 8, 8, 64][under(4)] ?? 1;
    const length = Math.min(unit * (1 + under(isReduced ? 4 : 12)), part);
    const sector = index * part + Math.floor(under(part - length + 1) / unit) * unit;
    return { volume, sector, count: length, stamp: under(10) === 0 ? 0 : number };
  });
}

/** Performs the deed; resolves when it is acknowledged. */
export async function perform(pool: Pool, deed: Deed, options: object, now: number): Promise<void> {
  switch (deed.kind) {
    case 'writes':
      await Promise.all(deed.writes.map((write) => performWrite(pool, write)));
      return;
    case 'flush':
      return pool.flush();
    case 'create':
      await pool.volumes.create({ id: deed.volume, sizeBytes: deed.sectors * SECTOR_BYTES, ...options });
      return;
    case 'snapshot':
      return pool.snapshots.take([{ volumeId: deed.volume, id: deed.snapshot }], new Date(now));
    case 'clone':
      await pool.snapshots.clone(deed.snapshot, deed.volume);
      return;
    case 'deleteSnapshot':
      return pool.snapshots.delete(deed.snapshot);
    case 'reduce':
      return pool.volumes.setOptions(deed.volume, deed.options);
  }
}

async function performWrite(pool: Pool, { volume, sector, count, stamp }: Write): Promise<void> {
  const device = pool.volumes.get(volume);
  if (stamp === 0) {
    await device.discard(sector * SECTOR_BYTES, count * SECTOR_BYTES);
    return;
  }
  const bytes = Array.from({ length: count }, (_, index) => sectorBytes(stamp, sector + index));
  await device.write(sector * SECTOR_BYTES, Buffer.concat(bytes));
}
