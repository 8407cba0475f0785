import assert from 'node:assert/strict';
import type { BlockDevice } from '../block-device.ts';
import { StorageError } from '../errors.ts';
import { migrateVolume } from '../pool/migration.ts';
import type { Pool } from '../pool/pool.ts';
import type { HeldBytes } from '../pool/usage.ts';
import { VolumeModel } from './volume-model.ts';

const SECTOR_BYTES = 512;
const SECTORS_PER_STEP = 2048;
const VOLUME_SECTORS_MAX = 8 * SECTORS_PER_STEP;

/** One step of a random story; numbers are taken modulo whatever there is to choose from. */
export interface Step {
  readonly kind: StepKind;
  readonly which: number;
  readonly at: number;
  readonly size: number;
}

export type StepKind = (typeof STEP_KINDS)[number];

/** As often as they are named. */
export const STEP_KINDS = [
  ...['write', 'write', 'write', 'write', 'write', 'write', 'write', 'write'],
  ...['read', 'read', 'read', 'discard', 'discard', 'flush'],
  ...['snapshot', 'snapshot', 'deleteSnapshot', 'deleteSnapshot', 'clone', 'checkSnapshot'],
  ...['create', 'deleteVolume', 'expand', 'revert', 'difference', 'special', 'migrate', 'reduce'],
] as const;

/** A pool and what it must hold, side by side. */
export class PoolModel {
  pool: Pool;
  /** A second pool that volumes move to and from. */
  other: Pool | undefined;
  readonly #away = new Set<string>();
  readonly volumes = new Map<string, VolumeModel>();
  readonly snapshots = new Map<string, { volumeId: string; model: VolumeModel }>();
  readonly #options: (which: number) => object;
  #stamp = 1;
  #names = 1;

  constructor(pool: Pool, options: (which: number) => object = () => ({}), other?: Pool) {
    this.pool = pool;
    this.other = other;
    this.#options = options;
  }

  async run(step: Step, special: (step: Step) => Promise<void>): Promise<void> {
    if (step.kind === 'special') return special(step);
    if (this.volumes.size === 0) return this.#create(step);
    const actions: Record<Exclude<StepKind, 'special'>, (step: Step) => Promise<void>> = {
      write: (each) => this.#write(each),
      read: (each) => this.#read(each),
      discard: (each) => this.#discard(each),
      flush: (each) => this.#flush(each),
      migrate: (each) => this.#migrate(each),
      snapshot: (each) => this.#snapshot(each),
      deleteSnapshot: (each) => this.#deleteSnapshot(each),
      clone: (each) => this.#clone(each),
      checkSnapshot: (each) => this.#checkSnapshot(each),
      create: (each) => this.#create(each),
      deleteVolume: (each) => this.#deleteVolume(each),
      expand: (each) => this.#expand(each),
      revert: (each) => this.#revert(each),
      difference: (each) => this.#difference(each),
      reduce: (each) => this.#reduce(each),
    };
    await actions[step.kind](step);
  }

  /** Everything reads as expected, and the space accounting adds up. */
  async verify(): Promise<void> {
    for (const [id, model] of this.volumes) {
      await verifyDevice(this.#poolOf(id).volumes.get(id), model, `volume ${id}`);
    }
    for (const [id, { model, volumeId }] of this.snapshots) {
      await verifyDevice(this.#poolOf(volumeId).snapshots.open(id), model, `snapshot ${id}`);
    }
    for (const pool of [this.pool, this.other]) if (pool) await verifySpace(pool);
  }

  async #write(step: Step): Promise<void> {
    const [id, model] = this.#volume(step);
    const { sector, count } = rangeOf(step, model);
    const stamp = this.#stamp++;
    const after = model.copy();
    after.fill(sector, count, stamp);
    try {
      await this.#poolOf(id)
        .volumes.get(id)
        .write(sector * SECTOR_BYTES, after.bytes(sector, count));
    } catch (error) {
      await this.#adopt(error, id, sector, count, stamp);
      return;
    }
    model.fill(sector, count, stamp);
  }

  async #read(step: Step): Promise<void> {
    const [id, model] = this.#volume(step);
    const { sector, count } = rangeOf(step, model);
    const bytes = Buffer.alloc(count * SECTOR_BYTES, 0xee);
    await this.#poolOf(id)
      .volumes.get(id)
      .read(sector * SECTOR_BYTES, bytes);
    compare(bytes, model, sector, `volume ${id}`);
  }

