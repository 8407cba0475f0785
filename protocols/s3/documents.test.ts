import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Documents } from './documents.ts';

test('pieces become the bytes of their text', () => {
  const documents = new Documents();
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'grapheme', maxLength: 200 }), { maxLength: 20 }), (pieces) => {
      const { bytes, release } = documents.write(pieces);
      assert.equal(Buffer.compare(bytes, Buffer.from(pieces.join(''))), 0);
      release();
    }),
  );
});

test('a document stays as it is until it is released, however many there are', () => {
  const documents = new Documents();
  const texts = Array.from({ length: 10 }, (_, number) => String(number).repeat(1000));
  const written = texts.map((text) => documents.write([text]));
  for (const [number, { bytes }] of written.entries()) assert.equal(Buffer.from(bytes).toString(), texts[number]);
  for (const { release } of written) release();
  assert.equal(Buffer.from(documents.write(['again']).bytes).toString(), 'again');
});

test('one that is too long for the memory that is used again is sent all the same', () => {
  const documents = new Documents();
  const pieces = Array.from({ length: 20 }, (_, number) => `${number}ß€`.repeat(20_000));
  const { bytes, release } = documents.write(pieces);
  release();
  documents.write(['something else']);
  assert.equal(Buffer.compare(bytes, Buffer.from(pieces.join(''))), 0);
});
