import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { objectsApi } from '@granary/contract/objects';
import { until } from '../../testing/waiting.ts';
import { PASSWORD, startPeople } from '../testing/people.ts';

const { requests, accounts, users } = objectsApi.groups;
const asked = { username: 'ada', account: 'webhosting', email: 'ada@example.org', password: PASSWORD };
const registration = (changes: Partial<typeof asked> = {}) => ({
  request_action: 'register_account' as const,
  arguments: { ...asked, ...changes },
});

test('an account is asked for without a key, approved, and opened with the password that was chosen', async (t) => {
  const people = await startPeople(t);
  const { request_id: id } = await people.anonymous().call(requests.create, registration());
  const { requests: pending, count } = await people.admin().call(requests.list, { state: 'pending' });
  assert.deepEqual(
    [count, pending],
    [
      1,
      [
        {
          id,
          arguments: { username: 'ada', account: 'webhosting', email: 'ada@example.org' },
          action: 'register_account',
          decided_by: null,
          decided_at: null,
          requested_at: '2026-11-16 12:00:00 UTC',
        },
      ],
    ],
  );
  const signIn = { account: 'webhosting', user: 'ada', password: PASSWORD };
  assert.equal((await people.anonymous().refused(users.authenticate, signIn)).code, 5);
  people.clock.advance(60_000);
  const { count: account } = await people.admin().call(requests.approve, { id });
  const user = await people.signIn('webhosting', 'ada');
  assert.deepEqual(
    [user.objs_data.objs_user.account_id, user.roles[0]!.name, user.primary],
    [account, 'account_admin', true],
  );
  assert.equal((await people.admin().call(accounts.get, { account_id: account })).count.email, 'ada@example.org');
  const { requests: decided } = await people.admin().call(requests.list, { state: 'approved' });
  assert.deepEqual([decided[0]!.decided_by, decided[0]!.decided_at], ['dana', '2026-11-16 12:01:00 UTC']);
  await until(() => people.outbox().length === 1);
  assert.match(people.outbox()[0]!, /^To: ada@example\.org$/m);
  assert.match(people.outbox()[0]!, /^Subject: \[Accounts\] Account webhosting: approved$/m);
});

test('a request that is denied opens nothing, and nothing is decided twice', async (t) => {
  const people = await startPeople(t);
  const { request_id: id } = await people.anonymous().call(requests.create, registration());
  assert.deepEqual((await people.admin().call(requests.deny, { id })).request_id, id);
  for (const endpoint of [requests.deny, requests.approve]) {
    const { code, message } = await people.admin().refused(endpoint, { id });
    assert.deepEqual([code, message], [20009, `Request ${id} was denied already.`]);
    assert.equal((await people.admin().refused(endpoint, { id: 99 })).code, 50004);
  }
  await until(() => people.outbox().length === 1);
  assert.match(people.outbox()[0]!, /turned down/);
  assert.equal((await people.admin().call(accounts.list, {})).count, 1);
  await people.anonymous().call(requests.create, registration());
});

test('requests are listed newest first, by state, in numbered pages', async (t) => {
  const people = await startPeople(t);
  for (const account of ['a', 'b', 'c', 'd', 'e'])
    await people.anonymous().call(requests.create, registration({ account }));
  await people.admin().call(requests.deny, { id: 2 });
  const ids = async (input: { state?: 'pending' | 'denied'; limit?: number; page?: number }) => {
    const { requests: found, count } = await people.admin().call(requests.list, input);
    return [count, ...found.map(({ id }) => id)];
  };
  assert.deepEqual(await ids({}), [5, 5, 4, 3, 2, 1]);
  assert.deepEqual(await ids({ limit: 2, page: 2 }), [5, 3, 2]);
  assert.deepEqual(await ids({ limit: 2, page: 3, state: 'pending' }), [4]);
  assert.deepEqual(await ids({ page: 2 }), [5]);
  assert.deepEqual(await ids({ state: 'denied' }), [1, 2]);
  assert.equal((await people.admin().refused(requests.list, { page: 0 })).code, 7);
});

test('a stranger does not learn which names are taken: that is for the decision', async (t) => {
  const people = await startPeople(t);
  const { request_id: id } = await people.anonymous().call(requests.create, registration());
  for (const account of ['WebHosting', 'objs_admin', 'free']) {
    const answer = await people.anonymous().call(requests.create, registration({ account }));
    assert.ok(answer.request_id > id);
  }
  await people.admin().call(accounts.create, { name: 'webhosting' });
  for (const taken of [id, id + 1, id + 2])
    assert.equal((await people.admin().refused(requests.approve, { id: taken })).code, 10096);
  assert.equal((await people.admin().call(requests.list, { state: 'pending' })).count, 4, 'they wait as before');
  assert.ok(people.titles().some((title) => /Account objs_admin was asked for .* The name is taken\.$/.test(title)));
  await people.admin().call(requests.deny, { id: id + 1 });
});

test('what makes no sense is refused by name, and kept nowhere', async (t) => {
  const people = await startPeople(t);
  for (const [changes, code, word] of [
    [{ email: 'nowhere' }, 7, 'email'],
    [{ username: '  ' }, 7, 'username'],
    [{ username: 'a\u0000b' }, 7, 'arguments'],
    [{ account: 'a/b' }, 7, 'account'],
    [{ account: 'x'.repeat(129) }, 7, 'arguments'],
    [{ password: 'short' }, 50011, 'A'],
    [{ password: 'ada' }, 50011, 'A'],
  ] as const) {
    const refused = await people.anonymous().refused(requests.create, registration(changes));
    assert.deepEqual([refused.code, refused.message.split(' ')[0]], [code, word], JSON.stringify(changes));
    assert.ok(!refused.message.includes(PASSWORD));
  }
  assert.equal((await people.admin().call(requests.list, {})).count, 0);
  const { client } = await people.account('backup');
  assert.equal((await client.refused(requests.list, {})).code, 6);
  assert.equal((await people.anonymous().refused(requests.approve, { id: 1 })).code, 5);
});

test('only an account can be asked for', async (t) => {
  const people = await startPeople(t);
  for (const request_action of ['close_account', '']) {
    const refused = await people.anonymous().refused(requests.create, { ...registration(), request_action } as never);
    assert.equal(refused.code, 7);
    assert.match(refused.message, /^request_action /);
  }
  assert.equal((await people.admin().call(requests.list, {})).count, 0);
});

test('one address cannot ask for as many accounts as it likes', async (t) => {
  const people = await startPeople(t);
  const ask = (account: string) => registration({ account });
  await Promise.all(
    Array.from({ length: 50 }, (_, index) => people.anonymous().call(requests.create, ask(`account ${index}`))),
  );
  const { http, code } = await people.anonymous().refused(requests.create, ask('one more'));
  assert.deepEqual([http, code], [429, 15]);
  people.clock.advance(3600 * 1000);
  await people.anonymous().call(requests.create, ask('one more'));
});

test('the password of a request is never shown and is deleted with the decision', async (t) => {
  const people = await startPeople(t);
  const { request_id: id } = await people.anonymous().call(requests.create, registration());
  const shown = JSON.stringify(await people.admin().call(requests.list, {}));
  const file = readFileSync(join(people.configuration.folder, 'objects.db-wal'), 'latin1');
  for (const text of [shown, file, people.titles().join(), people.lines.join()]) assert.ok(!text.includes(PASSWORD));
  await people.admin().call(requests.deny, { id });
  const row = people.store.read((db) => db.get<{ password_hash: null }>('SELECT password_hash FROM account_requests'));
  assert.equal(row?.password_hash, null);
});
