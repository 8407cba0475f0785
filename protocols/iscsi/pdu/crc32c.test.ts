import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { crc32c } from './crc32c.ts';

/** One bit at a time, as the definition has it. */
function slowly(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
  }
  return ~crc >>> 0;
}

test('the examples of RFC 7143 come out', () => {
  assert.equal(crc32c(Buffer.alloc(32)), 0x8a9136aa);
  assert.equal(crc32c(Buffer.alloc(32, 0xff)), 0x62a8ab43);
  assert.equal(crc32c(Buffer.from(Array.from({ length: 32 }, (_, index) => index))), 0x46dd794e);
  assert.equal(crc32c(Buffer.from(Array.from({ length: 32 }, (_, index) => 31 - index))), 0x113fdb5c);
});

test('any bytes give what the definition gives, whole or in two pieces', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 1500, size: 'max' }), fc.nat(1500), (bytes, cut) => {
      const at = Math.min(cut, bytes.length);
      assert.equal(crc32c(bytes), slowly(bytes));
      assert.equal(crc32c(bytes, at, bytes.length, crc32c(bytes, 0, at)), slowly(bytes));
    }),
  );
});
