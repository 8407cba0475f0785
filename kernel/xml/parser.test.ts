import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { XMLParser } from 'fast-xml-parser';
import { assertBrief } from '../edge/testing/blocking.ts';
import type { XmlLimits } from './limits.ts';
import { parseXml, XmlError, type XmlNode } from './parser.ts';

const LIMITS: XmlLimits = { lengthMax: 64 * 1024, elementsMax: 5_000, depthMax: 17 };
const parse = (text: string, limits: Partial<XmlLimits> = {}) => parseXml(text, { ...LIMITS, ...limits });

test('elements, attributes, text, CDATA, comments and instructions are read', () => {
  const root = parse(
    '\ufeff<?xml version="1.0"?>\r\n<!-- a --><r:a x="1 &amp; 2" y=\'"\'>\n <b>t &lt;<![CDATA[<&>]]>u</b ><b/><?p i?></r:a>\n',
  );
  assert.equal(root.name, 'r:a');
  assert.deepEqual(
    [...root.attributes],
    [
      ['x', '1 & 2'],
      ['y', '"'],
    ],
  );
  assert.deepEqual(
    root.children.map(({ name, text }) => [name, text]),
    [
      ['b', 't <<&>u'],
      ['b', ''],
    ],
  );
  assert.equal(root.text, '');
});

