import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ProtocolError } from '../pdu/receiver.ts';
import { decodeBinary, decodeText, encodeBinary, encodeText } from './text.ts';

const KEY = fc.stringMatching(/^[A-Z][A-Za-z0-9]{0,20}$/);
const VALUE = fc.stringMatching(/^[ -~]{0,40}$/);

test('pairs come out as they went in', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.tuple(KEY, VALUE), { selector: ([key]) => key }), (pairs) => {
      assert.deepEqual([...decodeText(encodeText(pairs))], pairs);
    }),
  );
});

test('binary values come out as they went in, also from base64', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 64 }), (bytes) => {
      assert.deepEqual(decodeBinary(encodeBinary(Buffer.from(bytes))), Buffer.from(bytes));
      assert.deepEqual(decodeBinary(`0b${Buffer.from(bytes).toString('base64')}`), Buffer.from(bytes));
    }),
  );
  assert.equal(decodeBinary('0xzz'), undefined);
  assert.equal(decodeBinary('plain'), undefined);
});

test('text that is not made of pairs is refused, and so is a key given twice', () => {
  for (const text of ['nonsense\0', '=x\0', 'A=1\0A=2\0', `A=${'x'.repeat(9000)}\0`]) {
    assert.throws(() => decodeText(Buffer.from(text)), ProtocolError);
  }
});

test('any bytes are pairs or refused, never anything else', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      try {
        decodeText(Buffer.from(bytes));
      } catch (error) {
        assert.ok(error instanceof ProtocolError);
      }
    }),
  );
});
