import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { headerOfText, textOfHeader } from './header-text.ts';

test('text goes through headers as UTF-8 and comes back', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (any) => {
      const text = any.replace(/[\u0000-\u001f\u007f]/g, '');
      const header = headerOfText(text);
      assert.doesNotMatch(header, /[^\u0020-\u00ff]/);
      assert.equal(textOfHeader(header), text);
    }),
  );
});

test('what is not UTF-8 is kept byte by byte', () => {
  assert.equal(textOfHeader('caf\u00e9'), 'caf\u00e9');
});

test('nothing ends a header early', () => {
  assert.equal(headerOfText('a\r\nset-cookie: b'), 'a  set-cookie: b');
});
