import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { BLOCK_BYTES } from '../units.ts';
import { allocate } from './arena.ts';
import { blocksMatch, checksum, checksumBlocks } from './checksum.ts';
import { anyPlace, anySeed, bytesFrom, placed } from './testing/buffers.ts';
import { changeToZero, referenceChecksum } from './testing/checksum.ts';

const SECTOR_BYTES = 512;

function checksumOf(block: Buffer): number {
  const list = new Uint32Array(1);
  checksumBlocks(block, list, 0);
  return list[0]!;
}

test('checksums equal those of the plain description, wherever the data is', () => {
  fc.assert(
    fc.property(anyPlace, anySeed, fc.nat(40), fc.nat(5), (place, seed, blocks, at) => {
      const data = placed(place, bytesFrom(seed, blocks * BLOCK_BYTES));
      const list = new Uint32Array(at + blocks + 1);
      checksumBlocks(data, list, at);
      const expected = Array.from({ length: blocks }, (_, index) =>
        referenceChecksum(data.subarray(index * BLOCK_BYTES, (index + 1) * BLOCK_BYTES)),
      );
      assert.deepEqual([...list], [...new Array<number>(at).fill(0), ...expected, 0]);
      assert.equal(blocksMatch(data, list, at), -1);
    }),
    { numRuns: 60 },
  );
});

test('the first block that does not match is named', () => {
  fc.assert(
    fc.property(anyPlace, anySeed, fc.integer({ min: 1, max: 40 }), fc.nat(), fc.nat(), (place, seed, blocks, a, b) => {
      const data = placed(place, bytesFrom(seed, blocks * BLOCK_BYTES));
      const list = new Uint32Array(blocks + 3);
      checksumBlocks(data, list, 3);
      const damaged = [a % data.length, b % data.length];
      for (const at of new Set(damaged)) data[at]! ^= 0x10;
      assert.equal(blocksMatch(data, list, 3), Math.floor(Math.min(...damaged) / BLOCK_BYTES));
    }),
    { numRuns: 60 },
  );
});

for (const [name, fill] of [
  ['zeros', (block: Buffer) => block.fill(0)],
  ['ones', (block: Buffer) => block.fill(0xff)],
  ['data', (block: Buffer) => block.set(bytesFrom(7, BLOCK_BYTES))],
] as const) {
  test(`every flipped bit in a block of ${name} is seen`, () => {
    const block = allocate(BLOCK_BYTES);
    fill(block);
    const before = checksumOf(block);
    for (let bit = 0; bit < BLOCK_BYTES * 8; bit += 1) {
      block[bit >> 3]! ^= 1 << (bit & 7);
      assert.notEqual(checksumOf(block), before, `bit ${bit}`);
      block[bit >> 3]! ^= 1 << (bit & 7);
    }
  });

  test(`flipped bits a row apart do not hide each other in a block of ${name}`, () => {
    const block = allocate(BLOCK_BYTES);
    fill(block);
    const before = checksumOf(block);
    const words = new Uint32Array(block.buffer, block.byteOffset, BLOCK_BYTES / 4);
    for (let at = 0; at < words.length - 32; at += 97) {
      for (let pair = 0; pair < 1024; pair += 1) {
        words[at]! ^= 1 << (pair & 31);
        words[at + 32]! ^= 1 << (pair >> 5);
        assert.notEqual(checksumOf(block), before, `word ${at}, pair ${pair}`);
        words[at]! ^= 1 << (pair & 31);
        words[at + 32]! ^= 1 << (pair >> 5);
      }
    }
  });
}

test('a block whose checksum would be 0 has 1, because 0 says that a block was never written', () => {
  for (const seed of [1, 2, 3]) {
    const block = placed('arena', bytesFrom(seed, BLOCK_BYTES));
    changeToZero(block);
    assert.equal(checksumOf(block), 1);
  }
});

test('pieces of 16 bytes and sectors that change places are seen', () => {
  const block = placed('arena', bytesFrom(11, BLOCK_BYTES));
  const before = checksumOf(block);
  for (const bytes of [4, 8, 16, 128, SECTOR_BYTES]) {
    for (let first = 0; first < BLOCK_BYTES; first += bytes * 5) {
      for (let second = first + bytes; second < BLOCK_BYTES; second += bytes * 3) {
        const swapped = placed('ordinary', block);
        block.copy(swapped, first, second, second + bytes);
        block.copy(swapped, second, first, first + bytes);
        assert.notEqual(checksumOf(swapped), before, `${bytes} bytes at ${first} and ${second}`);
      }
    }
  }
});

