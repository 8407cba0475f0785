import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { EVENT_STREAM, operations, pathParams, type Access, type Operation } from '@granary/contract';
import type { Values } from '../kernel/http/testing/encodings.ts';
import { arrayApi, peerApi } from '@granary/contract/array';
import { newAgreement, PairKeys } from './remote-arrays/pair-keys.ts';
import { passing, preparations, validValues } from './testing/valid-requests.ts';
import { arrayOperations, startWalk, ArrayWalk, type Caller } from './testing/walk.ts';
import type { Received } from '../kernel/process/testing/wire.ts';

/**
 * Goal: every endpoint lets in exactly those whom the contract names, whatever its handler does.
 * Method: each operation is called with a request that succeeds, by an administrator, a user and without a key; who is refused, and how,
 * follows from `access` alone.
 */
const walk = await startWalk({ after });
const { admin, user, array } = walk;

const INVALID_CREDENTIALS = 5;
const NOT_ALLOWED = 6;
const { asyncStatus } = arrayApi;

/** A key another array agreed on with this one. */
const peerKey = await (async () => {
  const { publicKey, agree } = newAgreement();
  const { text } = await walk.ask(peerOperation('pair'), {
    user: admin.username,
    password: admin.password,
    public_key: publicKey,
    uuid: '6f1f5f6e-0000-4000-8000-000000000009',
    name: 'vsa-00000009',
    display_name: 'Peer',
    provider: 'Granary',
    software_version: '0.1.0',
  });
  const { public_key } = (JSON.parse(text) as { response: { public_key: string } }).response;
  return new PairKeys(agree(public_key)!).accessKey;
})();

const keys = { admin: admin.key, user: user.key, nobody: undefined } as const;
type Who = keyof typeof keys;
/** Those who must not get in come first: what is prepared for the others is then still there. */
const callers: readonly Who[] = ['nobody', 'user', 'admin'];

function peerOperation(name: string): Operation {
  const found = operations(peerApi).find((one) => one.name === name);
  assert.ok(found, `there is no peers.${name}`);
  return found;
}

function isAllowed({ roles }: Access, who: Who): boolean {
  return roles === 'anyone' || roles.includes(who);
}

function personOf(who: Who): Caller {
  return who === 'user' ? user : admin;
}

/** What is prepared is the administrator's. */
function expectedCode(access: Access, who: Who): number {
  if (who === 'user' && access.creator) return NOT_ALLOWED;
  if (isAllowed(access, who)) return 0;
  return who === 'nobody' ? INVALID_CREDENTIALS : NOT_ALLOWED;
}

function codeOf({ headers, text }: Received): number {
  // A file is sent to those who may have it.
  if (['application/zip', EVENT_STREAM].includes(String(headers['content-type']))) return 0;
  const [body] = Object.values(JSON.parse(text) as Record<string, { status: number }>);
  return body!.status;
}

test('every operation that is served has a request that the tests can make', () => {
  const ids = arrayOperations.map(({ id }) => id);
  assert.deepEqual(
    ids.filter((id) => !preparations[id]),
    [],
    'each needs an entry in array/testing/valid-requests.ts',
  );
  assert.deepEqual(
    Object.keys(preparations).filter((id) => !ids.includes(id)),
    [],
  );
});

for (const operation of arrayOperations) {
  const { access } = operation.endpoint;
  test(`${operation.id} answers ${whom(access)}`, async () => {
    const first = callers.find((who) => expectedCode(access, who) === 0)!;
    const shared = await validValues(operation, walk, personOf(first));
    for (const who of callers) {
      const isIn = expectedCode(access, who) === 0;
      // Who is refused changes nothing, so that what was prepared serves the next.
      const isFresh = who === first ? passing.has(operation.id) : isIn;
      const values = isFresh ? await validValues(operation, walk, personOf(who)) : shared;
      const answer = await walk.ask(operation, isIn ? values : withoutPassword(operation, values), keys[who]);
      assert.equal(answer.http, 200, `${who}: ${answer.text}`);
      const code = codeOf(answer);
      const wanted = code === asyncStatus && operation.endpoint.job ? asyncStatus : expectedCode(access, who);
      assert.equal(code, wanted, `${who}: ${answer.text}`);
      if (!isIn) assert.deepEqual(Object.keys(refusalIn(answer)), ['status', 'message']);
    }
  });
}

