import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { S3Error } from './errors.ts';
import { element, field, xmlDocument } from './xml.ts';
import { readXml } from './xml-reader.ts';

test('what is written is read again as it was, whatever the text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      fc.pre(!text.includes('\0'));
      const document = xmlDocument('Delete', element('Object', field('Key', text) + field('Size', 5)));
      const object = readXml(document, 'Delete').child('Object');
      assert.equal(object?.text('Key'), text);
      assert.equal(object.need('Size'), '5');
    }),
    { numRuns: 500 },
  );
});

test('namespaces, prefixes, comments and CDATA do not disturb', () => {
  const root = readXml(
    '<?xml version="1.0"?><!-- a --><s:Tagging xmlns:s="urn:x"><s:Tag><s:Key><![CDATA[<a&b>]]></s:Key></s:Tag><s:Tag/></s:Tagging>',
    'Tagging',
  );
  assert.equal(root.all('Tag').length, 2);
  assert.equal(root.child('Tag')?.text('Key'), '<a&b>');
});

test('a field without a value is not written', () => {
  assert.equal(field('A', undefined) + field('B', null) + field('C', 0) + field('D', ''), '<C>0</C><D></D>');
});

test('what is not plain XML is refused as MalformedXML', () => {
  const cases = [
    '',
    'text',
    '<a>',
    '<a></b>',
    '<Other/>',
    '<!DOCTYPE a [<!ENTITY x "y">]><Delete>&x;</Delete>',
    '<Delete><Key>&unknown;</Key></Delete>',
    '<Delete><Key>&#0;</Key></Delete>',
    '<Delete><!-- </Delete>',
    `${'<Delete>'.repeat(30)}${'</Delete>'.repeat(30)}`,
  ];
  for (const text of cases) {
    assert.throws(
      () => readXml(text, 'Delete'),
      (error: unknown) => error instanceof S3Error && error.code === 'MalformedXML',
      text,
    );
  }
});