test('data moved by any number of bytes is seen', () => {
  const block = bytesFrom(13, BLOCK_BYTES);
  const seen = new Set<number>();
  for (let shift = 0; shift < BLOCK_BYTES; shift += 1) {
    seen.add(checksumOf(Buffer.concat([block.subarray(shift), block.subarray(0, shift)])));
  }
  assert.equal(seen.size, BLOCK_BYTES);
});

test('a lone byte gives another checksum in every place of a block of zeros', () => {
  const seen = new Set<number>();
  const block = allocate(BLOCK_BYTES).fill(0);
  for (let at = 0; at < BLOCK_BYTES; at += 1) {
    block[at] = 1;
    seen.add(checksumOf(block));
    block[at] = 0;
  }
  assert.equal(seen.size, BLOCK_BYTES);
});

test('other bytes in one sector give checksums that meet no more often than chance has it', () => {
  const block = placed('arena', bytesFrom(17, BLOCK_BYTES));
  const count = 100_000;
  const seen = new Set<number>();
  const sector = block.subarray(3 * SECTOR_BYTES, 4 * SECTOR_BYTES);
  for (let change = 0; change < count; change += 1) {
    sector.writeUInt32LE(change % 317, 4);
    sector.writeUInt32LE(Math.floor(change / 317), 252);
    seen.add(checksumOf(block));
  }
  // Chance has 1.2 pairs among so many; more than 10 would happen once in ten million runs, and this run is fixed.
  assert.ok(count - seen.size <= 10, `${count - seen.size} pairs`);
});

test('a flipped bit turns over about half of the bits of the checksum', () => {
  const block = placed('arena', bytesFrom(19, BLOCK_BYTES));
  const before = checksumOf(block);
  const turned = new Array<number>(32).fill(0);
  const flips = BLOCK_BYTES;
  for (let at = 0; at < flips; at += 1) {
    block[at]! ^= 1 << (at % 8);
    const difference = checksumOf(block) ^ before;
    block[at]! ^= 1 << (at % 8);
    turned.forEach((_, bit) => (turned[bit]! += (difference >>> bit) & 1));
  }
  for (const count of turned) assert.ok(count > flips * 0.45 && count < flips * 0.55, turned.join(' '));
});

test('parts of blocks and lists that are too short are refused', () => {
  const list = new Uint32Array(2);
  assert.throws(() => checksumBlocks(Buffer.alloc(4095), list, 0), /not whole blocks/);
  assert.throws(() => blocksMatch(Buffer.alloc(4097), list, 0), /not whole blocks/);
  assert.throws(() => checksumBlocks(Buffer.alloc(8192), list, 1), /no 2 checksums/);
  assert.throws(() => blocksMatch(Buffer.alloc(8192), list, -1), /no 2 checksums/);
  assert.throws(() => checksumBlocks(Buffer.alloc(4096), list, 0.5), /no 1 checksums/);
});

test('the checksum of any number of bytes is the same wherever they are, as if zeros followed, and starts from its seed', () => {
  fc.assert(
    fc.property(anyPlace, anySeed, fc.nat(150_000), fc.nat(100), fc.integer(), (place, seed, bytes, before, start) => {
      const plain = bytesFrom(seed, before + bytes);
      const expected = checksum(plain, before, before + bytes, start);
      assert.equal(checksum(placed(place, plain), before, before + bytes, start), expected);
      const padded = Buffer.alloc(Math.ceil(bytes / BLOCK_BYTES) * BLOCK_BYTES);
      plain.copy(padded, 0, before);
      assert.equal(checksum(padded, 0, padded.length, start), expected);
      assert.notEqual(checksum(plain, before, before + bytes, (start + 1) | 0), expected);
    }),
    { numRuns: 60 },
  );
});

test('a changed byte, and blocks that change places, are seen in the checksum of many blocks', () => {
  const data = bytesFrom(21, 70_000);
  const before = checksum(data, 0, data.length, 5);
  for (let at = 0; at < data.length; at += 331) {
    data[at]! ^= 0x40;
    assert.notEqual(checksum(data, 0, data.length, 5), before, `byte ${at}`);
    data[at]! ^= 0x40;
  }
  const swapped = Buffer.concat([data.subarray(4096, 8192), data.subarray(0, 4096), data.subarray(8192)]);
  assert.notEqual(checksum(swapped, 0, swapped.length, 5), before);
});