  async #discard(step: Step): Promise<void> {
    const [id, model] = this.#volume(step);
    const { sector, count } = rangeOf({ ...step, size: step.size * 7 }, model);
    try {
      await this.#poolOf(id)
        .volumes.get(id)
        .discard(sector * SECTOR_BYTES, count * SECTOR_BYTES);
    } catch (error) {
      await this.#adopt(error, id, sector, count, 0);
      return;
    }
    model.fill(sector, count, 0);
  }

  /** After a refusal each sector has its old or its new content: adopts what is there. */
  async #adopt(error: unknown, id: string, sector: number, count: number, stamp: number): Promise<void> {
    assert(error instanceof StorageError && error.code === 'pool-full', error as Error);
    const model = this.volumes.get(id);
    const bytes = Buffer.alloc(count * SECTOR_BYTES);
    await this.#poolOf(id)
      .volumes.get(id)
      .read(sector * SECTOR_BYTES, bytes);
    for (let index = 0; index < count; index++) {
      if (bytes.readUInt32LE(index * SECTOR_BYTES + 4) === stamp) model?.fill(sector + index, 1, stamp);
    }
    if (model) compare(bytes, model, sector, `volume ${id} after a refusal`);
  }

  async #snapshot(step: Step): Promise<void> {
    const [volumeId, model] = this.#volume(step);
    if (this.snapshots.size > 24) return;
    const id = `snapshot-${this.#names++}`;
    await this.#poolOf(volumeId).snapshots.take([{ volumeId, id }], new Date(this.#names * 1000));
    this.snapshots.set(id, { volumeId, model: model.copy() });
  }

  async #deleteSnapshot(step: Step): Promise<void> {
    const found = pick(this.snapshots, step.which);
    if (!found) return;
    const pool = this.#poolOf(found[1].volumeId);
    await pool.snapshots.delete(found[0]);
    this.snapshots.delete(found[0]);
    if (step.at % 2 === 0) await pool.whenIdle();
  }

  async #clone(step: Step): Promise<void> {
    const found = pick(this.snapshots, step.which);
    if (!found || this.volumes.size > 8) return;
    const id = `clone-${this.#names++}`;
    await this.#poolOf(found[1].volumeId).snapshots.clone(found[0], id);
    if (this.#away.has(found[1].volumeId)) this.#away.add(id);
    this.volumes.set(id, found[1].model.copy());
  }

  async #checkSnapshot(step: Step): Promise<void> {
    const found = pick(this.snapshots, step.which);
    if (!found) return;
    const device = this.#poolOf(found[1].volumeId).snapshots.open(found[0]);
    await verifyDevice(device, found[1].model, `snapshot ${found[0]}`);
  }

  async #create(step: Step): Promise<void> {
    if (this.volumes.size > 4) return;
    const sectors = SECTORS_PER_STEP * (1 + (step.size % 6));
    const id = `volume-${this.#names++}`;
    await this.pool.volumes.create({ id, sizeBytes: sectors * SECTOR_BYTES, ...this.#options(step.which) });
    this.volumes.set(id, new VolumeModel(sectors));
  }

  async #deleteVolume(step: Step): Promise<void> {
    const found = pick(this.volumes, step.which);
    if (found && this.volumes.size > 2) await this.#deleteVolumeById(found[0]);
  }

  async #deleteVolumeById(id: string): Promise<void> {
    await this.#poolOf(id).deleteVolume(id);
    this.#away.delete(id);
    this.volumes.delete(id);
    for (const [snapshot, { volumeId }] of this.snapshots) if (volumeId === id) this.snapshots.delete(snapshot);
  }

  async #expand(step: Step): Promise<void> {
    const [id, model] = this.#volume(step);
    const sectors = model.sectors + 64 * (1 + (step.size % 16));
    if (sectors > VOLUME_SECTORS_MAX) return;
    await this.#poolOf(id).volumes.expand(id, sectors * SECTOR_BYTES);
    model.expand(sectors);
  }

  async #revert(step: Step): Promise<void> {
    const found = pick(this.snapshots, step.which);
    if (!found) return;
    const [id, { volumeId, model }] = found;
    await this.#poolOf(volumeId).snapshots.revert(id);
    const reverted = model.copy();
    reverted.expand(this.volumes.get(volumeId)?.sectors ?? reverted.sectors);
    this.volumes.set(volumeId, reverted);
  }

  /** Applied to a copy of the older snapshot, the difference must give the newer one. */
  async #difference(step: Step): Promise<void> {
    const from = pick(this.snapshots, step.which);
    const to = pick(this.snapshots, step.at);
    if (from?.[1].volumeId !== to?.[1].volumeId || !from || !to) return;
    const result = from[1].model.copy();
    if (result.sectors !== to[1].model.sectors) return;
    for (const { offset, length, mapped } of this.#poolOf(from[1].volumeId).snapshots.difference(from[0], to[0])) {
      const start = offset / SECTOR_BYTES;
      for (let sector = start; sector < start + length / SECTOR_BYTES; sector++) {
        const stamp = to[1].model.stamps[sector] ?? 0;
        assert(mapped || stamp === 0, `sector ${sector} is said to be zeros and is not`);
        result.stamps[sector] = stamp;
      }
    }
    assert.deepEqual(result.stamps, to[1].model.stamps);
  }

  /** Switches compression and deduplication on or off, and perhaps waits until what was stored plain is converted. */
  async #reduce(step: Step): Promise<void> {
    const [id] = this.#volume(step);
    const pool = this.#poolOf(id);
    await pool.volumes.setOptions(id, { compression: step.size % 3 !== 0, deduplication: step.size % 4 === 1 });
    if (step.at % 4 === 0) await pool.whenIdle();
  }

  async #flush({ at }: Step): Promise<void> {
    await this.pool.flush();
    await this.other?.flush();
    if (at % 5 === 0) await verifySpace(this.pool);
  }

  /** Moves a volume to the other pool, with concurrent writes through the source volume. */
  async #migrate(step: Step): Promise<void> {
    const [id, model] = this.#volume(step);
    if (!this.other) return;
    const [from, to] = this.#away.has(id) ? [this.other, this.pool] : [this.pool, this.other];
    const before = from.volumes.get(id);
    const stamp = this.#stamp++;
    const { sector, count } = rangeOf(step, model);
    const moving = migrateVolume(from, to, id).then(
      () => true,
      (error: unknown) => {
        assert(error instanceof StorageError && error.code === 'pool-full', error as Error);
        return false;
      },
    );
    const after = model.copy();
    after.fill(sector, count, stamp);
    const writing = (async () => before.write(sector * SECTOR_BYTES, after.bytes(sector, count)))();
    const failure = await writing.then(
      () => undefined,
      (error: unknown) => error,
    );
    const moved = await moving;
    if (moved && !this.#away.delete(id)) this.#away.add(id);
    if (failure === undefined) model.fill(sector, count, stamp);
    else await this.#adopt(failure, id, sector, count, stamp);
  }

  #poolOf(volumeId: string): Pool {
    return this.other && this.#away.has(volumeId) ? this.other : this.pool;
  }

  #volume(step: Step): [string, VolumeModel] {
    const found = pick(this.volumes, step.which);
    assert(found);
    return found;
  }
}

