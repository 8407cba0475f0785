import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, test } from 'node:test';
import { testObjects } from '../../objects/testing/test-objects.ts';
import { startTestPortal, type Person } from '../testing/portal.ts';

/**
 * Goal: objects are reached through the portal as the user of the same name, or as who administers the account that was
 * opened for the caller.
 * Method: a portal on a cloud in memory, whose record of an object array leads to a real one.
 */
const INTERNAL_KEY = 'the key of portal and array';
const portal = await startTestPortal();
after(() => portal.stop());
const array = await testObjects({ after }, { internalKey: INTERNAL_KEY, owner: 'owner' });
portal.cloud.managementUrl = array.url;
const { id } = await portal.objectArray(portal.owner);
await portal.store.write((tx) => {
  const key = portal.tools.vault.seal(INTERNAL_KEY);
  tx.run('UPDATE arrays SET internal_key_sealed = :key WHERE id = :id', { key, id });
});

function via(person: Person, path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { 'x-token': person.token, ...(init.headers as Record<string, string>) };
  return fetch(`${portal.url}/via/${id}${path}`, { ...init, headers });
}

test('the owner uploads and downloads objects through the portal, and no key of the array is seen', async () => {
  assert.equal((await via(portal.owner, '/s3/pages', { method: 'PUT' })).status, 200);
  const bytes = randomBytes(3_000_000);
  const put = await via(portal.owner, '/s3/pages/a%2Fb', { method: 'PUT', body: bytes });
  assert.equal(put.status, 200, await put.text());
  await array.restart();
  const again = await via(portal.owner, '/s3/pages/c', { method: 'PUT', body: bytes });
  assert.equal(again.status, 200, await again.text());
  const got = await via(portal.owner, '/s3/pages/a/b');
  assert.deepEqual(Buffer.from(await got.arrayBuffer()), bytes);
  const seen = [...got.headers].join('\n') + portal.log.join('\n');
  assert.ok(!seen.includes('portal.') || !/portal\.[\w-]{20}/.test(seen), seen);
  assert.equal(got.headers.get('content-security-policy'), "default-src 'none'; sandbox");
});

test('who has an account there administers it and nothing else; others do not find the array', async () => {
  assert.equal((await via(portal.friend, '/s3/pages')).status, 404);
  const account = await array.account('webhosting');
  await array.user(account, 'carol', 'account_admin');
  await portal.store.write((tx) => {
    tx.run(
      `INSERT INTO object_accounts (array_id, user_id, account_name, remote_id, status, request_id, created_at, updated_at)
       VALUES (:id, :user, 'webhosting', :account, 'created', (SELECT max(id) FROM requests), 0, 0)`,
      { id, user: portal.friend.id, account },
    );
  });
  const buckets = await via(portal.friend, '/s3/');
  assert.equal(buckets.status, 200, await buckets.text());
  const text = await (await via(portal.friend, '/api/objs/users')).text();
  assert.match(text, /"username":"carol"/);
  assert.doesNotMatch(text, /"username":"owner"/);
  assert.equal((await via(portal.friend, '/s3/pages/c')).status, 403);
});
