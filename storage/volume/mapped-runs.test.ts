import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { blocks, rigOf } from '../pool/testing/pool-rig.ts';
import { BLOCK_BYTES, EXTENT_BYTES } from '../units.ts';
import type { LayerFormat } from './format.ts';
import { type MappedRun, mappedRuns } from './mapped-runs.ts';
import type { Volume } from './volume.ts';

const GIB = 2 ** 30;
const PAGE_BYTES = 256 * EXTENT_BYTES;
const REDUCED = { compression: true, deduplication: true };

/** Counts what a format is asked: the work a call takes. */
function counted(format: LayerFormat): { format: LayerFormat; lookups: () => number } {
  let lookups = 0;
  const counting = new Proxy(format, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) => {
        lookups += 1;
        return (value as (...all: unknown[]) => unknown).apply(target, args);
      };
    },
  });
  return { format: counting, lookups: () => lookups };
}

/** As an initiator does that asks on where the last answer ended. */
function whole(ask: (offset: number, length: number) => MappedRun[], sizeBytes: number) {
  const runs: { length: number; mapped: boolean }[] = [];
  let calls = 0;
  for (let at = 0; at < sizeBytes; calls += 1) {
    for (const run of ask(at, sizeBytes - at)) {
      assert.ok(run.length > 0);
      at += run.length;
      const last = runs.at(-1);
      if (last?.mapped === run.mapped) last.length += run.length;
      else runs.push({ ...run });
    }
  }
  return { runs, calls };
}

function blockByBlock(volume: Volume): MappedRun[] {
  return whole((offset) => {
    return [{ length: BLOCK_BYTES, mapped: volume.format.isMapped(volume.layer, offset / BLOCK_BYTES) }];
  }, volume.sizeBytes).runs;
}

describe('which parts of a volume hold data', () => {
  for (const [name, options] of [
    ['plain', undefined],
    ['reduced', REDUCED],
  ] as const) {
    it(`is reported of an empty ${name} volume of any size in one step, without a look at any entry`, async (t) => {
      const { pool } = await rigOf(t);
      const sizeBytes = 2 ** 50;
      const volume = await pool.volumes.create({ id: 'volume', sizeBytes, ...(options && { options }) });
      const { format, lookups } = counted(volume.format);
      assert.deepEqual(mappedRuns(format, volume.layer, 0, sizeBytes), [{ length: sizeBytes, mapped: false }]);
      assert.equal(lookups(), 0);
    });

    it(`takes as much work as a ${name} volume has data, not as it is large`, async (t) => {
      const { pool } = await rigOf(t);
      const sizeBytes = 1024 * GIB;
      const volume = await pool.volumes.create({ id: 'volume', sizeBytes, ...(options && { options }) });
      for (const at of [0, 30 * GIB, 512 * GIB, sizeBytes - BLOCK_BYTES]) await volume.write(at, blocks('a'));
      await pool.snapshots.take([{ volumeId: 'volume', id: 'snapshot' }], new Date());
      await volume.write(31 * GIB, blocks('b'));
      const { format, lookups } = counted(volume.format);
      const { runs, calls } = whole((at, length) => mappedRuns(format, volume.layer, at, length), sizeBytes);
      assert.equal(runs.filter(({ mapped }) => mapped).length, 5);
      assert.equal(calls, 1);
      // Five pages of 256 entries, and the blocks of five entries.
      assert.ok(lookups() <= 5 * (256 + 64), `${lookups()} lookups`);
    });
  }

  it('is reported in large steps where there is much, each of bounded work', async (t) => {
    const { pool } = await rigOf(t);
    const pages = 6000;
    const volume = await pool.volumes.create({ id: 'volume', sizeBytes: pages * PAGE_BYTES });
    // Entries that are discarded are on the map and hold nothing.
    for (let page = 0; page < pages; page += 1) volume.layer.map.makePage(page * 256);
    const { format, lookups } = counted(volume.format);
    let last = 0;
    const { calls } = whole((at, length) => {
      const runs = mappedRuns(format, volume.layer, at, length);
      assert.ok(lookups() - last <= 65_536 + 256);
      last = lookups();
      return runs;
    }, volume.sizeBytes);
    assert.ok(calls <= 1 + (pages * 256) / 65_000, `${calls} calls`);
  });

  it('is what a look at every block tells, however the volume was written, discarded and snapshotted', async (t) => {
    const sizeBytes = 3 * PAGE_BYTES + 5 * EXTENT_BYTES;
    const last = sizeBytes / BLOCK_BYTES;
    const step = fc.record({
      what: fc.constantFrom('write', 'discard', 'snapshot'),
      // Near the borders of pages and entries.
      block: fc
        .tuple(fc.constantFrom(0, 16384, 16448, 2 * 16384, last - 64), fc.integer({ min: -70, max: 70 }))
        .map(([at, by]) => Math.min(last - 1, Math.max(0, at + by))),
      count: fc.oneof(fc.integer({ min: 1, max: 8 }), fc.constant(64), fc.constant(200)),
    });
    const property = fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 12 }),
      fc.boolean(),
      fc.integer({ min: 1, max: 4 }),
      async (steps, reduced, runsMax) => {
        const { pool } = await rigOf(t);
        const volume = await pool.volumes.create({ id: 'volume', sizeBytes, ...(reduced && { options: REDUCED }) });
        for (const [index, { what, block, count }] of steps.entries()) {
          const some = Math.min(count, last - block);
          if (what === 'write') await volume.write(block * BLOCK_BYTES, blocks('x', some));
          else if (what === 'discard') await volume.discard(block * BLOCK_BYTES, some * BLOCK_BYTES);
          else await pool.snapshots.take([{ volumeId: 'volume', id: `snapshot-${index}` }], new Date());
        }
        const { runs } = whole((at, length) => volume.mapped(at, length), sizeBytes);
        assert.deepEqual(runs, blockByBlock(volume));
        const few = whole((at, length) => {
          const reported = volume.mapped(at, length, runsMax);
          assert.ok(reported.length <= runsMax);
          return reported;
        }, sizeBytes);
        assert.deepEqual(few.runs, runs);
      },
    );
    await fc.assert(property, { numRuns: 20 });
  });
});
