import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { replySchema, type Operation, type RecordReply } from '@granary/contract';
import { arrayApi } from '@granary/contract/array';
import { Check, Errors } from 'typebox/value';
import { validValues } from './testing/valid-requests.ts';
import { arrayOperations, startWalk } from './testing/walk.ts';
import { assertElement, assertSomethingListed, closedSchema, rootOf } from '../kernel/process/testing/replies.ts';
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

function isSubmitted(text: string): boolean {
  return text.includes(String(arrayApi.asyncStatus));
}

const records = arrayOperations.filter(({ endpoint }) => endpoint.reply.kind === 'record');

for (const operation of records) {
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

/** The names the specification's clients look for, as examples of the rule. */
const roots: Readonly<Record<string, string>> = {
  'volumes.list': 'show-volumes-response',
  'volumes.get': 'show-volume-response',
  'volumes.create': 'create-volume-response',
  'volumes.listFree': 'show-free-volumes-response',
  'controllers.list': 'show-vcontrollers-response',
  'servers.attachVolumes': 'create-volume-response',
  'snapshotPolicies.list': 'show-snapshot-policies-response',
};

for (const operation of records) {
  test(`${operation.id} replies in XML with a root of its own and every field under its dashed name`, async () => {
    const { http, headers, text } = await answer(operation, 'application/xml');
    assert.equal(http, 200, text);
    assert.match(String(headers['content-type']), /^application\/xml/);
    const { root, element } = rootOf(text);
    assert.match(root, /^[a-z]+(-[a-z]+)*-response$/);
    if (roots[operation.id] !== undefined) assert.equal(root, roots[operation.id]);
    if (operation.endpoint.job && isSubmitted(text)) {
      assert.match(element['status-msg']![0]!['#text']!, /^The request has been submitted/);
      return;
    }
    const { kind, constants, fields } = operation.endpoint.reply as RecordReply;
    assert.equal(element['status']![0]!['#text'], '0', text);
    assertElement(element, replySchema({ kind, constants, fields }), root);
  });
}

test('audit logs are a zip file to be saved, whatever format is asked for', async () => {
  const operation = arrayOperations.find(({ id }) => id === 'auditLogs.download');
  assert.ok(operation);
  const { http, headers, text } = await answer(operation, 'application/xml');
  assert.deepEqual([http, headers['content-type']], [200, 'application/zip']);
  assert.match(String(headers['content-disposition']), /^attachment; filename="[\w.-]+\.zip"$/);
  assert.ok(text.startsWith('PK'));
});
