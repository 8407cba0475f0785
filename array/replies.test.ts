import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { replySchema, type Operation, type RecordReply } from '@granary/contract';
import { arrayApi } from '@granary/contract/array';
import { XMLParser } from 'fast-xml-parser';
import { Check, Errors } from 'typebox/value';
import { validValues } from './testing/valid-requests.ts';
import { arrayOperations, startWalk } from './testing/walk.ts';
import type { Received } from '../kernel/process/testing/wire.ts';

/**
 * Goal: replies are what the contract, which is held against the specification by its own tests, shows: field by field
 * and type by type, in JSON and in XML.
 * Method: every operation is called with success and its whole reply held against the contract's schema, with no field
 * too many; in XML, every field of the schema is looked for under its dashed name, with the type it should carry.
 */
const walk = await startWalk({ after });
const { admin } = walk;

async function answer(operation: Operation, accept: string): Promise<Received> {
  return walk.ask(operation, await validValues(operation, walk, admin), admin.key, { accept });
}

type Schema = ReturnType<typeof replySchema>;

/** The reply, or where the work goes on after it, what is said then. */
function closedSchema(reply: RecordReply): Schema {
  const schema = replySchema(reply);
  const { wrapper } = reply;
  if (wrapper === undefined) return { ...schema, additionalProperties: false } as Schema;
  const inner = { ...schema.properties[wrapper], additionalProperties: false };
  return { ...schema, properties: { [wrapper]: inner }, additionalProperties: false } as unknown as Schema;
}

function isSubmitted(text: string): boolean {
  return text.includes(String(arrayApi.asyncStatus));
}

for (const operation of arrayOperations) {
  const reply = operation.endpoint.reply as RecordReply;
  test(`${operation.id} replies as its schema says, and without a field too many`, async () => {
    const { http, headers, text } = await answer(operation, 'application/json');
    assert.equal(http, 200, text);
    assert.match(String(headers['content-type']), /^application\/json/);
    const body = JSON.parse(text) as Record<string, { status: number; message?: string }>;
    if (operation.endpoint.job && isSubmitted(text)) {
      assert.deepEqual(Object.keys(body['response']!), ['status', 'message']);
      assert.match(String(body['response']!.message), /^The request has been submitted/);
      return;
    }
    assertSomethingListed(body, operation.id);
    const schema = closedSchema(reply);
    assert.ok(Check(schema, body), JSON.stringify({ errors: Errors(schema, body), body }, null, 1));
  });
}

/** A list without an item shows nothing of its items. */
function assertSomethingListed(body: object, id: string): void {
  for (const [name, value] of Object.entries(Object.values(body)[0] as object))
    if (Array.isArray(value)) assert.ok(value.length > 0, `${name} of ${id} has nothing to show: prepare something`);
}

/** The names the specification's clients look for, as examples of the rule. */
const roots: Readonly<Record<string, string>> = {
  'volumes.list': 'show-volumes-response',
  'volumes.get': 'show-volume-response',
  'volumes.create': 'create-volume-response',
  'volumes.listFree': 'show-free-volumes-response',
  'servers.attachVolumes': 'attach-volumes-server-response',
  'snapshotPolicies.list': 'show-snapshot-policies-response',
};

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  parseTagValue: false,
  alwaysCreateTextNode: true,
  isArray: (_name, _path, _isLeaf, isAttribute) => !isAttribute,
});

/** What the parser makes of an element: its attributes, its text, and lists of what is inside by name. */
type Element = Readonly<Record<string, readonly Element[]>> & {
  readonly '@type'?: string;
  readonly '@nil'?: string;
  readonly '#text'?: string;
};

interface Shape {
  readonly type?: string;
  readonly format?: string;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly required?: readonly string[];
  readonly items?: Shape;
  readonly anyOf?: readonly Shape[];
}

const XML_TYPES: Readonly<Record<string, RegExp>> = {
  integer: /^integer$/,
  number: /^(integer|float)$/,
  boolean: /^boolean$/,
};

function assertElement(element: Element, shape: Shape, place: string): void {
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
    const expected = isTime ? /^datetime$/ : XML_TYPES[shape.type ?? ''];
    if (expected) assert.match(element['@type'] ?? 'none', expected, place);
    else assert.equal(element['@type'], undefined, place);
  }
}

function assertRecord(element: Element, { properties = {}, required = [] }: Shape, place: string): void {
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

for (const operation of arrayOperations) {
  test(`${operation.id} replies in XML with a root of its own and every field under its dashed name`, async () => {
    const { http, headers, text } = await answer(operation, 'application/xml');
    assert.equal(http, 200, text);
    assert.match(String(headers['content-type']), /^application\/xml/);
    const document = parser.parse(text) as Record<string, Element[]>;
    const [root = '', ...others] = Object.keys(document).filter((name) => name !== '?xml');
    assert.deepEqual(others, []);
    assert.match(root, /^[a-z]+(-[a-z]+)*-response$/);
    if (roots[operation.id] !== undefined) assert.equal(root, roots[operation.id]);
    const element = document[root]![0]!;
    if (operation.endpoint.job && isSubmitted(text)) {
      assert.match(element['status-msg']![0]!['#text']!, /^The request has been submitted/);
      return;
    }
    const { kind, constants, fields } = operation.endpoint.reply as RecordReply;
    assert.equal(element['status']![0]!['#text'], '0', text);
    assertElement(element, replySchema({ kind, constants, fields }), root);
  });
}