/** One call admits users by their password. */
function withoutPassword({ id }: Operation, values: Values): Values {
  if (id !== 'users.resetAccessKey') return values;
  const { password: _password, ...others } = values;
  return others;
}

function refusalIn({ text }: Received): object {
  return (JSON.parse(text) as { response: object }).response;
}

function whom({ roles, creator }: Access): string {
  if (roles === 'anyone') return 'everybody';
  if (creator) return 'administrators, and refuses a user what another created';
  return roles.includes('user') ? 'everybody who is signed in' : 'administrators';
}

/** Everything it prepares is the user's, who has to be an administrator for as long as that takes. */
const jo = { access_key: user.key, username: user.username, role: 'user' };
const own = new ArrayWalk(walk.t, array.as(jo), { admin: user, user });
const setRole = (role: 'admin' | 'user') => admin.client.call(walk.api.users.update, { name: user.username, role });

for (const operation of arrayOperations.filter(({ endpoint }) => endpoint.access.creator)) {
  test(`${operation.id} lets a user change what that user created`, async () => {
    await setRole('admin');
    const values = await validValues(operation, own, user);
    await setRole('user');
    const answer = await walk.ask(operation, values, user.key);
    const code = codeOf(answer);
    assert.ok(code === 0 || (operation.endpoint.job && code === asyncStatus), answer.text);
  });
}

test('the key of another array opens nothing that is for users', async () => {
  const closed = arrayOperations.filter(({ endpoint }) => endpoint.access.roles !== 'anyone');
  const answers = await Promise.all(
    closed.map(async (operation, index) => {
      const values = Object.fromEntries(pathParams(operation.endpoint.path).map((name) => [name, 'any']));
      // To the array it is a guess, and those who guess are kept out by their address.
      const answer = await walk.ask(operation, values, peerKey, { from: `127.0.1.${index + 1}` });
      return [operation.id, answer.http, codeOf(answer)];
    }),
  );
  assert.deepEqual(
    answers,
    closed.map(({ id }) => [id, 200, INVALID_CREDENTIALS]),
  );
});

test("what arrays say to each other opens to another array's key and to no user's", async () => {
  for (const operation of operations(peerApi)) {
    if (operation.endpoint.access.roles === 'anyone') continue;
    for (const key of [undefined, user.key, admin.key, array.configuration.internalKey, 'wrong']) {
      const answer = await walk.ask(operation, { job: 'srcjarray-00000001' }, key);
      assert.deepEqual([answer.http, codeOf(answer)], [200, INVALID_CREDENTIALS], `${operation.id}: ${answer.text}`);
    }
  }
  const answer = await walk.ask(peerOperation('listPools'), {}, peerKey);
  assert.equal(codeOf(answer), 0, answer.text);
});

test('a key that is not known, empty or sent twice is refused', async () => {
  const list = arrayOperations.find(({ id }) => id === 'volumes.list')!;
  const guesses = ['', 'no such key', admin.key.slice(1), `${user.key}, ${admin.key}`];
  const answers = await Promise.all(
    guesses.map((key, index) => walk.ask(list, {}, key, { from: `127.0.2.${index + 1}` })),
  );
  for (const answer of answers) assert.deepEqual([answer.http, codeOf(answer)], [200, INVALID_CREDENTIALS]);
});

test('refusals say the same in XML', async () => {
  const [list, create] = ['users.list', 'users.create'].map((id) => arrayOperations.find((one) => one.id === id)!);
  const unknown = await walk.ask(list!, {}, undefined, { accept: 'application/xml' });
  assert.match(
    unknown.text,
    /<show-users-response><status type="integer">5<\/status><status-msg>Invalid credentials\.<\/status-msg>/,
  );
  const refused = await walk.ask(create!, { username: 'eve' }, user.key, { accept: 'application/xml' });
  assert.match(
    refused.text,
    /<create-user-response><status type="integer">6<\/status><status-msg>[^<]*needs the role admin/,
  );
});
