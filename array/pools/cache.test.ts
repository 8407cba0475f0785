import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { GB } from '../units.ts';
import { cacheShare } from './cache.ts';
import { poolBench } from './testing/bench.ts';

const PLAIN = { cowCache: true, mode: 'simple', type: 'Balanced' } as const;
const HOUR_MS = 3_600_000;

describe('the cache of an array', () => {
  it('is divided evenly, in whole pages, and is at most a quarter of the memory', () => {
    assert.equal(cacheShare(8, 2), 4 * GB);
    assert.equal(cacheShare(8, 1), 8 * GB);
    assert.equal(cacheShare(0, 1), 0);
    assert.equal(cacheShare(8, 0), 0);
    assert.equal(cacheShare(1, 3) % 4096, 0);
  });

  it('goes to the pools that have it turned on, and moves as they come, go and change', async () => {
    const bench = poolBench(10 * GB);
    const { pools, configuration, reported } = bench;
    configuration.cacheGb = 1 / 1024;
    const now = () => new Map(reported.map(({ pool, cache }) => [pool, cache.bytes / 2 ** 20]));
    const a = await pools.create({ ...PLAIN, displayName: 'a', groups: ['group-1'], cache: true }, 'ann');
    assert.deepEqual([...now()], [[a.name, 1]]);
    const b = await pools.create({ ...PLAIN, displayName: 'b', groups: ['group-2'], cache: false }, 'ann');
    assert.equal(now().get(b.name), 0);
    assert.equal(reported.length, 2, 'the other is not reported again: its cache would begin empty');
    await pools.setCache(b.name, { cache: true }, 'ann');
    assert.deepEqual([now().get(a.name), now().get(b.name)], [0.5, 0.5]);
    await pools.delete(a.name, false, 'ann');
    assert.equal(now().get(b.name), 1);
    configuration.cacheGb = 2 / 1024;
    await pools.followConfiguration();
    assert.equal(now().get(b.name), 2);
    await pools.setCache(b.name, { cache: false }, 'ann');
    assert.equal(now().get(b.name), 0);
  });

  it('carries what is kept of snapshots, and how long, to the engine; also after a restart', async () => {
    const bench = poolBench(10 * GB);
    const { pools, reported } = bench;
    const { name } = await pools.create({ ...PLAIN, displayName: 'a', groups: ['group-1'], cache: true }, 'ann');
    assert.deepEqual(reported.at(-1)?.cache, { bytes: 0, keepsSnapshots: true, coolOffMs: 0 });
    await pools.setCache(name, { cowCache: false }, 'ann');
    await pools.setCoolOff(name, 24, 'ann');
    const expected = { pool: name, cache: { bytes: 0, keepsSnapshots: false, coolOffMs: 24 * HOUR_MS } };
    assert.deepEqual(reported.at(-1), expected);
    const again = bench.restart();
    await again.pools.reconcile();
    assert.deepEqual(again.reported, [expected]);
  });
});
