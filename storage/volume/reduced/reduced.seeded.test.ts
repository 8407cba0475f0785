import assert from 'node:assert/strict';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { rounds } from '../../../testing/effort.ts';
import { StorageError } from '../../errors.ts';
import { openPoolDatabase } from '../../metadata/pool-database.ts';
import { Pool } from '../../pool/pool.ts';
import { MemoryGroup } from '../../testing/memory-group.ts';
import { PoolModel, type Step, STEP_KINDS } from '../../testing/pool-model.ts';
import type { VolumeOptions } from '../format.ts';
import { checkReduced } from './check.ts';
import { reductionOf } from './reduction.ts';

const STEPS = rounds({ quick: 150, long: 1_000, torture: 1_000 });
const MIB = 1024 * 1024;
const SECTOR_BYTES = 512;
const SECTORS_PER_CHUNK = 64;

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom(...STEP_KINDS, 'special' as const, 'special' as const, 'special' as const),
  which: fc.nat({ max: 1000 }),
  at: fc.nat({ max: 100_000 }),
  size: fc.nat({ max: 1000 }),
});

interface Mix {
  readonly options: VolumeOptions;
  readonly encrypted: boolean;
}

/** A pool with its model, and what a random story can do to it beyond reading and writing. */
class Story {
  readonly #file: string;
  readonly #mix: Mix;
  readonly #key = Buffer.from(Array.from({ length: 64 }, (_, index) => index));
  readonly #groups = [new MemoryGroup('group-1', 24 * MIB), new MemoryGroup('group-2', 24 * MIB)];
  readonly #problems: unknown[] = [];
  #names = 2;

  constructor(folder: string, mix: Mix) {
    this.#file = path.join(folder, 'pool.db');
    this.#mix = mix;
  }

  async tell(steps: readonly Step[]): Promise<void> {
    const pool = await Pool.create({ ...this.#setup(), id: 'pool', mode: 'stripe' });
    const { options } = this.#mix;
    const model = new PoolModel(pool, (which) => {
      return this.#mix.encrypted && which % 2 === 0 ? { options, key: this.#key } : { options };
    });
    for (const each of steps) await model.run(each, (special) => this.#special(model, special));
    await model.pool.whenIdle();
    await model.verify();
    await this.#checkBooks(model);
    await this.#deleteAll(model);
    await model.pool.close();
    if (this.#problems.length > 0) throw this.#problems[0];
  }

  #setup() {
    return { file: this.#file, groups: this.#groups, onError: (error: unknown) => void this.#problems.push(error) };
  }

  async #special(model: PoolModel, each: Step): Promise<void> {
    const actions = [
      () => this.#addGroup(model, each),
      () => this.#removeGroup(model, each),
      () => this.#reopen(model),
      () => this.#switchOptions(model, each),
      () => this.#copy(model, each),
      () => this.#copy(model, each),
      () => this.#writeTogether(model, each),
    ];
    await actions[each.which % actions.length]?.();
  }

  async #addGroup(model: PoolModel, { size }: Step): Promise<void> {
    if (this.#groups.length >= 4) return;
    const group = new MemoryGroup(`group-${++this.#names}`, (8 + (size % 16)) * MIB);
    this.#groups.push(group);
    await model.pool.addGroup(group);
  }

  async #removeGroup(model: PoolModel, { size, at }: Step): Promise<void> {
    if (this.#groups.length === 0) return;
    const id = this.#groups[size % this.#groups.length]?.id ?? '';
    const removal = model.pool.removeGroup(id).then(
      () =>
        this.#groups.splice(
          this.#groups.findIndex((group) => group.id === id),
          1,
        ),
      (error: unknown) => assert(error instanceof StorageError && error.code === 'pool-full', error as Error),
    );
    // While it goes on, the rest of the world does, too.
    for (let count = 0; count < 4; count++)
      await this.#copy(model, { kind: 'special', which: count, at: at + 977 * count, size });
    await removal;
  }

  async #reopen(model: PoolModel): Promise<void> {
    await model.pool.close();
    this.#checkFile();
    model.pool = Pool.open(this.#setup());
    for (const volume of model.pool.volumes.list()) {
      if (volume.encrypted) model.pool.volumes.unlock(volume.id, this.#key);
    }
  }

  async #switchOptions(model: PoolModel, { at, size }: Step): Promise<void> {
    const [id] = [...model.volumes.keys()].slice(at % Math.max(model.volumes.size, 1));
    if (id === undefined || size % 3 !== 0) return;
    const { compression, deduplication } = this.#mix.options;
    const off = size % 2 === 0;
    await model.pool.volumes.setOptions(id, {
      compression: compression && !off,
      deduplication: deduplication && !off,
    });
  }

  /** The same bytes at the same place of another volume: what deduplication lives on. */
  async #copy(model: PoolModel, { at, size }: Step): Promise<void> {
    const volumes = [...model.volumes];
    const [fromId, from] = volumes[at % Math.max(volumes.length, 1)] ?? [];
    const [toId, to] = volumes[size % Math.max(volumes.length, 1)] ?? [];
    if (fromId === undefined || toId === undefined || !from || !to) return;
    const sectors = Math.min(from.sectors, to.sectors);
    const sector = Math.floor((at % sectors) / SECTORS_PER_CHUNK) * SECTORS_PER_CHUNK;
    const count = Math.min(SECTORS_PER_CHUNK * (1 + (size % 9)), sectors - sector);
    const bytes = Buffer.alloc(count * SECTOR_BYTES);
    await model.pool.volumes.get(fromId).read(sector * SECTOR_BYTES, bytes);
    try {
      await model.pool.volumes.get(toId).write(sector * SECTOR_BYTES, bytes);
    } catch (error) {
      assert.match(String(error), /pool is full/);
      const seen = Buffer.alloc(bytes.length);
      await model.pool.volumes.get(toId).read(sector * SECTOR_BYTES, seen);
      for (let index = 0; index < count; index++) {
        const range = [index * SECTOR_BYTES, (index + 1) * SECTOR_BYTES] as const;
        if (!seen.subarray(...range).equals(bytes.subarray(...range))) continue;
        to.stamps[sector + index] = from.stamps[sector + index] ?? 0;
      }
      return;
    }
    to.stamps.set(from.stamps.slice(sector, sector + count), sector);
  }

  /** Neighbouring blocks of few chunks, written at the same time: each must be there afterwards. */
  async #writeTogether(model: PoolModel, { at, size }: Step): Promise<void> {
    const [id, target] = [...model.volumes][at % Math.max(model.volumes.size, 1)] ?? [];
    if (id === undefined || !target) return;
    const first = Math.floor((at % target.sectors) / 8) * 8;
    const source = [...model.volumes.values()][size % model.volumes.size];
    if (!source || source.sectors < first + 160 || target.sectors < first + 160) return;
    const writes = Array.from({ length: 20 }, async (_, index) => {
      const sector = first + index * 8;
      const bytes = source.bytes(sector, 8);
      await model.pool.volumes.get(id).write(sector * SECTOR_BYTES, bytes);
      target.stamps.set(source.stamps.slice(sector, sector + 8), sector);
    });
    const results = await Promise.allSettled(writes);
    for (const result of results) if (result.status === 'rejected') assert.match(String(result.reason), /pool is full/);
  }

