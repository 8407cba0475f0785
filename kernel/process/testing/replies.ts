import assert from 'node:assert/strict';
import { replySchema, type RecordReply } from '@granary/contract';
import { XMLParser } from 'fast-xml-parser';

type Schema = ReturnType<typeof replySchema>;

/** The reply, with no field but those it names. */
export function closedSchema(reply: RecordReply): Schema {
  const schema = replySchema(reply);
  const { wrapper } = reply;
  if (wrapper === undefined) return { ...schema, additionalProperties: false } as Schema;
  const inner = { ...schema.properties[wrapper], additionalProperties: false };
  return { ...schema, properties: { [wrapper]: inner }, additionalProperties: false } as unknown as Schema;
}

/** A list without an item shows nothing of its items. */
export function assertSomethingListed(body: object, id: string): void {
  for (const [name, value] of Object.entries(Object.values(body)[0] as object))
    if (Array.isArray(value)) assert.ok(value.length > 0, `${name} of ${id} has nothing to show: prepare something`);
}

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  parseTagValue: false,
  alwaysCreateTextNode: true,
  isArray: (_name, _path, _isLeaf, isAttribute) => !isAttribute,
});

/** What the parser makes of an element: its attributes, its text, and lists of what is inside by name. */
export type Element = Readonly<Record<string, readonly Element[]>> & {
  readonly '@type'?: string;
  readonly '@nil'?: string;
  readonly '#text'?: string;
};

interface Shape {
  readonly type?: string;
  readonly format?: string;
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly required?: readonly string[];
  readonly items?: Shape;
  readonly anyOf?: readonly Shape[];
}

const XML_TYPES: Readonly<Record<string, RegExp>> = {
  integer: /^integer$/,
  number: /^float$/,
  boolean: /^boolean$/,
};

export function assertElement(element: Element, shape: Shape, place: string): void {
  const { anyOf } = shape;
  if (anyOf) {
    if (element['@nil'] === 'true')
      assert.ok(
        anyOf.some(({ type }) => type === 'null'),
        `${place} is nil`,
      );
    else
      assertElement(
        element,
        anyOf.find(({ type }) => type !== 'null')!,
        place,
      );
  } else if (shape.type === 'object') {
    assertRecord(element, shape, place);
  } else if (shape.type === 'array') {
    assert.equal(element['@type'], 'array', place);
    const items = childrenOf(element);
    assert.ok(items.length <= 1, `${place} mixes ${items.map(([name]) => name).join(' and ')}`);
    for (const item of items[0]?.[1] ?? []) assertElement(item, shape.items!, `${place}[]`);
  } else {
    const isTime = shape.format === 'utc' || shape.format === 'iso';
    // Constants are declared by their value: they are whole numbers and texts.
    const isWhole = shape.type === 'number' && shape.const !== undefined;
    const expected = isWhole ? /^integer$/ : isTime ? /^datetime$/ : XML_TYPES[shape.type ?? ''];
    if (expected) assert.match(element['@type'] ?? 'none', expected, place);
    else assert.equal(element['@type'], undefined, place);
  }
}

function assertRecord(element: Element, { properties, required = [] }: Shape, place: string): void {
  // Of a map only the values are known, and theirs are texts and numbers.
  if (!properties) return;
  const names = childrenOf(element).map(([name]) => name);
  const dashed = (name: string) => name.replaceAll('_', '-');
  assert.deepEqual(
    names.filter((name) => !Object.keys(properties).map(dashed).includes(name)),
    [],
    `${place} has too much`,
  );
  for (const [name, shape] of Object.entries(properties)) {
    const found = element[dashed(name)];
    if (found) assertElement(found[0]!, shape, `${place}.${name}`);
    else assert.ok(!required.includes(name), `${place} lacks ${name}`);
  }
}

function childrenOf(element: Element): [string, readonly Element[]][] {
  return Object.entries(element).filter(([name]) => !/^[@#]/.test(name)) as [string, readonly Element[]][];
}

/** The element around all others, and its name. */
export function rootOf(text: string): { readonly root: string; readonly element: Element } {
  const document = parser.parse(text) as Record<string, Element[]>;
  const [root = '', ...others] = Object.keys(document).filter((name) => name !== '?xml');
  assert.deepEqual(others, []);
  const element = document[root]?.[0];
  assert.ok(element, text);
  return { root, element };
}
