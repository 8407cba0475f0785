import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { test } from 'node:test';
import { startFakeCloud, testInventory } from './testing/fake-cloud.ts';
import { startFakeObjects } from './testing/fake-objects.ts';
import type { Asked } from '../kernel/http/testing/encodings.ts';
import { objectOrder, startTestPortal, type Person } from './testing/portal.ts';

/**
 * Goal: no secret is ever in clear on the disk, in the log, in an event, a metric or an error.
 * Method: a run that uses every kind of secret, in requests that succeed and in requests that fail at each stage, at
 * the level debug; then everything that is left of it is searched for each of them.
 */
test('no secret of a whole run is found in the data directory, the log, the events, the metrics or an error', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'granary-secrets-'));
  const cloudKey = 'key-of-the-first-cloud';
  const otherKey = 'key-of-the-second-cloud';
  const cloud = await startFakeCloud({ adminKey: cloudKey });
  const other = await startFakeCloud({ adminKey: otherKey, uuid: testInventory.uuid.replace(/c10d$/, 'c10f') });
  const objects = await startFakeObjects();
  cloud.managementUrl = objects.url;
  t.after(async () => {
    await Promise.all([cloud.stop(), other.stop(), objects.stop()]);
    rmSync(dataDir, { recursive: true, force: true });
  });
  const portal = await startTestPortal({ dataDir, cloud });
  t.after(() => portal.stop());
  const { admin, owner, friend, otherUser } = portal;
  await admin.client.settings.setLogLevel({ log_level: 'debug' });

  const secrets = new Map<string, string>();
  const keep = (what: string, secret: string) => {
    secrets.set(what, secret);
    return secret;
  };
  for (const person of [admin, owner, friend, otherUser]) {
    keep(`password of ${person.username}`, person.password);
    keep(`token of ${person.username}`, person.token);
  }
  keep('key of the local cloud', cloudKey);
  keep('key of the other cloud', otherKey);

  const refusals: string[] = [];
  const ask = async (person: Person | undefined, asked: Asked): Promise<Record<string, unknown>> => {
    const { status, text } = await portal.send(person, asked);
    if (status !== 200) refusals.push(text);
    return text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : {};
  };
  const post = (person: Person | undefined, path: string, body: unknown, headers = {}) =>
    ask(person, { method: 'POST', path: `/api${path}`, body, headers });

  // Users, tokens, wrong passwords.
  const password = keep('password of a new user', 'new-user-password-1');
  await post(admin, '/users', { username: 'ann', password });
  const { data } = (await post(undefined, '/token', { username: 'ann', password })) as { data: { token: string } };
  keep('first token of a new user', data.token);
  const reset = { username: 'ann', password };
  const again = (await post(undefined, '/token/reset', reset, { 'idempotency-key': 'k1' })) as typeof reset & {
    data: { token: string };
  };
  keep('second token of a new user', again.data.token);
  await post(undefined, '/token', { username: 'ann', password: keep('a wrong password', 'wrong-password-1') });
  await post(admin, '/users', {
    username: 'bad name!',
    password: keep('password of a refused user', 'refused-password-1'),
  });
  await post(admin, '/users', { username: 'eve', password: [keep('password in a list', 'listed-password-1')] });
  await ask(admin, {
    method: 'POST',
    path: '/api/users',
    headers: { 'content-type': 'application/json' },
    body: `{"username": "x", "password": "${keep('password in broken JSON', 'broken-json-password-1')}"`,
  });
  await ask(undefined, {
    method: 'GET',
    path: '/api/arrays',
    headers: { 'x-token': keep('a wrong token', 'wrong-token-wrong-token') },
  });
  await ask(undefined, {
    method: 'GET',
    path: '/api/arrays',
    headers: {
      authorization: `Basic ${Buffer.from(`ann:${keep('a wrong basic password', 'wrong-basic-1')}`).toString('base64')}`,
    },
  });
  const wanted = keep('a password in the address', 'query-password-1');
  await ask(admin, { method: 'POST', path: `/api/users?username=zoe&password=${wanted}` });

  // Clouds.
  const place = { name: 'other', ip: other.address, admin_user: other.adminUser };
  await post(admin, '/clouds', { ...place, admin_key: keep('a wrong key', 'wrong-cloud-key-1') });
  await post(admin, '/clouds', { ...place, admin_key: otherKey });

  // Arrays, with an idempotency key, whose answer holds the passcode.
  const order = (await post(friend, '/arrays', { ...objectOrder, name: 'bucket' }, { 'idempotency-key': 'k2' })) as {
    data: { initial_passcode: string };
  };
  keep('passcode of an array', order.data.initial_passcode);
  const id = portal.idOf(friend, 'bucket');
  await portal.until(id, 'created');
  keep('internal key of an array', cloud.specOf('bucket').internal_key);

  // Accounts and the public service.
  const account = (name: string, secret: string) => ({
    object_storage_account_name: name,
    object_storage_admin_username: 'carol',
    object_storage_admin_password: secret,
    user_id: friend.id,
  });
  await post(friend, `/arrays/${id}/accounts`, account('open', keep('password of an account', 'account-password-1')));
  const waiting = account('waiting', keep('password of a waiting account', 'waiting-password-1'));
  await post(friend, `/arrays/${id}/accounts`, { ...waiting, moderate: true });
  objects.refusesUsers = true;
  await post(
    friend,
    `/arrays/${id}/accounts`,
    account('refused', keep('password of a refused account', 'refused-account-1')),
  );
  const service = { account_name: 'public', admin_username: 'carol', ip: '192.0.2.7:80', host: 'example.org' };
  await post(friend, `/arrays/${id}/public_objs`, {
    ...service,
    admin_password: keep('public password', 'public-password-1'),
  });

  // A failure of our own, in the middle of a request with a secret.
  await portal.store.write((tx) => tx.run('ALTER TABLE public_services RENAME TO hidden_services'));
  const doomed = { ...service, admin_password: keep('password of a failing request', 'failing-password-1') };
  await post(friend, `/arrays/${id}/public_objs`, doomed);
  await portal.store.write((tx) => tx.run('ALTER TABLE hidden_services RENAME TO public_services'));
  assert.ok(
    refusals.some((text) => text.includes('Something went wrong on our side')),
    'the failure happened',
  );

  const { text: events } = await portal.send(admin, { method: 'GET', path: '/api/messages' });
  const { text: requests } = await portal.send(friend, { method: 'GET', path: '/api/array_requests' });
  const { text: metrics } = await portal.send(undefined, { method: 'GET', path: '/metrics' });
  await portal.stop();

  const places = new Map<string, Buffer>([
    ['the log', Buffer.from(portal.log.join(''))],
    ['the events', Buffer.from(events)],
    ['the requests', Buffer.from(requests)],
    ['the metrics', Buffer.from(metrics)],
    ['the errors', Buffer.from(refusals.join(''))],
    ...readdirSync(dataDir, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((file) => [`the file ${relative(dataDir, file)}`, readFileSync(file)] as const),
  ]);
  assert.ok(places.has('the file portal.db'));
  assert.ok(refusals.length >= 9 && portal.log.length > 20 && secrets.size >= 20, 'the run was a whole one');
  for (const [what, secret] of secrets) {
    for (const [where, bytes] of places) {
      for (const form of [
        secret,
        Buffer.from(secret).toString('base64').replace(/=+$/, ''),
        Buffer.from(secret).toString('hex'),
      ]) {
        assert.ok(!bytes.includes(form), `the ${what} is in ${where}`);
      }
    }
  }
});
