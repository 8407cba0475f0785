import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { after, test } from 'node:test';
import { objectsApi } from '@granary/contract/objects';
import { until } from '../../testing/waiting.ts';
import { testObjects } from '../testing/test-objects.ts';

/**
 * Goal: who is signed in at the management interface reads and writes objects there, as themselves and no other.
 * Method: a real array; requests as a browser makes them, without any signature.
 */
/** More than the sockets on the way hold: once it was sent, the array reads the body. */
const PASSED_ON_BYTES = 64 * 2 ** 20;
const array = await testObjects({ after });
const account = await array.account('webhosting');
const ada = await array.user(account, 'ada', 'account_admin');
const other = await array.user(await array.account('archive'), 'olga', 'account_admin');

function s3(key: string | undefined, path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { ...(key !== undefined && { 'x-access-key': key }), ...(init.headers as Record<string, string>) };
  return fetch(`${array.url}/s3${path}`, { ...init, headers });
}

test('a user who is signed in keeps objects without a signature, keys with any signs among them', async () => {
  assert.equal((await s3(ada.key, '/pages', { method: 'PUT' })).status, 200);
  const bytes = randomBytes(300_000);
  const path = '/pages/a%20b//%C3%A4+%26%3D%2F?x-id=PutObject';
  const headers = { 'content-type': 'text/html', 'x-amz-meta-colour': 'red', cookie: 'a=b' };
  const put = await s3(ada.key, path, { method: 'PUT', body: bytes, headers });
  assert.equal(put.status, 200, await put.text());
  const got = await s3(ada.key, path.split('?', 1)[0] ?? '', { headers: { range: 'bytes=100-199' } });
  assert.equal(got.status, 206);
  assert.deepEqual(Buffer.from(await got.arrayBuffer()), bytes.subarray(100, 200));
  assert.equal(got.headers.get('x-amz-meta-colour'), 'red');
  const listed = await s3(ada.key, '/pages?list-type=2');
  assert.match(await listed.text(), /<Key>a b\/\/ä\+&amp;=\/<\/Key>/);
});

test('what was uploaded runs nothing under the origin of the management interface', async () => {
  await s3(ada.key, '/pages/x.html', {
    method: 'PUT',
    body: '<script>alert(1)</script>',
    headers: { 'content-type': 'text/html' },
  });
  const { headers } = await s3(ada.key, '/pages/x.html');
  assert.equal(headers.get('content-security-policy'), "default-src 'none'; sandbox");
  assert.equal(headers.get('x-content-type-options'), 'nosniff');
  for (const name of ['set-cookie', 'access-control-allow-origin']) assert.equal(headers.get(name), null);
});

test('each has their own rights, and nobody without a sign-in or an S3 key has any', async () => {
  assert.equal((await s3(other.key, '/pages/x.html')).status, 403);
  assert.equal((await s3(undefined, '/pages/x.html')).status, 401);
  const portal = await s3(array.configuration.internalKey, '/pages/x.html');
  assert.equal(portal.status, 403);
  assert.match(await portal.text(), /<Code>AccessDenied<\/Code><Message>.*who has an S3 key/);
});

test('a link that is signed by a user reads or writes one object for its time, by anybody', async () => {
  const link = async (changes: { method?: 'GET' | 'PUT'; expires?: number; key?: string }) => {
    const asked = { bucket: 'pages', key: 'shared/a b+c.txt', ...changes };
    return (await ada.client.call(objectsApi.groups.users.presign, asked)).url;
  };
  const put = await fetch(await link({ method: 'PUT' }), { method: 'PUT', body: 'for all to see' });
  assert.equal(put.status, 200, await put.text());
  const url = await link({});
  assert.ok(url.startsWith(`${array.dataUrl}/pages/shared/a%20b%2Bc.txt?`), url);
  assert.equal(await (await fetch(url)).text(), 'for all to see');
  assert.equal((await fetch(url, { method: 'PUT', body: 'x' })).status, 403);
  assert.equal((await fetch(url.replace('c.txt', 'd.txt'))).status, 403);
  assert.match(await link({ expires: 60 }), /X-Amz-Expires=60&/);
  await assert.rejects(link({ expires: 604_801 }), /expires/);
});

test('an upload ends with the session it was begun with, and with the user', async () => {
  const eve = await array.user(account, 'eve', 'account_admin');
  const begun = await fetch(`${array.url}/api/sessions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ account, username: 'eve', password: eve.password }),
  });
  const { response } = (await begun.json()) as { response: { session: { id: number; csrf_token: string } } };
  const { id, csrf_token: csrf } = response.session;
  const bySession = { cookie: begun.headers.getSetCookie()[0]?.split(';')[0] ?? '', 'x-csrf-token': csrf };
  const endings = [
    [bySession, () => array.client.call(objectsApi.groups.sessions.delete, { id })],
    [{ 'x-access-key': eve.key }, () => array.client.call(objectsApi.groups.users.disable, { user_id: eve.id })],
  ] as const;
  for (const [own, end] of endings) {
    const headers = { ...own, 'content-length': 2 * PASSED_ON_BYTES };
    const upload = request(`${array.url}/s3/pages/endless`, { method: 'PUT', headers });
    let isOver = false;
    upload.on('error', () => (isOver = true)).on('response', () => (isOver = true));
    upload.write(Buffer.alloc(PASSED_ON_BYTES));
    await until(() => upload.writableLength === 0, 'the upload is being passed on');
    assert.ok(!isOver);
    await end();
    await until(() => isOver, 'the upload ends');
    upload.destroy();
  }
  assert.equal((await s3(ada.key, '/pages/endless')).status, 404);
});
