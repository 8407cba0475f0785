import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { randomFrom } from '../../../testing/random.ts';
import { CrashDevice } from '../testing/crash-device.ts';
import { MemoryDevice } from '../testing/memory-device.ts';
import { formatStore } from './format.ts';
import { FilesystemStore } from './filesystem-store.ts';

const MIB = 1024 * 1024;
const KIND = 4;
const TORTURE = process.env.GRANARY_TORTURE === '1';

type Model = Map<string, string>;

interface Step {
  readonly puts: readonly (readonly [number, number, string])[];
  readonly deletes: readonly (readonly [number, number])[];
}

/** A few changes that belong together. */
function stepOf(random: () => number, model: Model): Step {
  const below = (count: number): number => Math.floor(random() * count);
  const puts = Array.from(
    { length: 1 + below(6) },
    () =>
      [
        20 + below(4),
        below(2 ** 45),
        String.fromCharCode(97 + below(26)).repeat(below(random() < 0.1 ? 1900 : 200)),
      ] as const,
  );
  const keys = [...model.keys()];
  const deletes = Array.from({ length: keys.length > 0 ? below(7) : 0 }, () => {
    const [inode, offset] = keys[below(keys.length)]!.split('/').map(Number);
    return [inode!, offset!] as const;
  });
  return { puts, deletes };
}

function applyToModel(model: Model, { puts, deletes }: Step): void {
  for (const [inode, offset] of deletes) model.delete(`${inode}/${offset}`);
  for (const [inode, offset, value] of puts) model.set(`${inode}/${offset}`, value);
}

function applyTo(store: FilesystemStore, { puts, deletes }: Step): Promise<void> | void {
  return store.change((transaction) => {
    for (const [inode, offset] of deletes) transaction.delete(inode, KIND, offset);
    for (const [inode, offset, value] of puts) transaction.put(inode, KIND, offset, Buffer.from(value));
  });
}

async function contentsOf(store: FilesystemStore): Promise<Model> {
  return store.read(() => {
    const found: Model = new Map();
    for (let inode = 20; inode < 24; inode += 1) {
      store.tree.scan(inode, KIND, 0, (offset, value) => {
        found.set(`${inode}/${offset}`, value.toString());
        return true;
      });
    }
    return found;
  });
}

function sorted(model: Model): [string, string][] {
  return [...model].sort(([one], [other]) => (one < other ? -1 : 1));
}