test('what is not well-formed, or declares anything, is refused with the reason', () => {
  const cases: [string, RegExp][] = [
    ['', /no root element/],
    ['<!-- a -->', /no root element/],
    ['text', /text outside/],
    ['<a/>text', /text outside/],
    ['<![CDATA[x]]><a/>', /text outside/],
    ['<a/><b/>', /more than one root/],
    ['<a>', /<a> is not closed/],
    ['<a></b>', /<\/b> closes nothing; <a> is open/],
    ['</a>', /<\/a> closes nothing/],
    ['<a', /not well-formed/],
    ['<a b>', /not well-formed/],
    ['<a b="1" b="2"/>', /attribute b is given twice/],
    ['<a b="<"/>', /not well-formed/],
    ['<a b="1"c="2"/>', /not well-formed/],
    ['<1/>', /not the beginning of a tag/],
    ['<a>x < y</a>', /not the beginning of a tag/],
    ['<a><!-- </a>', /<!-- is not closed/],
    ['<a>&b;</a>', /&b; is not a known character/],
    ['<a>a & b</a>', /is not a known character/],
    ['<a b="&#0;"/>', /&#0; is not a known character/],
    ['<!DOCTYPE a><a/>', /document types/],
    ['<a><!ENTITY x "y"></a>', /document types/],
  ];
  for (const [text, reason] of cases) {
    assert.throws(
      () => parse(text),
      (error: unknown) => error instanceof XmlError && reason.test(error.message),
      text,
    );
  }
});

test('length, elements, attributes and depth have limits', () => {
  const many = (count: number) => `<r>${'<a/>'.repeat(count)}</r>`;
  assert.equal(parse(many(9), { elementsMax: 10 }).children.length, 9);
  assert.throws(() => parse(many(10), { elementsMax: 10 }), /more than 10 elements/);
  assert.throws(() => parse('<r a="" b="" c=""/>', { elementsMax: 3 }), /more than 3 elements/);
  assert.throws(() => parse(many(9), { lengthMax: 40 }), /longer than 40/);
  assert.ok(parse('<a><a><a/></a></a>', { depthMax: 3 }));
  assert.throws(() => parse('<a><a><a/></a></a>', { depthMax: 2 }), /deeper than 2/);
});

test('random documents are read as another parser reads them', () => {
  const name = fc.constantFrom('a', 'b-c', 'd.e', '_f', 'g:h', 'é');
  const text = fc.string({
    unit: fc.constantFrom('x', ' ', '\n', '&amp;', '&#65;', '&lt;', '"', "'", '>', 'é', '😀'),
    maxLength: 8,
  });
  const { element } = fc.letrec<{ element: string; content: string }>((tie) => ({
    element: fc
      .tuple(name, fc.uniqueArray(name, { maxLength: 2 }), text, tie('content'))
      .map(([tag, keys, value, content]) => {
        const attributes = keys.map((key) => ` ${key}="${value.replaceAll('"', '')}"`).join('');
        return content === '' ? `<${tag}${attributes}/>` : `<${tag}${attributes}>${content}</${tag}>`;
      }),
    content: fc.oneof(
      { depthSize: 'small' },
      text,
      fc.constant('<!-- <x> --><![CDATA[<&]]>'),
      fc.array(tie('element'), { maxLength: 3 }).map((all) => all.join('')),
    ),
  }));
  const other = new XMLParser({
    preserveOrder: true,
    ignoreAttributes: false,
    attributeNamePrefix: '',
    parseTagValue: false,
    parseAttributeValue: false,
    trimValues: false,
    processEntities: true,
    // oxlint-disable-next-line typescript/no-deprecated -- as good as any for a comparison
    htmlEntities: true,
  });
  fc.assert(
    fc.property(element, (document) => {
      // oxlint-disable-next-line typescript/no-deprecated -- as good as any for a comparison
      const [expected] = other.parse(document, true) as Foreign[];
      assert.deepEqual(shapeOf(parse(document)), foreignShape(expected as Foreign));
    }),
    { numRuns: 300 },
  );
});

type Foreign = Record<string, Foreign[] | string> & { ':@'?: Record<string, string> };
type Shape = readonly [string, Record<string, string>, readonly Shape[], string];

function shapeOf({ name, attributes, children, text }: XmlNode): Shape {
  return [name, Object.fromEntries(attributes), children.map(shapeOf), text];
}

function foreignShape(node: Foreign): Shape {
  const [name = ''] = Object.keys(node).filter((key) => key !== ':@');
  const inner = node[name] as Foreign[];
  const children = inner.filter((each) => !('#text' in each)).map(foreignShape);
  const text = children.length > 0 ? '' : inner.map((each) => each['#text'] as string).join('');
  return [name, node[':@'] ?? {}, children, text];
}

const K64 = LIMITS.lengthMax;
const filled = (piece: string) => piece.repeat(Math.floor((K64 - 8) / piece.length));
const hostile: Record<string, string> = {
  'empty elements': `<r>${filled('<a/>')}</r>`,
  references: `<r>${filled('&lt;')}</r>`,
  'broken references': `<r>${filled('&')}</r>`,
  'an endless reference': `<r>&${filled('a')}</r>`,
  attributes: `<r ${Array.from({ length: 6_000 }, (_, at) => `a${at}=""`).join(' ')}/>`,
  'spaces in a tag': `<r ${filled(' ')}`,
  'an endless name': `<${filled('a')}`,
  'attributes without a value': `<r ${filled('a ')}`,
  'an endless end tag': `<r></${filled('r')}`,
  'angle brackets': filled('<'),
  'comments that do not end': filled('<!--'),
  comments: `<r>${filled('<!---->')}</r>`,
  sections: `<r>${filled('<![CDATA[]]>')}</r>`,
  instructions: `<r>${filled('<??>')}</r>`,
  'mixed text': `<r>${filled('&lt;<!---->')}</r>`,
  'line ends': `<r>${filled('\r')}</r>`,
  nesting: filled('<a>'),
};

for (const [what, text] of Object.entries(hostile)) {
  test(`${what} are read or refused in little time`, () =>
    assertBrief(what, () => {
      try {
        parse(text, { elementsMax: K64 });
      } catch (error) {
        assert.ok(error instanceof XmlError);
      }
    }));
}

test('spaces that are not those of XML make no pattern take long', () => {
  for (const space of ['\u00a0', '\u3000', '\ufeff', '\u2003', ' ', '\t']) {
    for (const head of ['<a ', '<a b ', '<a></a']) {
      const body = `${head}${space.repeat(30_000)}`;
      const before = process.cpuUsage();
      assert.throws(() => parseXml(body, { lengthMax: 65_536, elementsMax: 100, depthMax: 10 }));
      const { user } = process.cpuUsage(before);
      assert.ok(user < 500_000, `${user} µs for ${JSON.stringify(space)} after ${head}`);
    }
  }
});
