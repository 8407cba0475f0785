import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { BLOCK_BYTES } from '../units.ts';
import { decodeHeader, decodePayload, encodeRecord } from './journal/journal-record.ts';
import { layOut } from './layout.ts';
import { RangeLock } from '../range-lock.ts';
import { RegionSet } from './intent/region-set.ts';
import { StripeMap } from './parity/stripe-map.ts';
import { Throttle } from './repair/throttle.ts';

describe('the range lock', () => {
  it('lets ranges that do not meet in at once, and others by turns', async () => {
    const locks = new RangeLock();
    const order: string[] = [];
    const first = await locks.acquire(0, 10);
    const apart = await locks.acquire(10, 15);
    const waiting = [
      locks.acquire(5, 15).then((range) => (order.push('second'), range)),
      locks.acquire(0, 2).then((range) => (order.push('third'), range)),
      locks.acquire(12, 14).then((range) => (order.push('fourth'), range)),
    ] as const;
    assert.ok(!locks.isFree(14, 15));
    assert.ok(locks.isFree(15, 16));
    locks.release(first);
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(order, ['third']);
    locks.release(apart);
    const second = await waiting[0];
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(order, ['third', 'second']);
    locks.release(second);
    locks.release(await waiting[1]);
    locks.release(await waiting[2]);
    assert.ok(locks.isFree(0, 100));
  });
});

describe('a set of regions', () => {
  it('is what a set of numbers is, and survives its pages', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.boolean(), fc.nat(99_999)), { maxLength: 60 }), (changes) => {
        const regions = new RegionSet(100_000);
        const model = new Set<number>();
        for (const [isAdded, region] of changes) {
          if (isAdded) assert.equal(regions.add(region), !model.has(region));
          else assert.equal(regions.delete(region), model.has(region));
          if (isAdded) model.add(region);
          else model.delete(region);
        }
        const sorted = [...model].sort((left, right) => left - right);
        assert.deepEqual([...regions], sorted);
        assert.equal(regions.size, sorted.length);
        const copy = new RegionSet(100_000);
        const page = Buffer.alloc(BLOCK_BYTES);
        for (let index = 0; index < 4; index += 1) {
          regions.writeBits(index * BLOCK_BYTES * 8, page);
          copy.addBits(index * BLOCK_BYTES * 8, page);
        }
        assert.deepEqual([...copy], sorted);
      }),
    );
  });
});

describe('the map of stripes', () => {
  it('puts every block in a place of its own, beside two parities that move', () => {
    for (const memberCount of [4, 5, 10]) {
      const layout = layOut({ level: 'RAID6', memberCount, stripeBytes: 16384, memberBytes: 8 * 1024 * 1024 });
      const map = new StripeMap(layout);
      const places = new Set<string>();
      const blocks = layout.capacityBytes / BLOCK_BYTES;
      for (let block = 0; block < blocks; block += 1) {
        const { stripe, shard, row } = map.partAt(block, 1, 0);
        const slot = map.slotOf(stripe, shard);
        assert.equal(map.shardOf(stripe, slot), shard);
        assert.equal(map.stripeOf(row), stripe);
        assert.ok(row < layout.rows);
        places.add(`${slot}/${row}`);
      }
      assert.equal(places.size, blocks);
      const parities = new Set(Array.from({ length: memberCount }, (_, stripe) => map.slotOf(stripe, memberCount - 2)));
      assert.equal(parities.size, memberCount);
    }
  });
});

describe('a journal record', () => {
  const writes = [
    { slot: 1, row: 7, count: 2, data: Buffer.alloc(2 * BLOCK_BYTES, 3), entries: Uint32Array.of(5, 6) },
    { slot: 2, row: 7, count: 1, data: undefined, entries: Uint32Array.of(0) },
  ];
  const identity = { groupId: 'group-1', events: 4, generation: 2, index: 9 };

  it('comes back as it was', () => {
    const record = encodeRecord(identity, writes);
    const header = decodeHeader(record.subarray(0, BLOCK_BYTES));
    assert.equal(header?.events, 4);
    assert.deepEqual(decodePayload(header, record.subarray(BLOCK_BYTES)), writes);
  });

  it('is refused when any byte that counts has changed', () => {
    const record = encodeRecord(identity, writes);
    const header = decodeHeader(record.subarray(0, BLOCK_BYTES))!;
    const payload = Buffer.from(record.subarray(BLOCK_BYTES));
    payload[BLOCK_BYTES + 5]! ^= 1;
    assert.equal(decodePayload(header, payload), undefined);
    const block = Buffer.from(record.subarray(0, BLOCK_BYTES));
    block[30]! ^= 1;
    assert.equal(decodeHeader(block), undefined);
  });
});

describe('the throttle', () => {
  it('refuses a maximum below the minimum', () => {
    const throttle = new Throttle(
      () => 0,
      () => 0,
    );
    assert.throws(() => throttle.setSpeed({ minimumBytesPerSecond: 2, maximumBytesPerSecond: 1 }), { code: 'invalid' });
    assert.throws(() => throttle.setSpeed({ minimumBytesPerSecond: 0, maximumBytesPerSecond: 1 }), { code: 'invalid' });
  });
});
