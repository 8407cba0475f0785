import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { RangeLock } from './range-lock.ts';
import type { Done } from './units.ts';

/** Work that records its start and ends on request. */
class Scene {
  readonly lock = new RangeLock();
  readonly started: string[] = [];
  readonly #ends = new Map<string, PromiseWithResolvers<void>>();
  readonly #runs = new Map<string, Done>();

  run(name: string, start: number, end: number): void {
    const ending: PromiseWithResolvers<void> = Promise.withResolvers();
    this.#ends.set(name, ending);
    const work = (): Promise<void> => {
      this.started.push(name);
      return ending.promise;
    };
    this.#runs.set(name, this.lock.run(start, end, work));
  }

  async end(name: string): Promise<void> {
    this.#ends.get(name)?.resolve();
    await this.#runs.get(name);
    await setImmediate();
  }

  async fail(name: string): Promise<void> {
    this.#ends.get(name)?.reject(new Error(`${name} broke`));
    await assert.rejects(async () => this.#runs.get(name), new RegExp(`${name} broke`));
    await setImmediate();
  }
}

describe('a range lock', () => {
  it('lets ranges that do not overlap run side by side', () => {
    const scene = new Scene();
    scene.run('left', 0, 10);
    scene.run('right', 10, 20);
    assert.deepEqual(scene.started, ['left', 'right']);
  });

  it('keeps overlapping ranges apart, first come first served', async () => {
    const scene = new Scene();
    scene.run('first', 0, 10);
    scene.run('second', 5, 15);
    scene.run('third', 9, 12);
    assert.deepEqual(scene.started, ['first']);
    await scene.end('first');
    assert.deepEqual(scene.started, ['first', 'second']);
    await scene.end('second');
    assert.deepEqual(scene.started, ['first', 'second', 'third']);
    await scene.end('third');
    assert.equal(scene.lock.size, 0);
  });

  it('does not starve a wide range behind a stream of narrow ones', async () => {
    const scene = new Scene();
    scene.run('narrow-1', 0, 1);
    scene.run('wide', 0, 100);
    scene.run('narrow-2', 50, 51);
    assert.deepEqual(
      scene.started,
      ['narrow-1'],
      'what comes later waits behind the wide one, though nothing runs there',
    );
    await scene.end('narrow-1');
    assert.deepEqual(scene.started, ['narrow-1', 'wide']);
    await scene.end('wide');
    assert.deepEqual(scene.started, ['narrow-1', 'wide', 'narrow-2']);
    await scene.end('narrow-2');
  });

  it('never queues work that finishes at once', () => {
    const lock = new RangeLock();
    let runs = 0;
    for (let turn = 0; turn < 3; turn++) {
      const done = lock.run(0, 10, () => {
        runs++;
        return undefined;
      });
      assert.equal(done, undefined);
      assert.equal(lock.size, 0);
    }
    assert.equal(runs, 3);
  });

  it('is released by work that fails, at once or later, and passes the error on', async () => {
    const scene = new Scene();
    scene.run('first', 0, 10);
    scene.run('second', 0, 10);
    const third = scene.lock.run(0, 10, () => {
      throw new Error('third broke at once');
    });
    const seen = assert.rejects(async () => third, /third broke at once/);
    await scene.fail('first');
    assert.deepEqual(scene.started, ['first', 'second']);
    await scene.fail('second');
    await seen;
    assert.throws(
      () =>
        scene.lock.run(0, 10, () => {
          throw new Error('broke unqueued');
        }),
      /broke unqueued/,
    );
    assert.equal(scene.lock.size, 0);
    assert(scene.lock.isFree(0, 10));
  });
});
