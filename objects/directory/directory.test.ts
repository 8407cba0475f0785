import assert from 'node:assert/strict';
import { test } from 'node:test';
import { objectsApi } from '@granary/contract/objects';
import { PASSWORD, startPeople } from '../testing/people.ts';
import { ACCOUNTS_BY_MAIL } from '../users/repository.ts';

const { accounts, users } = objectsApi.groups;

test('a key leads to who holds it and to its secret', async (t) => {
  const people = await startPeople(t);
  const { id, user } = await people.account('webhosting');
  const { id: userId, s3_access_key, s3_secret_key, token, token_expire_at } = user.objs_data.objs_user;
  const caller = { account: id, accountName: 'webhosting', user: userId, username: 'ada', role: 'account_admin' };
  const { directory } = people.people;
  assert.deepEqual(directory.byS3Key(s3_access_key!), { caller, secret: s3_secret_key });
  assert.deepEqual(directory.byToken(token!), { caller, expiresAt: Date.parse(token_expire_at!) });
  for (const guess of ['', 'wrong', s3_access_key!.toLowerCase()])
    assert.deepEqual(directory.byS3Key(guess), { refused: 'unknown' });
  assert.deepEqual(directory.byToken('wrong'), { refused: 'unknown' });
});

test('Swift signs in by account and username, and a wrong password is refused like a wrong name', async (t) => {
  const people = await startPeople(t);
  const { id, user } = await people.account('webhosting');
  const { directory } = people.people;
  const found = await directory.signIn('webhosting', 'ada', PASSWORD, '127.0.0.1');
  assert.ok('token' in found);
  assert.deepEqual([found.token, found.caller.account], [user.objs_data.objs_user.token, id]);
  for (const password of ['wrong', '', 'worse'])
    assert.deepEqual(await directory.signIn('webhosting', 'ada', password, '127.0.0.9'), { refused: 'unknown' });
  await people.admin().call(accounts.disable, { account_id: id });
  assert.deepEqual(await directory.signIn(id, 'ada', PASSWORD, '127.0.0.1'), { refused: 'account-disabled' });
});

test('an account is found by its id, and by its name where addresses may have it', async (t) => {
  const people = await startPeople(t);
  const { id } = await people.account('webhosting');
  const { directory } = people.people;
  assert.deepEqual(directory.account(id), {
    id,
    name: 'webhosting',
    enabled: true,
    createdAt: Date.parse('2026-11-16T12:00:00Z'),
    metadata: {},
  });
  assert.equal(directory.account('webhosting'), undefined);
  await people.settings.change({ tenantNameInUrl: true }, 'Set.', 'dana');
  assert.equal(directory.account('WebHosting')?.id, id);
  assert.equal(directory.account('nobody'), undefined);
});

test('an account is found by the mail addresses of its users, whatever their case', async (t) => {
  const people = await startPeople(t);
  const { id } = await people.account('webhosting');
  const { directory } = people.people;
  const user = { username: 'mia', email: 'mia@example.org', account_id: id, role: 'member' as const };
  await people.admin().call(users.create, user);
  assert.deepEqual(directory.accountsByMail('Mia@Example.org'), [id]);
  assert.deepEqual(directory.accountsByMail('nobody@example.org'), []);
  const other = await people.account('backup');
  await people.admin().call(users.create, { ...user, account_id: other.id });
  assert.deepEqual([...directory.accountsByMail('mia@example.org')].sort(), [id, other.id].sort());
});

test('a search by mail address reads an index, not every user', async (t) => {
  const people = await startPeople(t);
  const plan = people.store.read((db) =>
    db.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${ACCOUNTS_BY_MAIL}`, { email: 'mia@example.org' }),
  );
  const details = plan.map(({ detail }) => detail).join('; ');
  assert.match(details, /SEARCH users USING COVERING INDEX users_by_address \(email=\?\)/);
  assert.doesNotMatch(details, /SCAN/);
});

test('metadata of an account is set, changed and removed by name, and stays over a restart', async (t) => {
  const people = await startPeople(t);
  const { id } = await people.account('webhosting');
  const epoch = people.epoch;
  await people.people.directory.setAccountMetadata(id, { 'temp-url-key': 'mysterious', color: 'blue' });
  await people.people.directory.setAccountMetadata(id, { color: null, size: 'größer' });
  assert.ok(people.epoch >= epoch + 2);
  await people.restart();
  const { directory } = people.people;
  assert.deepEqual(directory.account(id)?.metadata, { 'temp-url-key': 'mysterious', size: 'größer' });
  await assert.rejects(directory.setAccountMetadata(id, { long: 'x'.repeat(70_000) }), /metadata must have at most/);
  await assert.rejects(directory.setAccountMetadata('nobody', {}), /was not found/);
  await directory.setAccountMetadata(id, { 'temp-url-key': null, size: null });
  assert.deepEqual(directory.account(id)?.metadata, {});
});
