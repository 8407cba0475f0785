import assert from 'node:assert/strict';
import { test } from 'node:test';
import { operations, replySchema, success, type Operation, type RecordReply } from '@granary/contract';
import { arrayApi } from '@granary/contract/array';
import { objectsApi } from '@granary/contract/objects';
import { portalApi } from '@granary/contract/portal';
import { int, listOf, mapOf, maybe, nullable, record, secretText, str } from '../../contract/records.ts';
import { SecretFields } from './secret-fields.ts';
import type { Shape } from './shape.ts';

const SECRET = 'hunter2';
const services = [portalApi, arrayApi, objectsApi];

type ShownOnce = Shape & { readonly 'x-shown-once'?: string };

/** A value of the shape, with a secret wherever one may be. */
function sample(shape: Shape): unknown {
  if (shape.anyOf) return sample(shape.anyOf.find(({ type }) => type !== 'null') ?? {});
  if (shape.properties)
    return Object.fromEntries(Object.entries(shape.properties).map(([key, field]) => [key, sample(field)]));
  if (shape.patternProperties) return { key: sample(Object.values(shape.patternProperties)[0] ?? {}) };
  if (shape.items) return [sample(shape.items)];
  if (shape['x-secret'] !== undefined) return SECRET;
  return shape.type === 'string' ? 'public' : shape.type === 'boolean' ? true : 1;
}

/** Fields of a reply, by name. */
function fieldsOf(shape: Shape, name = ''): { name: string; shape: ShownOnce }[] {
  return [
    { name, shape },
    ...(shape.anyOf ?? []).flatMap((one) => fieldsOf(one, name)),
    ...Object.entries(shape.properties ?? {}).flatMap(([key, field]) => fieldsOf(field, key)),
    ...Object.values(shape.patternProperties ?? {}).flatMap((one) => fieldsOf(one, name)),
    ...(shape.items ? fieldsOf(shape.items, name) : []),
  ];
}

const replies = services.flatMap((api) =>
  operations(api).flatMap((operation) => {
    const { reply } = operation.endpoint;
    return reply.kind === 'record' ? [{ api: api.name, operation, shape: shapeOf(reply) }] : [];
  }),
);

function shapeOf(reply: RecordReply): Shape {
  return replySchema({ kind: 'record', constants: {}, fields: reply.fields });
}

const name = (api: string, { id }: Operation) => `${api} ${id}`;

for (const { api, operation, shape } of replies) {
  const marked = fieldsOf(shape).filter((field) => field.shape['x-secret'] !== undefined);
  if (marked.length === 0) continue;
  test(`${name(api, operation)} hides ${[...new Set(marked.map((field) => field.name))].join(', ')}`, () => {
    const fields = sample(shape) as Record<string, unknown>;
    const secrets = SecretFields.of(operation.endpoint.reply as RecordReply);
    assert.ok(secrets && JSON.stringify(fields).includes(SECRET));
    const hidden = secrets.hide(fields);
    assert.equal(JSON.stringify(hidden), JSON.stringify(fields).replaceAll(SECRET, ''));
    const words = secrets.describe(fields) ?? '';
    for (const field of marked) assert.ok(words.includes(`the ${field.shape['x-secret']}`), words);
  });
}

/** Their names sound like secrets, and they are none. */
const PUBLIC = [
  'array_chap_user',
  'code_name',
  'csrf',
  'encryption_key_size',
  'host_chap_user',
  'init_password_changed',
  'password_expires_at',
  'password_history',
  'public_key',
  's3_access_key',
  'token_expire_at',
];

test('a field that sounds like a secret is marked', () => {
  const sounding = /secret|passw|passcode|token|psk|pwd|private|access_key/;
  const unmarked = replies.flatMap(({ api, operation, shape }) =>
    fieldsOf(shape)
      .filter((field) => sounding.test(field.name) && !PUBLIC.includes(field.name) && fieldIsText(field.shape))
      .filter((field) => field.shape['x-secret'] === undefined && field.shape['x-shown-once'] === undefined)
      .map((field) => `${name(api, operation)}: ${field.name}`),
  );
  assert.deepEqual(unmarked, []);
});

function fieldIsText({ type, enum: values }: Shape): boolean {
  return type === 'string' && values === undefined;
}

const Thing = record('RemoteThing', {
  id: int(),
  display_name: str(),
  passcode: secretText('passcode'),
  key: nullable(secretText('key')),
  old: maybe(secretText('old key')),
});
const reply = success({ things: listOf(Thing), byName: mapOf(Thing), title: str() });

test('no secret stays null or absent, and one that is there becomes an empty text, at any depth', () => {
  const secrets = SecretFields.of(reply);
  const thing = { id: 1, display_name: 'tank', passcode: SECRET, key: null };
  const fields = { things: [thing], byName: { a: { ...thing, old: SECRET } }, title: SECRET };
  assert.deepEqual(secrets?.hide(fields), {
    things: [{ ...thing, passcode: '' }],
    byName: { a: { ...thing, passcode: '', old: '' } },
    title: SECRET,
  });
  assert.equal(thing.passcode, SECRET, 'what the handler returned is as it was');
});

test('a look at secrets is recorded in words: of what, and of many only some', () => {
  const secrets = SecretFields.of(reply);
  const thing = (id: number, key: string | null = null) => ({ id, display_name: `t${id}`, passcode: SECRET, key });
  const words = (...things: object[]) => secrets?.describe({ things, byName: {}, title: '' });
  assert.equal(words(thing(1)), 'the passcode of remote thing t1');
  assert.equal(words(thing(1, 'k')), 'the passcode, the key of remote thing t1');
  assert.equal(words(), undefined);
  const many = words(...[1, 2, 3, 4, 5].map((id) => thing(id)));
  assert.equal(many?.split('; ').at(-1), 'and those of 2 more');
});

test('a reply without secrets is not walked', () => {
  assert.equal(SecretFields.of(success({ name: str() })), undefined);
});