  /** What the pool counts is what its maps say. */
  async #checkBooks({ pool }: PoolModel): Promise<void> {
    await pool.flush();
    const { containerBytes, ...reduction } = pool.reduction();
    assert.deepEqual(reduction, await reductionOf(pool.state.layers.all()));
    assert.equal(pool.usage().usedBytes, containerBytes);
  }

  async #deleteAll({ pool }: PoolModel): Promise<void> {
    for (const { id } of pool.volumes.list()) await pool.deleteVolume(id);
    await pool.whenIdle();
    await pool.flush();
    await pool.state.extents.readers.idle();
    assert.deepEqual(pool.reduction(), { logicalBytes: 0, compressedBytes: 0, storedBytes: 0, containerBytes: 0 });
    assert.equal(pool.usage().usedBytes, 0);
  }

  #checkFile(): void {
    const database = openPoolDatabase(this.#file);
    try {
      assert.deepEqual(checkReduced(database), []);
    } finally {
      database.close();
    }
  }
}

async function tell(steps: readonly Step[], mix: Mix): Promise<void> {
  const folder = await fs.mkdtemp(path.join(os.tmpdir(), 'granary-reduced-'));
  try {
    await new Story(folder, mix).tell(steps);
  } finally {
    await fs.rm(folder, { recursive: true });
  }
}

const mixes: readonly (Mix & { readonly name: string })[] = [
  { name: 'compression', options: { compression: true, deduplication: false }, encrypted: false },
  { name: 'deduplication', options: { compression: false, deduplication: true }, encrypted: false },
  { name: 'both', options: { compression: true, deduplication: true }, encrypted: false },
  { name: 'both, half of the volumes encrypted', options: { compression: true, deduplication: true }, encrypted: true },
  { name: 'deduplication and encryption', options: { compression: false, deduplication: true }, encrypted: true },
];

for (const mix of mixes) {
  test(`a pool of reduced volumes equals its model through random operations: ${mix.name}`, async () => {
    const story = fc.array(step, { minLength: STEPS, maxLength: STEPS, size: 'max' });
    const short = fc.array(step, { maxLength: 200, size: 'max' });
    await fc.assert(
      fc.asyncProperty(short, (steps) => tell(steps, mix)),
      { numRuns: rounds({ quick: 2, long: 8, torture: 200 }) },
    );
    await fc.assert(
      fc.asyncProperty(story, (steps) => tell(steps, mix)),
      { numRuns: rounds({ quick: 1, long: 1, torture: 20 }), endOnFailure: true },
    );
  });
}