describe('the store', () => {
  it('holds what a map holds, also after it was closed and opened', async () => {
    const random = randomFrom(7);
    const device = new MemoryDevice(16 * MIB, { random });
    await formatStore(device, { journalBytes: MIB });
    const model: Model = new Map();
    for (let round = 0; round < 4; round += 1) {
      const store = await FilesystemStore.open(device, { cacheBytes: MIB });
      for (let step = 0; step < 150; step += 1) {
        const next = stepOf(random, model);
        await applyTo(store, next);
        applyToModel(model, next);
        if (step % 50 === 0) await store.commit();
      }
      assert.deepEqual(sorted(await contentsOf(store)), sorted(model));
      await store.close();
    }
    const store = await FilesystemStore.open(device);
    assert.deepEqual(sorted(await contentsOf(store)), sorted(model));
    for (const key of model.keys()) {
      const [inode, offset] = key.split('/').map(Number);
      await store.change((transaction) => transaction.delete(inode!, KIND, offset!));
    }
    await store.checkpoint();
    assert.equal(store.tree.rootLevel, 0, 'the tree shrinks');
    await store.close();
  });

  it('takes an operation that fails back as a whole', async () => {
    const device = new MemoryDevice(8 * MIB);
    await formatStore(device);
    const store = await FilesystemStore.open(device);
    const random = randomFrom(3);
    const model: Model = new Map();
    for (let step = 0; step < 300; step += 1) {
      const next = stepOf(random, model);
      const { allocatedBlocks } = store.space;
      if (random() < 0.5) {
        const failing = store.change.bind(store, (transaction) => {
          for (const [inode, offset] of next.deletes) transaction.delete(inode, KIND, offset);
          for (const [inode, offset, value] of next.puts) transaction.put(inode, KIND, offset, Buffer.from(value));
          const run = store.space.reserve(3, 0);
          transaction.claim(run, false);
          transaction.free(run.start, run.count);
          throw new Error('refused');
        });
        await assert.rejects(async () => failing(), /refused/);
        // Nodes may have been split; no block that was claimed is left.
        assert.ok(store.space.allocatedBlocks - allocatedBlocks < 20);
        continue;
      }
      await applyTo(store, next);
      applyToModel(model, next);
    }
    assert.deepEqual(sorted(await contentsOf(store)), sorted(model));
    await store.commit();
    const again = await FilesystemStore.open(new MemoryDevice(Buffer.from(device.bytes), { readOnly: true }));
    assert.deepEqual(sorted(await contentsOf(again)), sorted(model));
  });

  it('shares one flush among operations that wait at the same moment', async () => {
    const device = new MemoryDevice(8 * MIB);
    await formatStore(device);
    const store = await FilesystemStore.open(device);
    device.flushes = 0;
    const waiting = Array.from({ length: 100 }, async (_, index) => {
      await store.change((transaction) => transaction.put(20, KIND, index, Buffer.from('one of many')));
      await store.commit();
    });
    await Promise.all(waiting);
    assert.ok(device.flushes <= 2, `${device.flushes} flushes`);
  });

  it('reuses freed blocks only when that is durable and no read uses them', async () => {
    const device = new MemoryDevice(8 * MIB);
    await formatStore(device);
    const store = await FilesystemStore.open(device);
    const run = store.space.reserve(64, 0);
    await store.change((transaction) => transaction.claim(run, false));
    await store.commit();
    const isFree = async (): Promise<boolean> => store.read(() => store.space.reserveAll({ ...run }));
    const transfer = store.freed.beginTransfer();
    await store.change((transaction) => transaction.free(run.start, run.count));
    assert.equal(await isFree(), false, 'the commit is not durable');
    await store.commit();
    assert.equal(await isFree(), false, 'a transfer may use the blocks');
    store.freed.endTransfer(transfer);
    await store.freed.whenIdle();
    assert.equal(await isFree(), true);
  });

  it('goes on after a node could not be read, and keeps to its memory', async () => {
    const random = randomFrom(2);
    const device = new MemoryDevice(16 * MIB, { random });
    await formatStore(device);
    const store = await FilesystemStore.open(device);
    for (let index = 0; index < 3000; index += 1) {
      await store.change((transaction) => transaction.put(20, KIND, index, Buffer.alloc(1000, 1)));
    }
    await store.close();
    const again = await FilesystemStore.open(device, { cacheBytes: 256 * 1024 });
    device.isBroken = true;
    await assert.rejects(async () => again.read(() => again.tree.get(20, KIND, 1500)), /broken/);
    device.isBroken = false;
    assert.equal((await again.read(() => again.tree.get(20, KIND, 1500)))?.length, 1000);
    for (let index = 0; index < 3000; index += 7) await again.read(() => again.tree.get(20, KIND, index));
    assert.ok(again.cachedNodes <= 33, `${again.cachedNodes} nodes`);
    await again.change((transaction) => transaction.put(20, KIND, 1, Buffer.alloc(1)));
    await again.close();
  });

  it('keeps what was committed, whole, through power cuts at any write', async (context) => {
    const first = Number(process.env.GRANARY_SEED ?? Date.now() % 1_000_000);
    context.diagnostic(`first seed ${first}`);
    for (let seed = first; seed < first + (TORTURE ? 1000 : 5); seed += 1) {
      try {
        await cutPower(seed);
      } catch (error) {
        throw new Error(`power cut with seed ${seed}: ${String(error)}`, { cause: error });
      }
    }
  });
});

/** One operation after the other, each committed or not; after the cut the store holds a state between those two. */
async function cutPower(seed: number): Promise<void> {
  const random = randomFrom(seed);
  const blank = new MemoryDevice(4 * MIB);
  await formatStore(blank, { journalBytes: 256 * 1024 });
  const device = new CrashDevice(blank, randomFrom(seed + 1));
  const store = await FilesystemStore.open(device, { cacheBytes: 256 * 1024 });
  device.cutAt(1 + Math.floor(random() * 200));
  const model: Model = new Map();
  const states = [sorted(model)];
  let committed = 0;
  try {
    for (;;) {
      const next = stepOf(random, model);
      await applyTo(store, next);
      applyToModel(model, next);
      states.push(sorted(model));
      const reached = states.length - 1;
      if (random() < 0.6) {
        await store.commit();
        committed = reached;
      }
      if (random() < 0.02) await store.checkpoint();
    }
  } catch (error) {
    assert.ok(device.isCut, String(error));
  }
  const left = await device.afterwards(random);
  for (let round = 0; round < 2; round += 1) {
    const again = await FilesystemStore.open(left);
    const found = JSON.stringify(sorted(await contentsOf(again)));
    const index = states.findIndex((state) => JSON.stringify(state) === found);
    // A step that was cut off in the middle is in no state.
    assert.ok(index >= committed, `state ${index} of ${states.length}, ${committed} was committed`);
    if (round === 0) await again.close();
  }
}
