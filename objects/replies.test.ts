import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { replySchema, type Operation, type RecordReply } from '@granary/contract';
import { objectsApi } from '@granary/contract/objects';
import { Check, Errors } from 'typebox/value';
import { assertElement, assertSomethingListed, closedSchema, rootOf } from '../kernel/process/testing/replies.ts';
import type { Received } from '../kernel/process/testing/wire.ts';
import { alwaysRefused, validValues } from './testing/valid-requests.ts';
import { objectsOperations, startWalk } from './testing/walk.ts';

/**
 * Goal: replies are what the contract, which is held against the specification by its own tests, shows: field by field
 * and type by type, in JSON and in XML.
 * Method: every operation is called with success and its whole reply held against the contract's schema, with no field
 * too many; in XML, every field of the schema is looked for under its dashed name, with the type it should carry.
 */
const walk = await startWalk({ after });
const { admin } = walk;
await walk.objects.s3(admin).call('PUT', '/photos');
await walk.objects.s3(admin).call('PUT', '/photos/beach.jpg', { body: 'waves' });

const isRecord = (operation: Operation): operation is Operation & { endpoint: { reply: RecordReply } } =>
  operation.endpoint.reply.kind === 'record';
const withRecords = objectsOperations.filter(isRecord).filter(({ id }) => !alwaysRefused.has(id));

async function answer(operation: Operation, accept: string): Promise<Received> {
  return walk.ask(operation, await validValues(operation, walk, admin), admin.key, { accept });
}

function isSubmitted({ endpoint }: Operation, text: string): boolean {
  return endpoint.job !== undefined && text.includes(String(objectsApi.asyncStatus));
}

for (const operation of withRecords) {
  test(`${operation.id} replies as its schema says, and without a field too many`, async () => {
    const { http, headers, text } = await answer(operation, 'application/json');
    assert.equal(http, 200, text);
    assert.match(String(headers['content-type']), /^application\/json/);
    const body = JSON.parse(text) as Record<string, { status: number; message?: string }>;
    if (isSubmitted(operation, text)) {
      assert.deepEqual(Object.keys(body['response'] as object), ['status', 'message']);
      assert.match(String(body['response']?.message), /^The request has been submitted/);
      return;
    }
    assertSomethingListed('objects' in body ? { body } : body, operation.id);
    const schema = closedSchema(operation.endpoint.reply);
    assert.ok(Check(schema, body), JSON.stringify({ errors: Errors(schema, body), body }, null, 1));
  });

  test(`${operation.id} replies in XML with a root of its own and every field under its dashed name`, async () => {
    const { http, headers, text } = await answer(operation, 'application/xml');
    assert.equal(http, 200, text);
    assert.match(String(headers['content-type']), /^application\/xml/);
    const { root, element } = rootOf(text);
    assert.match(root, /^[a-z]+(-[a-z0-9]+)*-response$/);
    if (isSubmitted(operation, text)) {
      assert.match(String(element['status-msg']?.[0]?.['#text']), /^The request has been submitted/);
      return;
    }
    const { kind, constants, fields } = operation.endpoint.reply;
    if ('status' in constants) assert.equal(element['status']?.[0]?.['#text'], '0', text);
    assertElement(element, replySchema({ kind, constants, fields }), root);
  });
}

test('the export of accounts is a CSV file with the columns of the specification, and the same in every format', async () => {
  const operation = objectsOperations.find(({ id }) => id === 'accounts.export') as Operation;
  for (const accept of ['application/json', 'application/xml', '*/*']) {
    const { http, headers, text } = await answer(operation, accept);
    assert.equal(http, 200);
    assert.match(String(headers['content-type']), /^text\/csv/);
    const [head, ...rows] = text.trim().split(/\r?\n/);
    assert.equal(head, 'Name,ID,Status,Used Capacity (GiB),Containers,Objects,Enabled');
    assert.ok(
      rows.some((row) => row.startsWith(`webhosting,${walk.home},`)),
      text,
    );
  }
});

test('the password code and the forgotten password are answered without a level around them', async () => {
  for (const id of ['users.usePasswordCode', 'users.resetPassword']) {
    const operation = objectsOperations.find((one) => one.id === id) as Operation;
    const { text } = await answer(operation, 'application/json');
    assert.deepEqual(Object.keys(JSON.parse(text) as object), ['status', 'status_msg']);
  }
});

test('the account and the ids of new ones are under the key count', async () => {
  const { accounts, requests } = walk.api;
  const one = await walk.client.call(accounts.get, { account_id: walk.home });
  assert.equal(one.count.id, walk.home);
  const made = await walk.client.call(accounts.create, { name: walk.name('account') });
  assert.match(made.count, /^[0-9a-f]{32}$/);
  const operation = objectsOperations.find(({ id }) => id === 'requests.approve') as Operation;
  const values = (await validValues(operation, walk, admin)) as { id: number };
  assert.match((await walk.client.call(requests.approve, values)).count, /^[0-9a-f]{32}$/);
});
