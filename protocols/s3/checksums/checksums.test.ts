import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { algorithmOf, checksumOf, isChecksum, summer } from './checksums.ts';

const ALGORITHMS = ['CRC32', 'CRC32C', 'CRC64NVME', 'SHA1', 'SHA256'] as const;

test('checksums of known texts are the known ones', () => {
  const base64 = (hex: string) => Buffer.from(hex, 'hex').toString('base64');
  const digits = Buffer.from('123456789');
  assert.equal(checksumOf('CRC32', digits), base64('cbf43926'));
  assert.equal(checksumOf('CRC32C', digits), base64('e3069283'));
  assert.equal(checksumOf('CRC64NVME', digits), base64('ae8b14860a799888'));
  assert.equal(checksumOf('SHA1', digits), base64('f7c3bc1d808e04732adf679965ccc34ca7ae3441'));
  assert.equal(
    checksumOf('SHA256', digits),
    base64('15e2b0d3c33891ebb0f1ef609ec419420c20e320ce94c65fbc8c3312448eb225'),
  );
  const zeros = Buffer.alloc(4096);
  assert.equal(checksumOf('CRC64NVME', zeros), base64('6482d367eb22b64e'));
  assert.equal(checksumOf('CRC64NVME', new Uint8Array(0)), base64('0000000000000000'));
});

/** Bit by bit, as the definition has it. */
function slowCrc64(bytes: Uint8Array): string {
  let crc = 0xffffffffffffffffn;
  for (const byte of bytes) {
    crc ^= BigInt(byte);
    for (let bit = 0; bit < 8; bit++) crc = crc & 1n ? (crc >> 1n) ^ 0x9a6c9329ac4bc9b5n : crc >> 1n;
  }
  return Buffer.from((crc ^ 0xffffffffffffffffn).toString(16).padStart(16, '0'), 'hex').toString('base64');
}

test('CRC64NVME by tables is CRC64NVME by definition, wherever the bytes begin', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat(7), (bytes, shift) => {
      const moved = new Uint8Array(bytes.length + shift);
      moved.set(bytes, shift);
      assert.equal(checksumOf('CRC64NVME', moved.subarray(shift)), slowCrc64(bytes));
    }),
    { numRuns: 300 },
  );
});

test('pieces sum up to the whole, however it is cut', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 400 })), fc.constantFrom(...ALGORITHMS), (pieces, algorithm) => {
      const sum = summer(algorithm);
      for (const piece of pieces) sum.update(piece);
      assert.equal(sum.digest(), checksumOf(algorithm, Buffer.concat(pieces)));
    }),
  );
});

test('a checksum is base64 of the right length, and algorithms go by their names', () => {
  assert.ok(isChecksum('CRC32', 'AAAAAA=='));
  assert.ok(!isChecksum('CRC32', 'AAAA'));
  assert.ok(!isChecksum('CRC32', 'AAAA!!=='));
  assert.equal(algorithmOf('crc64nvme'), 'CRC64NVME');
  assert.equal(algorithmOf('md5'), undefined);
  assert.equal(algorithmOf('constructor'), undefined);
});
