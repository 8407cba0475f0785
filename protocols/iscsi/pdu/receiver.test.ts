import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { crc32c } from './crc32c.ts';
import { FrameFormat, paddingOf } from './frame.ts';
import { PduReceiver, ProtocolError } from './receiver.ts';

interface Pdu {
  readonly header: Buffer;
  readonly data: Buffer;
}

function formatOf(headerDigest: boolean, dataDigest: boolean): FrameFormat {
  const format = new FrameFormat();
  format.headerDigest = headerDigest;
  format.dataDigest = dataDigest;
  return format;
}

function frameOf(format: FrameFormat, { header, data }: Pdu): Buffer {
  const page = Buffer.alloc(format.frameBytes(data.length), 0xee);
  header.copy(page);
  data.copy(page, format.dataOffset);
  format.seal(page, 0, data.length);
  return page;
}

function collector(format: FrameFormat, into?: (header: Buffer, length: number) => Buffer | undefined) {
  const seen: Pdu[] = [];
  const receiver = new PduReceiver(
    {
      destination: (header, length) => into?.(header, length),
      pdu: (header, data) => seen.push({ header: Buffer.from(header.subarray(0, 48)), data: Buffer.from(data) }),
    },
    format,
    4096,
  );
  return { receiver, seen };
}

const PDU = fc
  .record({ header: fc.uint8Array({ minLength: 48, maxLength: 48 }), data: fc.uint8Array({ maxLength: 300 }) })
  .map(({ header, data }) => {
    const bytes = Buffer.from(header);
    bytes[4] = 0;
    bytes.writeUIntBE(data.length, 5, 3);
    return { header: bytes, data: Buffer.from(data) };
  });

test('what is framed comes out again, however the stream is cut', () => {
  fc.assert(
    fc.property(
      fc.array(PDU, { maxLength: 6 }),
      fc.boolean(),
      fc.boolean(),
      fc.boolean(),
      fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1 }),
      (pdus, headerDigest, dataDigest, placed, cuts) => {
        const format = formatOf(headerDigest, dataDigest);
        const { receiver, seen } = collector(format, (_, length) => (placed ? Buffer.alloc(length) : undefined));
        const stream = Buffer.concat(pdus.map((pdu) => frameOf(format, pdu)));
        // Received into one buffer, again and again.
        const chunk = Buffer.alloc(200);
        for (let at = 0, turn = 0; at < stream.length; turn++) {
          const size = cuts[turn % cuts.length]!;
          const received = stream.copy(chunk, 0, at, at + size);
          receiver.push(chunk.subarray(0, received));
          chunk.fill(0xdd);
          at += size;
        }
        assert.deepEqual(seen, pdus);
      },
    ),
  );
});

test('additional header segments are skipped, and covered by the digest', () => {
  const format = formatOf(true, false);
  const { receiver, seen } = collector(format);
  const header = Buffer.alloc(48 + 8, 7);
  header[4] = 2;
  header.writeUIntBE(3, 5, 3);
  const digest = Buffer.alloc(4);
  digest.writeUInt32LE(crc32c(header));
  receiver.push(Buffer.concat([header, digest, Buffer.from('abc\0')]));
  assert.equal(seen[0]!.data.toString(), 'abc');
});

test('a flipped bit anywhere under a digest ends the connection', () => {
  fc.assert(
    fc.property(PDU, fc.nat(), fc.nat(7), (pdu, place, bit) => {
      const format = formatOf(true, true);
      const frame = frameOf(format, pdu);
      // The length of the data decides where the digests are, so leave it alone.
      const at = place % frame.length;
      if (at >= 4 && at < 8) return;
      frame[at]! ^= 1 << bit;
      const { receiver } = collector(format);
      assert.throws(() => receiver.push(frame), ProtocolError);
    }),
  );
});

test('a data segment longer than agreed is refused before any of it is kept', () => {
  const { receiver } = collector(formatOf(false, false));
  const header = Buffer.alloc(48);
  header.writeUIntBE(4097, 5, 3);
  assert.throws(() => receiver.push(header), ProtocolError);
});

test('after a stop nothing more is handed on, not even from the same chunk', () => {
  const format = formatOf(false, false);
  const seen: number[] = [];
  const receiver: PduReceiver = new PduReceiver(
    {
      destination: () => undefined,
      pdu: (header) => {
        seen.push(header[0]!);
        receiver.stop();
      },
    },
    format,
    100,
  );
  receiver.push(Buffer.concat([Buffer.alloc(48, 1).fill(0, 4, 8), Buffer.alloc(48, 2).fill(0, 4, 8)]));
  assert.deepEqual(seen, [1]);
});

test('padding fills whole words', () => {
  assert.deepEqual([0, 1, 2, 3, 4, 5].map(paddingOf), [0, 3, 2, 1, 0, 3]);
});
