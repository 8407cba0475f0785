import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { domainsOf } from './domains.ts';
import { partitionsFor, placeRing, placeWhole, sameRing, type RingDrive } from './ring.ts';

const PARTITIONS = 256;

function drive(number: number, node: string, zone: string, capacity = 100): RingDrive {
  return { number, node, zone, capacity };
}

function countsOf(ring: Uint32Array): Map<number, number> {
  const counts = new Map<number, number>();
  for (const number of ring) counts.set(number, (counts.get(number) ?? 0) + 1);
  return counts;
}

function movedIn(before: Uint32Array, after: Uint32Array, slots: number): number[] {
  return Array.from({ length: before.length / slots }, (_, partition) => {
    let moved = 0;
    for (let slot = 0; slot < slots; slot += 1) {
      if (before[partition * slots + slot] !== after[partition * slots + slot]) moved += 1;
    }
    return moved;
  });
}

/** Every rule of one placing that must hold once it has settled. */
function assertGood(ring: Uint32Array, drives: readonly RingDrive[], slots: number): void {
  const byNumber = new Map(drives.map((one) => [one.number, one]));
  const zones = new Set(drives.map((one) => one.zone)).size;
  const nodes = new Set(drives.map((one) => `${one.zone}/${one.node}`)).size;
  for (let partition = 0; partition < ring.length / slots; partition += 1) {
    const on = [...ring.subarray(partition * slots, (partition + 1) * slots)].filter((number) => number !== 0);
    assert.equal(on.length, Math.min(slots, drives.length), 'every slot that can have a drive has one');
    assert.equal(new Set(on).size, on.length, 'slots of a partition are on different drives');
    const found = on.map((number) => byNumber.get(number));
    if (zones >= slots) assert.equal(new Set(found.map((one) => one?.zone)).size, slots, 'zones apart');
    else if (nodes >= slots) {
      assert.equal(new Set(found.map((one) => `${one?.zone}/${one?.node}`)).size, slots, 'nodes apart');
    }
  }
}

function assertBalanced(ring: Uint32Array, drives: readonly RingDrive[], slots: number, slack: number): void {
  const counts = countsOf(ring);
  const sorted = drives.toSorted((a, b) => a.number - b.number);
  const { targets } = domainsOf(sorted, slots, ring.length / slots);
  sorted.forEach((one, at) => {
    const has = counts.get(one.number) ?? 0;
    const target = targets[at] ?? 0;
    assert.ok(Math.abs(has - target) <= slack, `drive ${one.number} has ${has} of ${target}`);
  });
}

test('shares follow capacity, and slots stand in different zones', () => {
  const drives = [1, 2, 3, 4, 5, 6].map((number) =>
    drive(number, `n${number}`, `z${number % 3}`, number > 3 ? 200 : 100),
  );
  const ring = placeWhole({ partitions: PARTITIONS, slots: 3, drives, present: null });
  assertGood(ring, drives, 3);
  const counts = countsOf(ring);
  for (const { number, capacity } of drives) {
    const fair = (capacity / 300) * PARTITIONS;
    assert.ok(Math.abs((counts.get(number) ?? 0) - fair) <= 1);
  }
});

test('a drive that joins takes its share and nothing else moves', () => {
  const drives = [1, 2, 3, 4].map((number) => drive(number, `n${number}`, 'z'));
  const before = placeWhole({ partitions: PARTITIONS, slots: 2, drives, present: null });
  const more = [...drives, drive(5, 'n5', 'z')];
  const after = placeRing({ partitions: PARTITIONS, slots: 2, drives: more, present: before });
  const moved = movedIn(before, after, 2);
  assert.ok(moved.every((count) => count <= 1));
  const total = moved.reduce((sum, count) => sum + count, 0);
  const share = (2 * PARTITIONS) / 5;
  assert.ok(total >= Math.floor(share) - 1 && total <= Math.ceil(share) + 1, `${total} moved`);
  assertBalanced(after, more, 2, 1);
  assert.ok(sameRing(after, placeRing({ partitions: PARTITIONS, slots: 2, drives: more, present: after })));
});

test('when a drive leaves, only what was on it moves', () => {
  const drives = [1, 2, 3, 4, 5].map((number) => drive(number, `n${number}`, 'z'));
  const before = placeWhole({ partitions: PARTITIONS, slots: 3, drives, present: null });
  const fewer = drives.slice(1);
  const after = placeWhole({ partitions: PARTITIONS, slots: 3, drives: fewer, present: before });
  const total = movedIn(before, after, 3).reduce((sum, count) => sum + count, 0);
  const was = countsOf(before).get(1) ?? 0;
  assert.ok(total <= was + PARTITIONS * 0.05, `${total} moved where ${was} had to`);
  assertGood(after, fewer, 3);
  assertBalanced(after, fewer, 3, 1);
});

