import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { randomFrom } from '../../testing/random.ts';
import type { BlockDevice } from '../block-device.ts';
import type { Pool } from '../pool/pool.ts';
import { groupOf, KEY, rigOf } from '../pool/testing/pool-rig.ts';
import { EXTENT_BYTES } from '../units.ts';
import { checkFilesystem } from './check/check.ts';
import { Filesystem } from './filesystem.ts';
import { describeFilesystem, describeModel } from './testing/described.ts';
import { FilesystemModel } from './testing/filesystem-model.ts';
import { operationOf, perform, randomStep } from './testing/operations.ts';

const TORTURE = process.env.GRANARY_TORTURE === '1';
const STEPS = TORTURE ? 3000 : 120;
const FIRST_SEED = Number(process.env.GRANARY_SEED ?? Date.now() % 1_000_000);
const MIB = 1024 * 1024;
const AT = new Date('2026-01-01T00:00:00Z');
const SMALL = { cacheBytes: 512 * 1024 };

const KINDS = {
  plain: {},
  encrypted: { key: KEY },
  reduced: { options: { compression: true, deduplication: true } },
};

async function verify(device: BlockDevice, model: FilesystemModel): Promise<void> {
  assert.deepEqual((await checkFilesystem(device)).findings, []);
  const filesystem = await Filesystem.mount(device, SMALL);
  assert.deepEqual(await describeFilesystem(filesystem), describeModel(model));
  if (!device.readOnly) await filesystem.unmount();
}

/** A filesystem on a volume of a pool, its snapshots, and what each of them has to show. */
class World {
  readonly #pool: Pool;
  readonly #random: () => number;
  readonly #snapshots = new Map<string, FilesystemModel>();
  readonly #isEncrypted: boolean;
  #filesystem: Filesystem;
  #model = new FilesystemModel();
  #names = 0;

  constructor(pool: Pool, filesystem: Filesystem, random: () => number, isEncrypted: boolean) {
    this.#pool = pool;
    this.#filesystem = filesystem;
    this.#random = random;
    this.#isEncrypted = isEncrypted;
  }

  async step(): Promise<void> {
    const chance = this.#random();
    if (chance < 0.02) await this.#takeSnapshot();
    else if (chance < 0.03) await this.#cloneSnapshot();
    else if (chance < 0.035) await this.#revert();
    else if (chance < 0.045) await this.#deleteSnapshot();
    else await this.#operate(this.#filesystem, this.#model);
  }

  async finish(): Promise<void> {
    for (const [id, model] of this.#snapshots) await verify(this.#pool.snapshots.open(id), model);
    await this.#filesystem.unmount();
    await verify(this.#pool.volumes.get('volume'), this.#model);
  }

  async #operate(filesystem: Filesystem, model: FilesystemModel): Promise<void> {
    const operation = operationOf(randomStep(this.#random), model);
    const expected = model.apply(operation);
    assert.equal(await perform(filesystem, operation), expected, JSON.stringify(operation));
  }

  async #takeSnapshot(): Promise<void> {
    const id = `snapshot-${++this.#names}`;
    await this.#filesystem.commit();
    await this.#pool.snapshots.take([{ volumeId: 'volume', id }], AT);
    this.#snapshots.set(id, this.#model.copy());
  }

  async #cloneSnapshot(): Promise<void> {
    const [id, shown] = this.#some() ?? [];
    if (id === undefined || shown === undefined) return;
    const model = shown.copy();
    const clone = await this.#pool.snapshots.clone(id, `clone-${++this.#names}`);
    if (this.#isEncrypted) assert.ok(clone.encrypted);
    const filesystem = await Filesystem.mount(clone, SMALL);
    for (let count = 0; count < 30; count += 1) await this.#operate(filesystem, model);
    await filesystem.unmount();
    await verify(clone, model);
    await this.#pool.deleteVolume(clone.id);
  }

  async #revert(): Promise<void> {
    const [id, model] = this.#some() ?? [];
    if (id === undefined || model === undefined) return;
    await this.#filesystem.unmount();
    await this.#pool.snapshots.revert(id);
    this.#model = model.copy();
    this.#filesystem = await Filesystem.mount(this.#pool.volumes.get('volume'), SMALL);
  }

  async #deleteSnapshot(): Promise<void> {
    const [id] = this.#some() ?? [];
    if (id === undefined) return;
    await this.#pool.snapshots.delete(id);
    this.#snapshots.delete(id);
  }

  #some(): [string, FilesystemModel] | undefined {
    const all = [...this.#snapshots].filter(([id]) => this.#pool.snapshots.find(id) !== undefined);
    return all[Math.floor(this.#random() * all.length)];
  }
}

async function tell(context: TestContext, kind: keyof typeof KINDS, seed: number): Promise<void> {
  const { pool } = await rigOf(context, { groups: [groupOf('group-1', (128 * MIB) / EXTENT_BYTES)] });
  const volume = await pool.volumes.create({ id: 'volume', sizeBytes: 16 * MIB, ...KINDS[kind] });
  await Filesystem.format(volume, { mode: 0o750, journalBytes: 512 * 1024 });
  const world = new World(pool, await Filesystem.mount(volume, SMALL), randomFrom(seed), kind === 'encrypted');
  for (let step = 0; step < STEPS; step += 1) await world.step();
  await world.finish();
}

for (const kind of ['plain', 'encrypted', 'reduced'] as const) {
  test(`on a volume that is ${kind}, with snapshots, clones and reverts in between, files equal a model`, async (context) => {
    context.diagnostic(`seed ${FIRST_SEED}; GRANARY_SEED=${FIRST_SEED} repeats it`);
    await tell(context, kind, FIRST_SEED);
  });
}

test('space that files gave back is free in the pool', async (context) => {
  const { pool } = await rigOf(context);
  const volume = await pool.volumes.create({ id: 'volume', sizeBytes: 24 * MIB });
  await Filesystem.format(volume);
  const filesystem = await Filesystem.mount(volume);
  const used = pool.space().usedBytes;
  const credentials = { uid: 0, gid: 0, groups: [] };
  const { inode } = await filesystem.create(credentials, filesystem.root, Buffer.from('file'), {
    type: 'file',
    mode: 0o600,
  });
  await filesystem.write(credentials, inode, 0, Buffer.alloc(16 * MIB, 1));
  await filesystem.commit();
  assert.ok(pool.space().usedBytes - used >= 16 * MIB);
  await filesystem.unlink(credentials, filesystem.root, Buffer.from('file'));
  await filesystem.whenIdle();
  await volume.flush();
  assert.ok(pool.space().usedBytes - used < MIB, `${pool.space().usedBytes - used} bytes are still used`);
  await filesystem.unmount();
});
