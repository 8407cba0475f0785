import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { operations, pathParams, type Access, type Operation } from '@granary/contract';
import { objectsApi } from '@granary/contract/objects';
import type { Values } from '../kernel/http/testing/encodings.ts';
import { ServiceState } from '../kernel/process/testing/service-state.ts';
import type { Person } from './testing/test-objects.ts';
import { alwaysRefused, preparations, validValues } from './testing/valid-requests.ts';
import { objectsOperations, startWalk, statusOf } from './testing/walk.ts';

/**
 * Goal: every endpoint lets in exactly those whom the contract names, whatever its handler does; and what belongs to
 * one account is not there for the administrators of another.
 * Method: each operation is called with a request that succeeds, by every kind of caller; who is refused, and how,
 * follows from `access` alone.
 */
const walk = await startWalk({ after });
const { admin, people, objects } = walk;
const state = new ServiceState(join(objects.configuration.folder, 'objects.db'));

const INVALID_CREDENTIALS = 5;
const NOT_ALLOWED = 6;
const NOT_FOUND = [50001, 50003];
/** An id in the right form that does not exist. */
const UNKNOWN = '0123456789abcdef'.repeat(2);

/** Those who must not get in come first: what is prepared for the others is then still there. */
const callers = ['anonymous', 'member', 'stranger', 'account admin', 'admin'] as const;
type Who = (typeof callers)[number];

const persons: Readonly<Record<Who, Person | undefined>> = {
  anonymous: undefined,
  member: people.member,
  stranger: people.stranger,
  'account admin': people.accountAdmin,
  admin,
};

const ask = (operation: Operation, values: Values, who: Who) => walk.ask(operation, values, persons[who]?.key);

function isAllowed({ roles }: Access, who: Who): boolean {
  return roles === 'anyone' || roles.includes(persons[who]?.role ?? 'anonymous');
}

/** Whether the request is about something of the home account. */
function isForeign({ endpoint: { access, params, path } }: Operation, who: Who): boolean {
  return (
    access.owned === true && who === 'stranger' && (path.includes('{') || 'account_id' in params || 'account' in params)
  );
}

function refusalCode(who: Who): number {
  return persons[who] ? NOT_ALLOWED : INVALID_CREDENTIALS;
}

test('every operation that is served has a request that the tests can make', () => {
  assert.deepEqual(
    objectsOperations.filter(({ id }) => !preparations[id]).map(({ id }) => id),
    [],
  );
  const all = operations(objectsApi).map(({ id }) => id);
  assert.deepEqual(
    Object.keys(preparations).filter((id) => !all.includes(id)),
    [],
  );
});

for (const operation of objectsOperations) {
  const { access } = operation.endpoint;
  test(`${operation.id} answers ${whom(access)}, and no other caller changes anything by it`, async () => {
    const outsiders = callers.filter((who) => !isAllowed(access, who) || isForeign(operation, who));
    const values = await validValues(operation, walk, admin);
    const before = await state.atRest();
    for (const who of outsiders) await assertRefused(operation, values, who);
    assert.deepEqual(state.dump(), before, 'something was written');
    // Where every caller may, two are enough, as such requests take a while on purpose.
    const asked = access.roles === 'anyone' ? (['anonymous', 'member'] as const) : callers;
    const insiders = asked.filter((who) => !outsiders.includes(who));
    for (const [index, who] of insiders.entries()) {
      const fresh = index === 0 && who === 'admin' ? values : await validValues(operation, walk, persons[who] ?? admin);
      const answer = await ask(operation, fresh, who);
      assert.equal(answer.http, 200, `${who}: ${answer.text}`);
      const wanted = alwaysRefused.get(operation.id) ?? 0;
      const { code } = statusOf(answer);
      const isSubmitted = operation.endpoint.job !== undefined && code === objectsApi.asyncStatus;
      assert.ok(code === wanted || isSubmitted, `${who}: ${answer.text}`);
    }
  });
}

async function assertRefused(operation: Operation, values: Values, who: Who): Promise<void> {
  const answer = await ask(operation, values, who);
  const { code, message } = statusOf(answer);
  assert.equal(answer.http, 200, `${who}: ${answer.text}`);
  if (!isAllowed(operation.endpoint.access, who)) {
    assert.equal(code, refusalCode(who), `${who}: ${answer.text}`);
    return;
  }
  assert.ok(NOT_FOUND.includes(code), `${who}: ${answer.text}`);
  // What belongs to others is answered like what does not exist.
  const place = ['account_id', 'account', 'user_id', 'id'].find((name) => name in values) as string;
  const nowhere = statusOf(await ask(operation, { ...values, [place]: UNKNOWN }, who));
  assert.deepEqual(nowhere, { code, message: message.replace(String(values[place]), UNKNOWN) });
}

function whom({ roles }: Access): string {
  if (roles === 'anyone') return 'everybody';
  return roles.includes('account_admin') ? 'administrators of the array and of the account' : 'administrators';
}

test('the administrator of an account sees its users and those of no other', async () => {
  const list = await people.stranger.client.call(objectsApi.groups.users.list, {});
  assert.deepEqual(
    list.users.map(({ username }) => username),
    ['eve'],
  );
  assert.equal(list.count, 1);
});

test('a wrong key opens nothing', async () => {
  const closed = objectsOperations.filter(({ endpoint }) => endpoint.access.roles !== 'anyone');
  const answers = await Promise.all(
    closed.map(async (operation, index) => {
      const values = Object.fromEntries(pathParams(operation.endpoint.path).map((name) => [name, 'any']));
      // To the array it is a guess, and those who guess are kept out by their address.
      const answer = await walk.ask(operation, values, 'wrong', { from: `127.0.3.${index + 1}` });
      return [operation.id, answer.http, statusOf(answer).code];
    }),
  );
  assert.deepEqual(
    answers,
    closed.map(({ id }) => [id, 200, INVALID_CREDENTIALS]),
  );
});

test('a key that is empty, cut short or sent twice is refused', async () => {
  const list = objectsOperations.find(({ id }) => id === 'roles.list') as Operation;
  const keys = ['', admin.key.slice(1), `${people.member.key}, ${admin.key}`, `${admin.key} `.repeat(2)];
  const answers = await Promise.all(
    keys.map((key, index) => walk.ask(list, {}, key, { from: `127.0.4.${index + 1}` })),
  );
  for (const answer of answers) assert.deepEqual([answer.http, statusOf(answer).code], [200, INVALID_CREDENTIALS]);
});

test('refusals say the same in XML', async () => {
  const list = objectsOperations.find(({ id }) => id === 'roles.list') as Operation;
  const unknown = await walk.ask(list, {}, undefined, { accept: 'application/xml' });
  assert.match(unknown.text, /-response><status type="integer">5<\/status><status-msg>Invalid credentials\./);
  const refused = await walk.ask(list, {}, people.member.key, { accept: 'application/xml' });
  assert.match(refused.text, /-response><status type="integer">6<\/status><status-msg>[^<]*needs the role objs_admin/);
});
