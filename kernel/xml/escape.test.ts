import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NO_XML_CHARACTER, xmlEscaper } from './escape.ts';
import { SMALL_XML } from './limits.ts';
import { parseXml } from './parser.ts';

const escapeText = xmlEscaper(new RegExp(`[&<>"\\r${NO_XML_CHARACTER}]`), (character) =>
  character === '\r' ? '&#13;' : '\ufffd',
);

test('named characters get their names, the others what the dialect writes', () => {
  assert.equal(escapeText('a & b < c > "d"'), 'a &amp; b &lt; c &gt; &quot;d&quot;');
  assert.equal(escapeText('line\rend\u0001\uffff'), 'line&#13;end\ufffd\ufffd');
});

test('text without special characters is the same text', () => {
  for (const text of ['', 'plain', "it's", 'tab\tand\nline', '😀']) assert.equal(escapeText(text), text);
});

test('the parser reads escaped text as it was', () => {
  const text = 'a & b < c > "d"\r\n\t😀';
  assert.equal(parseXml(`<a>${escapeText(text)}</a>`, SMALL_XML).text, text);
});
