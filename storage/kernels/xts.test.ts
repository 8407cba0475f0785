import assert from 'node:assert/strict';
import { createCipheriv } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { BLOCK_BYTES } from '../units.ts';
import { anyPlace, anySeed, bytesFrom, placed } from './testing/buffers.ts';
import { Xts } from './xts.ts';

const anyKey = fc.uint8Array({ minLength: 64, maxLength: 64 }).map((bytes) => {
  const key = Buffer.from(bytes);
  key[0] = key[32]! ^ 1;
  return key;
});
const anyUnit = fc.oneof(
  fc.nat(1000),
  fc.integer({ min: 2 ** 32 - 40, max: 2 ** 32 + 40 }),
  fc.integer({ min: 2 ** 40, max: Number.MAX_SAFE_INTEGER - 100 }),
);

function byNode(key: Buffer, data: Buffer, firstUnit: number): Buffer {
  const units = Array.from({ length: data.length / BLOCK_BYTES }, (_, index) => {
    const tweak = Buffer.alloc(16);
    tweak.writeBigUInt64LE(BigInt(firstUnit + index));
    const unit = data.subarray(index * BLOCK_BYTES, (index + 1) * BLOCK_BYTES);
    return createCipheriv('aes-256-xts', key, tweak).update(unit);
  });
  return Buffer.concat(units);
}

test('the cipher is AES-256-XTS as Node has it, and decrypting undoes it', () => {
  fc.assert(
    fc.property(anyKey, anyUnit, anySeed, fc.nat(40), anyPlace, (key, unit, seed, units, place) => {
      const clear = bytesFrom(seed, units * BLOCK_BYTES);
      const data = placed(place, clear);
      const xts = new Xts(key);
      xts.encrypt(data, unit);
      assert.ok(data.equals(byNode(key, clear, unit)));
      xts.decrypt(data, unit);
      assert.ok(data.equals(clear));
    }),
    { numRuns: 60 },
  );
});

test('one object serves many calls: none leaves anything behind for the next', () => {
  const key = bytesFrom(23, 64);
  const xts = new Xts(key);
  const clear = bytesFrom(29, 20 * BLOCK_BYTES);
  for (let round = 0; round < 50; round += 1) {
    const data = Buffer.from(clear);
    xts.encrypt(data, round);
    assert.ok(data.equals(byNode(key, clear, round)));
    const part = data.subarray(5 * BLOCK_BYTES, 6 * BLOCK_BYTES);
    xts.decrypt(part, round + 5);
    assert.ok(part.equals(clear.subarray(5 * BLOCK_BYTES, 6 * BLOCK_BYTES)));
  }
});

test('a key whose halves are equal is refused, as the standard demands', () => {
  const half = bytesFrom(31, 32);
  assert.throws(() => new Xts(Buffer.concat([half, half])), { name: 'StorageError', code: 'invalid' });
});

test('keys of another length, parts of units and impossible numbers are refused', () => {
  const xts = new Xts(bytesFrom(37, 64));
  assert.throws(() => new Xts(Buffer.alloc(32)), /64 bytes, not 32/);
  assert.throws(() => xts.encrypt(Buffer.alloc(512), 0), /not whole data units/);
  assert.throws(() => xts.decrypt(Buffer.alloc(BLOCK_BYTES), -1), /no number/);
  assert.throws(() => xts.encrypt(Buffer.alloc(BLOCK_BYTES), 0.5), /no number/);
  assert.throws(() => xts.encrypt(Buffer.alloc(BLOCK_BYTES), Number.MAX_SAFE_INTEGER), /no number/);
});
