import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SharedFlush } from './shared-flush.ts';

describe('a shared flush', () => {
  it('lets one run and one wait, and no caller joins one that began before', async () => {
    const started: (() => void)[] = [];
    const flusher = new SharedFlush(() => new Promise((resolve) => started.push(resolve)));
    const first = flusher.run();
    const second = flusher.run();
    const third = flusher.run();
    assert.equal(started.length, 1);
    assert.notEqual(first, second);
    assert.equal(second, third);
    started[0]?.();
    await first;
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(started.length, 2);
    started[1]?.();
    await Promise.all([second, third]);
  });

  it('starts the one that waits also when the one before fails', async () => {
    let count = 0;
    const flusher = new SharedFlush(async () => {
      count += 1;
      await Promise.resolve();
      if (count === 1) throw new Error('broken');
    });
    const first = flusher.run();
    const second = flusher.run();
    await assert.rejects(first, /broken/);
    await second;
    assert.equal(count, 2);
  });
});
