import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { GB, GranaryError, MB } from '@granary/kernel';
import { capacity as capacityParam } from '../../contract/params.ts';
import { coerce } from '../../kernel/http/coerce.ts';
import { findRaidGroup } from '../raid-groups/repository.ts';
import { freeBytesIn } from '../raid-groups/group-space.ts';
import { viewOfRaidGroup } from '../raid-groups/view.ts';
import { poolBench, type PoolBench } from './testing/bench.ts';
import { poolView } from './view.ts';

const EXTENT = 256 * 1024;
const WANTED = { cache: false, cowCache: true, mode: 'simple', type: 'Balanced' } as const;
const refused = (error: unknown) => error instanceof GranaryError && error.entry === 'capacity_refused';

/** Of whatever size drives and their layout leave: whole extents, from less than 1 GB to some TB. */
const groupBytes = fc
  .oneof(fc.integer({ min: 4, max: 4 * 4096 }), fc.integer({ min: 4, max: 2 ** 23 }))
  .map((extents) => extents * EXTENT);
const groups = fc.array(groupBytes, { minLength: 2, maxLength: 5 });

const toMegabytesOf = (text: string) => (coerce(text, capacityParam('')) as { value: number }).value;
const groupView = ({ tools }: PoolBench, number: number) => {
  const group = tools.store.read((db) => findRaidGroup(db, `group-${number}`));
  assert.ok(group);
  return viewOfRaidGroup({ group, report: undefined, scrubbed: undefined, freeBytes: freeBytesIn(group, EXTENT) });
};
const underWay = async ({ shrinks, clock }: PoolBench) => {
  for (let tries = 0; shrinks.length === 0; tries++) {
    assert.ok(tries < 100_000, 'the job did not start');
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(10);
  }
  return shrinks[0]!;
};
const named = (sizes: readonly number[]) => sizes.map((_, index) => `group-${index + 1}`);
const show = async ({ pools }: PoolBench, name: string) => poolView(await pools.show(name));

it('what a RAID group shows as available is granted, and one GB more is refused', () =>
  fc.assert(
    fc.asyncProperty(groupBytes, async (bytes) => {
      const bench = poolBench([bytes]);
      const shown = Math.floor(bytes / GB);
      const create = (displayName: string, gb: number) =>
        bench.pools.create({ ...WANTED, displayName, groups: ['group-1'], capacityMb: toMegabytesOf(`${gb}G`) }, 'ann');
      await assert.rejects(create('more', shown + 1), refused);
      assert.equal(groupView(bench, 1).available, shown);
      assert.equal(groupView(bench, 1).capacity, shown);
      if (shown === 0) return;
      const { name } = await create('all', shown);
      const { capacity, available_capacity } = await show(bench, name);
      assert.deepEqual([capacity, available_capacity, groupView(bench, 1).available], [shown, shown, 0]);
      await assert.rejects(bench.pools.expand(name, { capacityMb: 1024 }, 'ann'), refused);
    }),
    { numRuns: 40 },
  ));

it('a pool is made as large as several RAID groups show together, and not as large as they cannot be', () =>
  fc.assert(
    fc.asyncProperty(groups, async (sizes) => {
      const bench = poolBench(sizes);
      const shown = sizes.reduce((sum, bytes) => sum + Math.floor(bytes / GB), 0);
      const create = (displayName: string, gb: number) =>
        bench.pools.create(
          { ...WANTED, displayName, groups: named(sizes), capacityMb: toMegabytesOf(`${gb}G`) },
          'ann',
        );
      // Each hides less than one GB.
      await assert.rejects(create('more', shown + sizes.length), refused);
      if (shown > 0) await create('all', shown);
    }),
    { numRuns: 25 },
  ));

it('a pool that takes all of its groups shows exactly what it has, and what is free and used make the capacity', () =>
  fc.assert(
    fc.asyncProperty(groups, fc.double({ min: 0, max: 1, noNaN: true }), async (sizes, share) => {
      const bench = poolBench(sizes);
      const all = { ...WANTED, displayName: 'all', groups: named(sizes) };
      const { name, capacityBytes } = await bench.pools.create(all, 'ann');
      const held = sizes.reduce((sum, bytes) => sum + bytes, 0);
      assert.equal(capacityBytes, held < GB ? held : Math.floor(held / GB) * GB);
      const used = Math.floor((capacityBytes * share) / MB) * MB;
      await bench.use(name, used);
      const { capacity, available_capacity } = await show(bench, name);
      if (held >= GB) assert.equal(capacity - available_capacity, used / GB);
      assert.ok(available_capacity * GB <= capacityBytes - used);
      assert.equal(toMegabytesOf(`${available_capacity}G`), available_capacity * 1024, 'as shown, so asked for');
    }),
    { numRuns: 40 },
  ));

it('a group that was added and leaves again leaves the pool as it was', () =>
  fc.assert(
    fc.asyncProperty(groups, fc.nat(), fc.nat(), async (sizes, first, second) => {
      const bench = poolBench(sizes);
      await bench.tools.jobs.start();
      try {
        const [own, added] = [named(sizes).slice(0, -1), named(sizes).at(-1) as string];
        const some = (bytes: number, seed: number) => 1 + (seed % Math.max(1, Math.floor(bytes / MB) - 1));
        const held = sizes.slice(0, -1).reduce((sum, bytes) => sum + bytes, 0);
        const { name } = await bench.pools.create(
          { ...WANTED, displayName: 'main', groups: own, capacityMb: some(held, first) },
          'ann',
        );
        const before = await show(bench, name);
        const shares = () => named(sizes).map((_, index) => groupView(bench, index + 1).available);
        const rooms = shares();
        await bench.pools.expand(name, { groups: [added], capacityMb: some(sizes.at(-1) as number, second) }, 'ann');
        const job = await bench.pools.shrink(name, added, undefined, 'ann');
        (await underWay(bench)).finish();
        assert.equal((await bench.tools.jobs.wait(job, 5000))?.state, 'done');
        assert.deepEqual({ ...(await show(bench, name)), modified_at: '' }, { ...before, modified_at: '' });
        assert.deepEqual(shares(), rooms);
      } finally {
        await bench.tools.jobs.stop();
      }
    }),
    { numRuns: 25 },
  ));
