import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { XdrError, XdrReader } from './reader.ts';
import { XdrWriter } from './writer.ts';

test('what was written is read back', () => {
  fc.assert(
    fc.property(
      fc.record({
        unsigned: fc.integer({ min: 0, max: 0xffff_ffff }),
        signed: fc.integer({ min: -0x8000_0000, max: 0x7fff_ffff }),
        large: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
        size: fc.nat({ max: Number.MAX_SAFE_INTEGER }),
        before1970: fc.integer({ min: -(2 ** 40), max: 2 ** 40 }),
        bytes: fc.uint8Array({ maxLength: 1000 }),
        list: fc.array(fc.integer({ min: 0, max: 100 }), { maxLength: 20 }),
      }),
      ({ unsigned, signed, large, size, before1970, bytes, list }) => {
        const writer = new XdrWriter(4);
        writer.u32(unsigned).i32(signed).u64(large).size(size).size(before1970).opaque(bytes);
        writer.array(list, (element) => writer.u32(element)).optional(undefined, () => undefined);
        writer.optional(unsigned, (value) => writer.u32(value));
        assert.equal(writer.length % 4, 0);
        const reader = new XdrReader(writer.bytes);
        assert.equal(reader.u32(), unsigned);
        assert.equal(reader.i32(), signed);
        assert.equal(reader.u64(), large);
        assert.equal(reader.size(), size);
        assert.equal(reader.i64AsNumber(), before1970);
        assert.ok(reader.opaque(1000).equals(bytes));
        assert.deepEqual(
          reader.array(20, () => reader.u32()),
          list,
        );
        assert.equal(
          reader.optional(() => 1),
          undefined,
        );
        assert.equal(
          reader.optional(() => reader.u32()),
          unsigned,
        );
        assert.equal(reader.remaining, 0);
      },
    ),
  );
});

test('opaque data filled in place may be shorter than its room', () => {
  for (const [room, length] of [
    [100, 100],
    [100, 97],
    [99, 0],
    [5, 2],
  ] as const) {
    const writer = new XdrWriter(8);
    writer.u32(7);
    writer.beginOpaque(room).fill(0xab, 0, length);
    writer.endOpaque(room, length);
    writer.u32(9);
    const reader = new XdrReader(writer.bytes);
    assert.equal(reader.u32(), 7);
    assert.ok(reader.opaque(200).equals(Buffer.alloc(length, 0xab)));
    assert.equal(reader.u32(), 9);
  }
});

test('lengths beyond the message or the limit are refused, not read', () => {
  const bytes = Buffer.from('ffffffff00000000', 'hex');
  assert.throws(() => new XdrReader(bytes).opaque(2 ** 32), XdrError);
  assert.throws(() => new XdrReader(bytes).opaque(10), XdrError);
  assert.throws(() => new XdrReader(bytes).array(2 ** 32, (reader) => reader.u32()), XdrError);
  assert.throws(() => new XdrReader(bytes).bool(), XdrError);
  assert.throws(() => new XdrReader(bytes, 6).u32(), XdrError);
});