function pick<T>(map: ReadonlyMap<string, T>, which: number): [string, T] | undefined {
  return [...map][which % Math.max(map.size, 1)];
}

/** Sometimes whole extents, sometimes whole blocks, sometimes odd sectors. */
function rangeOf(step: Step, model: VolumeModel): { sector: number; count: number } {
  const unit = [1, 8, 8, 512][step.size % 4] ?? 1;
  const sector = Math.floor((step.at % model.sectors) / unit) * unit;
  const count = Math.min(unit * (1 + (Math.floor(step.size / 4) % 20)), model.sectors - sector, 2048);
  return { sector, count };
}

/** What the volumes are charged for is what the pool has given out, each place once. */
async function verifySpace(pool: Pool): Promise<void> {
  await pool.whenIdle();
  await pool.flush();
  await pool.state.extents.idle();
  const share = pool.chunkShare();
  const charged = pool.volumes.list().flatMap(({ id }): HeldBytes[] => {
    const { own, snapshots } = pool.volumeUsage(id).held;
    return [own, snapshots];
  });
  const bytes = charged.reduce((sum, { plainBytes, chunkBytes }) => sum + plainBytes + chunkBytes * share, 0);
  assert.equal(Math.round(bytes), pool.usage().usedBytes);
}

async function verifyDevice(device: BlockDevice, model: VolumeModel, name: string): Promise<void> {
  const step = 1024;
  for (let sector = 0; sector < model.sectors; sector += step) {
    const count = Math.min(step, model.sectors - sector);
    const bytes = Buffer.alloc(count * SECTOR_BYTES, 0xee);
    await device.read(sector * SECTOR_BYTES, bytes);
    compare(bytes, model, sector, name);
  }
}

function compare(bytes: Buffer, model: VolumeModel, sector: number, name: string): void {
  const expected = model.bytes(sector, bytes.length / SECTOR_BYTES);
  if (bytes.equals(expected)) return;
  for (let index = 0; index * SECTOR_BYTES < bytes.length; index++) {
    const range = [index * SECTOR_BYTES, (index + 1) * SECTOR_BYTES] as const;
    const seen = bytes.subarray(...range);
    if (seen.equals(expected.subarray(...range))) continue;
    const wanted = model.stamps[sector + index] ?? 0;
    assert.fail(`${name}, sector ${sector + index}: expected stamp ${wanted}, saw ${seen.readUInt32LE(4)}`);
  }
}
