import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { MIB, rigOf } from '../pool/testing/pool-rig.ts';
import { Limiter } from './limiter.ts';

/** A limiter whose time and timers the test moves. */
class Scene {
  nowMs = 1000;
  readonly limiter = new Limiter(() => this.nowMs);
  readonly done: string[] = [];
  readonly #context: TestContext;

  constructor(context: TestContext) {
    this.#context = context;
    context.mock.timers.enable({ apis: ['setTimeout'] });
  }

  take(name: string, bytes: number): void {
    const wait = this.limiter.acquire(bytes);
    if (wait) void wait.then(() => this.done.push(name));
    else this.done.push(name);
  }

  async pass(milliseconds: number): Promise<void> {
    this.nowMs += milliseconds;
    this.#context.mock.timers.tick(milliseconds);
    await Promise.resolve();
    await Promise.resolve();
  }
}

describe('a limiter', () => {
  it('lets requests go exactly on the schedule of the cap', async (t) => {
    const scene = new Scene(t);
    scene.limiter.setCaps({ operationsPerSecond: 20 });
    for (const name of ['at once', 'at 50', 'at 100']) scene.take(name, 1);
    assert.deepEqual(scene.done, ['at once']);
    await scene.pass(49);
    assert.deepEqual(scene.done, ['at once']);
    await scene.pass(1);
    assert.deepEqual(scene.done, ['at once', 'at 50']);
    await scene.pass(50);
    assert.deepEqual(scene.done, ['at once', 'at 50', 'at 100']);
  });

  it('charges bytes by their number', async (t) => {
    const scene = new Scene(t);
    scene.limiter.setCaps({ bytesPerSecond: 1000 });
    scene.take('small', 50);
    scene.take('large', 200);
    scene.take('after it', 10);
    assert.deepEqual(scene.done, ['small']);
    await scene.pass(200);
    assert.deepEqual(scene.done, ['small', 'large']);
    await scene.pass(10);
    assert.deepEqual(scene.done, ['small', 'large', 'after it']);
  });

  it('lets those who wait go when the caps are taken away, and sooner when they are raised', async (t) => {
    const scene = new Scene(t);
    scene.limiter.setCaps({ operationsPerSecond: 1 });
    for (const name of ['first', 'second', 'third']) scene.take(name, 1);
    scene.limiter.setCaps({ operationsPerSecond: 10 });
    await scene.pass(100);
    assert.deepEqual(scene.done, ['first']);
    scene.limiter.setCaps({});
    await scene.pass(0);
    assert.deepEqual(scene.done, ['first', 'second', 'third']);
  });

  it('obeys whichever of two caps is tighter', async (t) => {
    const scene = new Scene(t);
    scene.limiter.setCaps({ operationsPerSecond: 1000, bytesPerSecond: 1000 });
    scene.take('first', 150);
    await scene.pass(99);
    assert.deepEqual(scene.done, []);
    await scene.pass(1);
    assert.deepEqual(scene.done, ['first']);
  });

  it('saves up no more than a short burst over a pause', async (t) => {
    const scene = new Scene(t);
    scene.limiter.setCaps({ operationsPerSecond: 100 });
    await scene.pass(60_000);
    for (let count = 0; count < 50; count++) scene.take('request', 1);
    assert.equal(scene.done.length, 5);
  });

  it('holds nothing back without caps', () => {
    const limiter = new Limiter();
    assert.equal(limiter.isOpen, true);
    assert.equal(limiter.acquire(1e9), undefined);
  });
});

type Operation = 'read' | 'write';

/** Sixteen at a time for so long, and a hundred at least: the machine may stand still; returns what was done in a second. */
async function rateOf(t: TestContext, seconds: number, length: number, operation: Operation, caps: object) {
  const { pool } = await rigOf(t);
  const volume = await pool.volumes.create({ id: 'volume', sizeBytes: MIB });
  const buffers = Array.from({ length: 16 }, () => Buffer.alloc(length, 'x'));
  await volume.write(0, Buffer.alloc(MIB, 'y'));
  volume.setCaps(operation === 'read' ? caps : {}, operation === 'write' ? caps : {});
  const startedMs = performance.now();
  let operations = 0;
  const worker = async (buffer: Buffer): Promise<void> => {
    while (performance.now() - startedMs < seconds * 1000 || operations < 100) {
      await volume[operation](0, buffer);
      operations++;
    }
  };
  await Promise.all(buffers.map((buffer) => worker(buffer)));
  const elapsed = (performance.now() - startedMs) / 1000;
  return { operations: operations / elapsed, bytes: (operations * length) / elapsed };
}

/** That as much is done as they allow is measured where nothing else runs: e2e/limits.alone.test.ts. */
describe('the caps of a volume', { concurrency: true }, () => {
  for (const operation of ['read', 'write'] as const) {
    it(`let no more ${operation}s through than a cap of operations, and 5 %`, async (t) => {
      const { operations } = await rateOf(t, 2, 4096, operation, { operationsPerSecond: 1000 });
      assert(operations > 10 && operations < 1050, `${operations} a second`);
    });

    it(`let no more ${operation}s through than a cap of bytes, and 5 %`, async (t) => {
      const cap = 20 * MIB;
      const { bytes } = await rateOf(t, 2, 64 * 1024, operation, { bytesPerSecond: cap });
      assert(bytes > cap * 0.01 && bytes < cap * 1.05, `${bytes / MIB} MiB a second`);
    });
  }

  it('hold reads and writes apart', async (t) => {
    const { pool } = await rigOf(t);
    const volume = await pool.volumes.create({ id: 'volume', sizeBytes: MIB });
    volume.setCaps({ operationsPerSecond: 20 }, {});
    const startedMs = performance.now();
    for (let count = 0; count < 500; count++) await volume.write(0, Buffer.alloc(4096));
    assert(performance.now() - startedMs < 10_000, 'writes are not capped: 500 would take 25 seconds');
    const readMs = performance.now();
    for (let count = 0; count < 4; count++) await volume.read(0, Buffer.alloc(4096));
    assert(performance.now() - readMs > 100, 'reads are');
  });

  it('are gone once removed', async (t) => {
    const { pool } = await rigOf(t);
    const volume = await pool.volumes.create({ id: 'volume', sizeBytes: MIB });
    volume.setCaps({ operationsPerSecond: 1 }, { operationsPerSecond: 1 });
    volume.setCaps({}, {});
    const startedMs = performance.now();
    for (let count = 0; count < 100; count++) await volume.read(0, Buffer.alloc(4096));
    assert(performance.now() - startedMs < 10_000, '100 would take 100 seconds');
  });
});
