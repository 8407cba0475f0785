import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { fullChecksum } from './checksum-combine.ts';

function bytesOf(value: number): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes.toString('base64');
}

test('the checksum of a whole follows from the checksums of its parts', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 300 }), { minLength: 1, maxLength: 6 }), (parts) => {
      const combined = fullChecksum(
        'CRC32',
        parts.map((part) => ({ value: bytesOf(crc32(part)), size: part.length })),
      );
      assert.equal(combined, bytesOf(crc32(Buffer.concat(parts))));
    }),
  );
});
