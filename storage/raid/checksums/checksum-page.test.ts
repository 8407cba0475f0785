import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { BLOCK_BYTES, SECTOR_BYTES } from '../../units.ts';
import {
  decodePage,
  encodePage,
  latestGenerations,
  ownerOf,
  ROWS_PER_PAGE,
  ROWS_PER_SECTOR,
  SLOTS_MAX,
} from './checksum-page-format.ts';
import { laterOf, nextGeneration, RegionGenerations, stepsBehind } from './generations.ts';
import { decodeIntentPage, encodeIntentPage, intentOwner } from '../intent/intent-page.ts';
import { RegionSet } from '../intent/region-set.ts';

const word = fc.integer({ min: 0, max: 0xffff_ffff });
const owner = ownerOf('group', 'member', 7);

describe('a page of checksums', () => {
  const page = fc.record({
    entries: fc.uint32Array({ minLength: ROWS_PER_PAGE[2], maxLength: ROWS_PER_PAGE[2] }),
    generations: fc.uint32Array({ minLength: 1, maxLength: SLOTS_MAX }),
  });

  it('comes back as it was', () => {
    fc.assert(
      fc.property(page, ({ entries, generations }) => {
        const { sectors } = decodePage(encodePage(entries, owner, generations), owner, generations.length);
        const found = sectors.flatMap((sector) => [...sector.entries]);
        assert.deepEqual(Uint32Array.from(found), entries);
        for (const sector of sectors) assert.deepEqual(sector.generations, generations);
      }),
    );
  });

  it('loses the sector in which anything changed, and no other', () => {
    fc.assert(
      fc.property(page, fc.nat(BLOCK_BYTES - 1), fc.integer({ min: 1, max: 255 }), (content, at, change) => {
        const bytes = encodePage(content.entries, owner, content.generations);
        bytes[at]! ^= change;
        const { sectors } = decodePage(bytes, owner, content.generations.length);
        for (const [index, { generations }] of sectors.entries()) {
          assert.equal(generations === undefined, index === Math.floor(at / SECTOR_BYTES));
        }
      }),
    );
  });

  it('belongs to one owner, not to another group, member, region or place in the page', () => {
    const bytes = encodePage(new Uint32Array(ROWS_PER_PAGE[2]).fill(9), owner, Uint32Array.of(1, 2));
    for (const other of [ownerOf('other', 'member', 7), ownerOf('group', 'other', 7), ownerOf('group', 'member', 8)]) {
      assert.ok(decodePage(bytes, other, 2).sectors.every(({ generations }) => generations === undefined));
    }
    bytes.copyWithin(0, SECTOR_BYTES, 2 * SECTOR_BYTES);
    assert.equal(decodePage(bytes, owner, 2).sectors[0]?.generations, undefined);
  });

  it('of zeros was never written, as far as it can say itself', () => {
    const blank = decodePage(Buffer.alloc(BLOCK_BYTES), owner, 3);
    assert.deepEqual(blank.sectors[0]?.generations, new Uint32Array(3));
    const used = decodePage(encodePage(new Uint32Array(ROWS_PER_PAGE[2]), owner, Uint32Array.of(0, 4, 2)), owner, 3);
    assert.deepEqual(latestGenerations([blank, used], 3), Uint32Array.of(0, 4, 2));
  });

  it('covers whole stripes and extents of any size', () => {
    assert.equal(ROWS_PER_PAGE[2], 8 * ROWS_PER_SECTOR);
    for (const stripeRows of [1, 4, 8, 16, 32, 64]) assert.equal(ROWS_PER_PAGE[2] % stripeRows, 0);
  });
});

describe('generations', () => {
  it('follow each other, also over the end of the numbers', () => {
    fc.assert(
      fc.property(word, fc.integer({ min: 1, max: 1000 }), (start, steps) => {
        let next = start;
        for (let step = 0; step < steps; step += 1) next = nextGeneration(next);
        assert.notEqual(next, 0);
        if (start === 0) return;
        assert.equal(stepsBehind(start, next), steps);
        assert.ok(stepsBehind(next, start) <= 0);
        assert.equal(laterOf(start, next), next);
        assert.equal(laterOf(next, start), next);
      }),
    );
  });

  it('are one step at most from what is durable, however often a page is written before a flush', () => {
    const unsettled = new Set<RegionGenerations>();
    const generations = new RegionGenerations(0, Uint32Array.of(5, 5), unsettled);
    generations.advance(0);
    generations.advance(0);
    assert.deepEqual([...generations.latest], [6, 5]);
    const flush = { latest: generations.latest.slice(), durable: generations.durable.slice() };
    generations.fallBehind(1);
    generations.markDurable(flush);
    assert.deepEqual([generations.isSlotDurable(0), generations.isSlotDurable(1), unsettled.size], [true, false, 1]);
    generations.markDurable({ latest: generations.latest.slice(), durable: generations.durable.slice() });
    assert.equal(unsettled.size, 0);
  });
});

describe('a page of the write-intent log', () => {
  const mine = intentOwner('group', 'member');
  const empty = () => ({ marked: new RegionSet(20_000), written: new RegionSet(20_000) });

  it('comes back as it was, sector by sector, and not from another drive', () => {
    const bits = empty();
    for (const region of [0, 31, 1791, 1792, 14_335, 14_336]) bits.marked.add(region);
    for (const region of [5, 1800]) bits.written.add(region);
    const page = encodeIntentPage(0, mine, bits);
    const found = empty();
    assert.equal(decodeIntentPage(0, mine, page, found).length, 8);
    assert.deepEqual([...found.marked], [0, 31, 1791, 1792, 14_335]);
    assert.deepEqual([...found.written], [5, 1800]);
    assert.deepEqual(decodeIntentPage(0, intentOwner('group', 'other'), page, empty()), []);
    page[SECTOR_BYTES + 80]! ^= 1;
    const torn = empty();
    assert.deepEqual(decodeIntentPage(0, mine, page, torn).includes(1792), false);
    assert.deepEqual([...torn.marked], [0, 31, 1791, 14_335]);
  });

  it('of zeros says nothing', () => {
    assert.deepEqual(decodeIntentPage(0, mine, Buffer.alloc(BLOCK_BYTES), empty()), []);
  });
});
