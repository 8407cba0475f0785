import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { blockCountOf, containerOf, FIRST_CONTAINER, firstBlockOf, isAddress, isIndexed } from './address.ts';
import { Containers } from './containers.ts';
import { HOLE, OPAQUE } from '../extent-map.ts';

function blocksOf(address: number): string[] {
  return Array.from({ length: blockCountOf(address) }, (_, index) => {
    return `${containerOf(address)}:${firstBlockOf(address) + index}`;
  });
}

test('an address tells its parts and is neither a hole nor discarded', () => {
  const containers = new Containers(() => false);
  containers.create(77);
  const address = containers.allocate(5, true) ?? 0;
  assert(isAddress(address) && isIndexed(address) && Number.isSafeInteger(address));
  assert(address !== HOLE && address !== OPAQUE && address > OPAQUE);
  assert.equal(containerOf(address), FIRST_CONTAINER + 1);
  assert.equal(firstBlockOf(address), 0);
  assert.equal(blockCountOf(address), 5);
  assert.equal(firstBlockOf(containers.allocate(8, false) ?? 0), 5);
});

const deed = fc.record({
  kind: fc.nat({ max: 9 }),
  pick: fc.nat({ max: 10_000 }),
  count: fc.integer({ min: 1, max: 8 }),
});

test('no block is handed out twice, and none is left unused while it fits', () => {
  fc.assert(
    fc.property(fc.array(deed, { maxLength: 600, size: 'max' }), (deeds) => {
      const containers = new Containers(() => false);
      const held: number[] = [];
      const taken = new Set<string>();
      let extent = 1;
      for (const { kind, pick, count } of deeds) {
        if (kind < 6) {
          const address = containers.allocate(count, pick % 2 === 0) ?? takeFresh(containers, extent++, count);
          for (const block of blocksOf(address)) {
            assert(!taken.has(block), `${block} was handed out twice`);
            taken.add(block);
          }
          containers.written(address);
          assert(containers.name(address));
          held.push(address);
        } else if (held.length > 0) {
          const [address = 0] = held.splice(pick % held.length, 1);
          containers.unname(address);
          if (containers.isUnused(containerOf(address)) && kind === 6) {
            containers.remove(containerOf(address));
            containers.recycle(containerOf(address));
            for (const block of taken) if (block.startsWith(`${containerOf(address)}:`)) taken.delete(block);
            continue;
          }
          containers.free(address);
          for (const block of blocksOf(address)) taken.delete(block);
        }
        assert.equal(
          containers.namedBlocks,
          held.reduce((sum, address) => sum + blockCountOf(address), 0),
        );
      }
    }),
    { numRuns: 60 },
  );
});

function takeFresh(containers: Containers, extent: number, count: number): number {
  containers.create(extent);
  const address = containers.allocate(count, false);
  assert(address !== undefined);
  return address;
}

test('nothing is put on extents that are leaving, until they stay after all', () => {
  const leaving = new Set<number>();
  const containers = new Containers((extent) => leaving.has(extent));
  const first = containers.create(1);
  containers.create(2);
  leaving.add(2);
  containers.relist();
  for (let round = 0; round < 8; round++) assert.equal(containerOf(containers.allocate(8, false) ?? 0), first);
  assert.equal(containers.allocate(1, false), undefined);
  leaving.clear();
  containers.relist();
  assert.notEqual(containers.allocate(1, false), undefined);
});

test('a chunk on blocks of another is refused', () => {
  const containers = new Containers(() => false);
  containers.restore(FIRST_CONTAINER + 9, 4);
  const address = (FIRST_CONTAINER + 9) * 1024;
  assert(containers.name(address + 2 * 7));
  assert(!containers.name(address + 16 * 7));
  assert(!containers.name(address + 16 * 60 + 2 * 7), 'beyond the end of the container');
  assert(containers.name(address + 16 * 8));
});