test('with fewer drives than slots the rest is missing, and comes when drives do', () => {
  const two = [drive(1, 'a', 'z'), drive(2, 'b', 'z')];
  const before = placeWhole({ partitions: PARTITIONS, slots: 3, drives: two, present: null });
  assert.equal(countsOf(before).get(0), PARTITIONS);
  const three = [...two, drive(3, 'c', 'z')];
  const after = placeWhole({ partitions: PARTITIONS, slots: 3, drives: three, present: before });
  assert.equal(countsOf(after).get(0), undefined);
  assert.deepEqual(
    movedIn(before, after, 3),
    Array.from({ length: PARTITIONS }, () => 1),
  );
});

test('new zones draw slots apart, one of a partition at a time', () => {
  const one = [1, 2, 3].map((number) => drive(number, `n${number}`, 'z1'));
  const before = placeWhole({ partitions: PARTITIONS, slots: 3, drives: one, present: null });
  const three = [...one, drive(4, 'n4', 'z2'), drive(5, 'n5', 'z3')];
  const step = placeRing({ partitions: PARTITIONS, slots: 3, drives: three, present: before });
  assert.ok(movedIn(before, step, 3).every((count) => count <= 1));
  assertGood(placeWhole({ partitions: PARTITIONS, slots: 3, drives: three, present: step }), three, 3);
});

test('partitions of a drive are shared with all others, not with the same few', () => {
  const drives = Array.from({ length: 12 }, (_, at) => drive(at + 1, `n${at}`, 'z'));
  const ring = placeWhole({ partitions: PARTITIONS, slots: 3, drives, present: null });
  const partners = new Set<number>();
  for (let partition = 0; partition < PARTITIONS; partition += 1) {
    const on = ring.subarray(partition * 3, partition * 3 + 3);
    if (on.includes(1)) for (const number of on) partners.add(number);
  }
  assert.ok(partners.size >= 11, `only ${partners.size - 1} partners`);
});

test('the number of partitions grows with the drives up to a limit', () => {
  assert.deepEqual([1, 4, 5, 16, 64, 1000].map(partitionsFor), [256, 256, 512, 1024, 4096, 4096]);
});

test('any sequence of joins and leaves keeps the rules', () => {
  const change = fc.record({
    join: fc.boolean(),
    pick: fc.nat(1000),
    node: fc.nat(5),
    zone: fc.nat(3),
    capacity: fc.constantFrom(100, 100, 150, 400),
  });
  fc.assert(
    fc.property(fc.constantFrom(1, 2, 3, 6), fc.array(change, { minLength: 1, maxLength: 14 }), (slots, changes) => {
      let drives: RingDrive[] = [];
      let ring: Uint32Array | null = null;
      let next = 1;
      for (const { join, pick, node, zone, capacity } of changes) {
        if (join || drives.length === 0) drives = [...drives, drive(next++, `n${node}`, `z${zone}`, capacity)];
        else drives = drives.filter((_, at) => at !== pick % drives.length);
        const gone = new Set(drives.map((one) => one.number));
        const before: Uint32Array | null = ring;
        const step = placeRing({ partitions: 64, slots, drives, present: ring });
        if (before) {
          movedIn(before, step, slots).forEach((count, partition) => {
            const had = [...before.subarray(partition * slots, (partition + 1) * slots)];
            const forced = had.filter((number) => !gone.has(number)).length;
            assert.ok(count <= Math.max(1, forced), 'more moved than had to');
          });
        }
        ring = placeWhole({ partitions: 64, slots, drives, present: step });
        if (drives.length === 0) continue;
        assertGood(ring, drives, slots);
        assertBalanced(ring, drives, slots, 2);
      }
    }),
    { numRuns: 150 },
  );
});

test('a large ring is placed in good time', () => {
  const drives = Array.from({ length: 64 }, (_, at) => drive(at + 1, `n${at % 16}`, `z${at % 4}`));
  const before = process.cpuUsage();
  const ring = placeWhole({ partitions: 4096, slots: 6, drives, present: null });
  placeWhole({ partitions: 4096, slots: 6, drives: drives.slice(8), present: ring });
  const ms = process.cpuUsage(before).user / 1000;
  assert.ok(ms < 5000, `${ms} ms`);
});
