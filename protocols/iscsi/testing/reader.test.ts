import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crc32c } from './crc32c.ts';
import { InitiatorProtocolError } from './errors.ts';
import { Reader } from './reader.ts';
import { HEADER_BYTES, paddingOf } from './wire.ts';

/** PDUs as they come over the wire, with both digests. */
function makeStream(segments: readonly Buffer[]): Buffer {
  return Buffer.concat(segments.flatMap((data, index) => makePdu(index, data)));
}

function makePdu(opcode: number, data: Buffer): Buffer[] {
  const header = Buffer.alloc(HEADER_BYTES);
  header[0] = opcode;
  header.writeUIntBE(data.length, 5, 3);
  const filled = Buffer.concat([data, Buffer.alloc(paddingOf(data.length))]);
  return data.length === 0 ? [header, sumOf(header)] : [header, sumOf(header), filled, sumOf(filled)];
}

function sumOf(bytes: Buffer): Buffer {
  const sum = Buffer.alloc(4);
  sum.writeUInt32LE(crc32c(bytes));
  return sum;
}

function read(stream: Buffer, pieceBytes: number): [number, string][] {
  const seen: [number, string][] = [];
  const reader: Reader = new Reader(
    {
      place: () => undefined,
      received: (header, length) => seen.push([header[0] as number, reader.scratch.toString('utf8', 0, length)]),
    },
    1024,
  );
  reader.headerDigest = true;
  reader.dataDigest = true;
  for (let at = 0; at < stream.length; at += pieceBytes) {
    const piece = stream.subarray(at, at + pieceBytes);
    reader.push(piece, piece.length);
  }
  return seen;
}

/** A wrong length may also make it wait for bytes that never come; then it lets nothing through either. */
function readUntilRefused(bytes: Buffer): [number, string][] {
  try {
    return read(bytes, bytes.length);
  } catch (error) {
    assert.ok(error instanceof InitiatorProtocolError);
    return [];
  }
}

const stream = makeStream([Buffer.from('one'), Buffer.alloc(0), Buffer.from('three…'), Buffer.from('four')]);

test('PDUs are the same however the stream is cut', () => {
  for (let pieceBytes = 1; pieceBytes <= stream.length; pieceBytes += 1) {
    assert.deepEqual(read(stream, pieceBytes), [
      [0, 'one'],
      [1, ''],
      [2, 'three…'],
      [3, 'four'],
    ]);
  }
});

test('no flipped bit gets past the digests', () => {
  for (let at = 0; at < stream.length; at += 1) {
    const wrong = Buffer.from(stream);
    wrong[at]! ^= 1 << (at % 8);
    const seen = readUntilRefused(wrong);
    assert.ok(seen.length < 4, `a flipped bit in byte ${at}`);
  }
});
