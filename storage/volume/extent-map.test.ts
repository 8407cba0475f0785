import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { BLOCKS_PER_EXTENT } from '../units.ts';
import { countBlocks, entriesOf, ExtentMap, HOLE, ExtentMapPage, OPAQUE, runsOf } from './extent-map.ts';

function pageOf(map = new ExtentMap(false)): ExtentMapPage {
  return map.makePage(0);
}

describe('a page of a map', () => {
  it('costs no bits while all its extents are whole', () => {
    const map = new ExtentMap(false);
    const page = pageOf(map);
    for (let slot = 0; slot < 256; slot++) map.set(page, slot, slot + 1);
    assert.equal(page.low, undefined);
    assert.equal(page.high, undefined);
    assert.equal(page.isWhole(17), true);
    assert.equal(page.hasBlock(17, 63), true);
  });

  it('gives its bits back once the last partial extent became whole', () => {
    const map = new ExtentMap(false);
    const page = pageOf(map);
    map.set(page, 4, 9, 0, 0);
    page.compact();
    assert(page.low, 'a partial extent needs them');
    assert.equal(page.addBlocks(4, 0, 64), true);
    page.compact();
    assert.equal(page.low, undefined);
  });

  it('adds and removes any range of blocks, and no other', () => {
    const range = fc.tuple(fc.boolean(), fc.nat({ max: 64 }), fc.nat({ max: 64 }));
    fc.assert(
      fc.property(fc.array(range, { maxLength: 30 }), (ranges) => {
        const map = new ExtentMap(false);
        const page = pageOf(map);
        map.set(page, 0, 1, 0, 0);
        map.set(page, 1, 2);
        const held = new Array<boolean>(BLOCKS_PER_EXTENT).fill(false);
        for (const [adds, a, b] of ranges) {
          const [from, to] = [Math.min(a, b), Math.max(a, b)];
          const news = held.slice(from, to).includes(false);
          if (adds) assert.equal(page.addBlocks(0, from, to), news);
          else page.removeBlocks(0, from, to);
          held.fill(adds, from, to);
        }
        assert.deepEqual(
          held.map((_, block) => page.hasBlock(0, block)),
          held,
        );
        assert.equal(countBlocks(page.lowBits(0), page.highBits(0)), held.filter(Boolean).length);
        assert.equal(page.isEmpty(0), !held.includes(true));
        assert.equal(page.isWhole(0), !held.includes(false));
        assert.equal(page.isWhole(1), true, 'the neighbour is as it was');
        const runs = [...runsOf(page, 0, 0, BLOCKS_PER_EXTENT)];
        assert.deepEqual(
          runs.flatMap((run) => new Array<boolean>(run.to - run.from).fill(run.held)),
          held,
        );
      }),
    );
  });
});

describe('an extent map', () => {
  it('counts what it owns: extents, neither holes nor what was discarded', () => {
    const map = new ExtentMap(false);
    const page = pageOf(map);
    assert.equal(map.set(page, 0, 5), HOLE);
    map.set(page, 1, (6 | OPAQUE) >>> 0);
    map.set(page, 2, OPAQUE);
    assert.deepEqual([map.owned, map.ownedBlocks, page.used], [2, 2 * BLOCKS_PER_EXTENT, 3]);
    assert.equal(map.set(page, 0, HOLE), 5);
    assert.deepEqual([map.owned, page.used], [1, 2]);
    assert.deepEqual(
      [...entriesOf(map)].map(({ number, entry }) => [number, entry]),
      [
        [1, 0x80000006],
        [2, OPAQUE],
      ],
    );
  });

  it('has a page only where something was put', () => {
    const map = new ExtentMap(false);
    assert.equal(map.get(4_000_000), HOLE);
    assert.equal(map.pages.size, 0);
    map.set(map.makePage(4_000_000), 4_000_000 & 255, 7);
    assert.equal(map.get(4_000_000), 7);
    assert.equal(map.pages.size, 1);
  });
});
