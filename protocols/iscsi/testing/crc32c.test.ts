import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crc32c } from './crc32c.ts';

test('CRC32C gives the sums that RFC 7143 prints', () => {
  assert.equal(crc32c(Buffer.alloc(32)), 0x8a9136aa);
  assert.equal(crc32c(Buffer.alloc(32, 0xff)), 0x62a8ab43);
  assert.equal(crc32c(Buffer.from(Array.from({ length: 32 }, (_, index) => index))), 0x46dd794e);
  assert.equal(crc32c(Buffer.from('123456789')), 0xe3069283);
});

test('a sum over parts is the sum over the whole', () => {
  const bytes = Buffer.from(Array.from({ length: 100 }, (_, index) => index * 7));
  for (let cut = 0; cut <= 100; cut += 1) assert.equal(crc32c(bytes, cut, 100, crc32c(bytes, 0, cut)), crc32c(bytes));
});
