import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { randomFrom } from '../../testing/random.ts';
import { Allocator, GroupSpace } from './allocator.ts';

function allocatorOf(mode: 'simple' | 'stripe', ...counts: number[]): Allocator {
  const allocator = new Allocator(mode);
  for (const [index, count] of counts.entries()) {
    allocator.add(new GroupSpace(`group-${index + 1}`, allocator.nextFirstExtent(), count));
  }
  return allocator;
}

function allocateAll(source: { allocate(): number | undefined }): number[] {
  const taken: number[] = [];
  for (let extent = source.allocate(); extent !== undefined; extent = source.allocate()) taken.push(extent);
  return taken;
}

describe("a group's space", () => {
  for (const count of [1, 31, 32, 33, 64, 100]) {
    it(`hands out each of ${count} extents once, lowest first`, () => {
      const space = new GroupSpace('group', 5, count);
      assert.deepEqual(
        allocateAll(space),
        Array.from({ length: count }, (_, index) => 5 + index),
      );
      assert.equal(space.free, 0);
    });
  }

  it('uses the lowest extent that was given back before any other', () => {
    const space = new GroupSpace('group', 1, 100);
    allocateAll(space);
    for (const extent of [90, 3, 40]) space.release(extent);
    assert.deepEqual(allocateAll(space), [3, 40, 90]);
  });

  it('refuses an extent that is released twice', () => {
    const space = new GroupSpace('group', 1, 10);
    const extent = space.allocate() ?? 0;
    space.release(extent);
    assert.throws(() => space.release(extent), /released twice/);
    assert.equal(space.free, 10);
  });

  it('refuses a claim of an allocated extent', () => {
    const space = new GroupSpace('group', 1, 10);
    assert.equal(space.claim(1), true);
    assert.equal(space.claim(1), false);
    assert.equal(space.allocate(), 2);
    assert.equal(space.used, 2);
  });
});

describe('an allocator', () => {
  it('fills one group after the other in simple mode', () => {
    assert.deepEqual(allocateAll(allocatorOf('simple', 3, 3)), [1, 2, 3, 4, 5, 6]);
  });

  it('takes turns between groups in stripe mode, and goes on with those that have room', () => {
    assert.deepEqual(allocateAll(allocatorOf('stripe', 2, 4)).slice(0, 4), [1, 3, 2, 4]);
    assert.deepEqual(allocateAll(allocatorOf('stripe', 2, 4)).sort(), [1, 2, 3, 4, 5, 6]);
  });

  it('gives nothing on a group that is leaving, and does not count its room as free', () => {
    const allocator = allocatorOf('stripe', 4, 4);
    allocator.spaces[0]!.leaving = true;
    assert.equal(allocator.freeExtents, 4);
    assert.deepEqual(allocateAll(allocator), [5, 6, 7, 8]);
    assert.equal(allocator.totalExtents, 8);
  });

  it('accounts exactly through random takes and releases', () => {
    const allocator = allocatorOf('stripe', 40, 33, 70);
    const random = randomFrom(1);
    const held: number[] = [];
    for (let turn = 0; turn < 5000; turn++) {
      if (random() < 0.55) {
        const extent = allocator.allocate();
        assert.equal(extent === undefined, held.length === 143);
        if (extent !== undefined) held.push(extent);
      } else if (held.length > 0) {
        const [extent] = held.splice(Math.floor(random() * held.length), 1);
        allocator.release(extent ?? 0);
      }
      assert.equal(allocator.usedExtents, held.length);
      assert.equal(allocator.freeExtents + allocator.usedExtents, allocator.totalExtents);
    }
    assert.equal(new Set(held).size, held.length, 'an extent was handed out twice');
  });

  it('refuses an extent that lies on no group', () => {
    assert.throws(() => allocatorOf('simple', 3).release(4), /lies on no group/);
  });

  it('knows an extent no more once its group is removed, and gives its successor numbers of its own', () => {
    const allocator = allocatorOf('simple', 3, 3, 3);
    assert.equal(allocator.spaceOf(5).groupId, 'group-2');
    allocator.remove(allocator.spaceOf(5));
    assert.throws(() => allocator.spaceOf(5), /lies on no group/);
    assert.equal(allocator.nextFirstExtent(), 10);
    assert.equal(allocator.totalExtents, 6);
  });
});
