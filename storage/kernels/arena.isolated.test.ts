import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import fc from 'fast-check';
import { allocate, isInArena, release } from './arena.ts';

const KIBIBYTE = 1024;
const MEBIBYTE = 1024 * KIBIBYTE;
const held = new Set<Buffer>();

function take(bytes: number): Buffer {
  const buffer = allocate(bytes);
  held.add(buffer);
  return buffer;
}

function giveBack(buffer: Buffer): void {
  held.delete(buffer);
  release(buffer);
}

afterEach(() => held.forEach(giveBack));

test('a buffer has the length asked for and begins at a page', () => {
  for (const bytes of [0, 1, 512, 4096, 4097, 12_288, 65_536, 100_000, 2 * MEBIBYTE]) {
    const buffer = take(bytes);
    assert.equal(buffer.length, bytes);
    assert.equal(buffer.byteOffset % 4096, 0);
    assert.ok(isInArena(buffer));
  }
});

test('buffers in use never overlap, whatever the order of taking and giving back', () => {
  const sizes = fc.constantFrom(4096, 5000, 8192, 65_536, 300_000, MEBIBYTE, 2 * MEBIBYTE);
  const step = fc.oneof(fc.record({ take: sizes }), fc.record({ giveBack: fc.nat(1000) }));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const mine: Buffer[] = [];
      for (const action of steps) {
        if ('take' in action) mine.push(take(action.take));
        else if (mine.length > 0) giveBack(mine.splice(action.giveBack % mine.length, 1)[0]!);
        const inside = mine.filter(isInArena).sort((left, right) => left.byteOffset - right.byteOffset);
        inside.forEach((buffer, index) => {
          const next = inside[index + 1];
          assert.ok(!next || buffer.byteOffset + buffer.length <= next.byteOffset);
        });
      }
      mine.forEach(giveBack);
    }),
    { numRuns: 50 },
  );
});

test('a full arena and a size above 2 MiB give ordinary buffers, which release ignores', () => {
  const large = take(2 * MEBIBYTE + 1);
  assert.equal(large.length, 2 * MEBIBYTE + 1);
  assert.ok(!isInArena(large));
  let inside = 0;
  while (isInArena(take(2 * MEBIBYTE))) inside += 1;
  assert.equal(inside, 31);
  const small = take(4096);
  assert.ok(!isInArena(small));
  assert.equal(small.length, 4096);
  giveBack(small);
  release(small);
});

test('memory that one size gave back serves every other size', () => {
  for (const bytes of [4096, 2 * MEBIBYTE, 64 * KIBIBYTE, 4096]) {
    let inside = 0;
    while (isInArena(take(bytes))) inside += 1;
    assert.equal(inside, (62 * MEBIBYTE) / bytes);
    held.forEach(giveBack);
  }
});

test('a second release of a buffer is refused', () => {
  const buffer = allocate(4096);
  release(buffer);
  assert.throws(() => release(buffer), /released before/);
  const other = allocate(2 * MEBIBYTE);
  release(other);
  assert.throws(() => release(other), /released before/);
});

test('a part of a buffer cannot be released, and the whole still can', () => {
  const buffer = take(8192);
  assert.throws(() => release(buffer.subarray(0, 4096)), /the very one/);
  assert.throws(() => release(buffer.subarray(4096)), /the very one/);
  giveBack(buffer);
});

test('a size that is no size is refused', () => {
  for (const bytes of [-1, 1.5, Number.NaN, Infinity]) assert.throws(() => allocate(bytes), /not a size/);
});
