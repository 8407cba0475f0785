import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Access, Operation } from '@granary/contract';
import { askedOf, usualEncoding } from '../kernel/http/testing/encodings.ts';
import { startTestPortal, type Answered, type Person } from './testing/portal.ts';
import { portalOperations, preparations, validValues } from './testing/valid-requests.ts';

/**
 * Goal: every endpoint lets in exactly those whom the contract names, whatever its handler does.
 * Method: each operation is called with a request that succeeds, by each of four callers; who is refused, and how,
 * follows from `access` alone.
 */
const portal = await startTestPortal();
after(() => portal.stop());

/** `owner` is who the thing belongs to; `other` has an account and nothing else. */
const callers = {
  admin: portal.admin,
  owner: portal.owner,
  other: portal.otherUser,
  unauthenticated: undefined,
} as const satisfies Record<string, Person | undefined>;
type Caller = keyof typeof callers;

const ALLOWED = 200;

function expectedStatus({ roles, owned }: Access, caller: Caller): number {
  if (roles === 'anyone') return ALLOWED;
  if (caller === 'unauthenticated') return 401;
  if (!roles.includes(caller === 'admin' ? 'admin' : 'user')) return 403;
  return owned && caller === 'other' ? 404 : ALLOWED;
}

async function call(operation: Operation, caller: Caller, accept = 'application/json'): Promise<Answered> {
  const values = await validValues(operation, portal, callers[caller] ?? portal.owner);
  const asked = askedOf(operation, values, usualEncoding(operation));
  return portal.send(callers[caller], { ...asked, headers: { ...asked.headers, accept } });
}

test('every operation of the contract has a request that the tests can make', () => {
  const ids = portalOperations.map(({ id }) => id);
  assert.deepEqual(
    ids.filter((id) => !preparations[id]),
    [],
    'each needs an entry in portal/testing/valid-requests.ts',
  );
  assert.deepEqual(
    Object.keys(preparations).filter((id) => !ids.includes(id)),
    [],
  );
});

for (const operation of portalOperations) {
  const { access } = operation.endpoint;
  test(`${operation.id} answers ${whom(access)}`, async () => {
    for (const caller of Object.keys(callers) as Caller[]) {
      const { status, text } = await call(operation, caller);
      assert.equal(status, expectedStatus(access, caller), `${caller}: ${text}`);
      if (status !== ALLOWED) assert.deepEqual(Object.keys(JSON.parse(text) as object), ['status', 'message']);
    }
  });
}

function whom({ roles, owned }: Access): string {
  if (roles === 'anyone') return 'every client';
  if (owned) return 'its owner and administrators';
  return roles.includes('user') ? 'every user' : 'administrators';
}

const owned = portalOperations.filter(({ endpoint }) => endpoint.access.owned);

for (const operation of owned) {
  test(`${operation.id} answers another user as if it did not exist`, async () => {
    const values = await validValues(operation, portal, portal.otherUser);
    const [name, id] = Object.entries(values).find(([key]) => operation.endpoint.path.includes(`{${key}}`)) ?? [];
    assert.ok(name !== undefined);
    const ask = (own: unknown) => {
      const asked = askedOf(operation, { ...values, [name]: own }, usualEncoding(operation));
      return portal.send(portal.otherUser, asked);
    };
    const missing = 2 ** 30;
    const [foreign, absent] = [await ask(id), await ask(missing)];
    assert.equal(foreign.status, 404);
    assert.equal(foreign.text.replaceAll(String(id), '#'), absent.text.replaceAll(String(missing), '#'));
  });
}

const refusals = [
  ['arrays.list', 'unauthenticated', 401, /^Invalid credentials\.$/],
  ['users.list', 'owner', 403, /needs the role admin/],
  ['settings.setLogLevel', 'other', 403, /needs the role admin/],
  ['arrays.get', 'other', 404, /There is no array \d+\./],
  ['arrayRequests.get', 'other', 404, /There is no request \d+\./],
] as const;

for (const [id, caller, status, message] of refusals) {
  test(`${id} refuses ${caller} in XML as it does in JSON`, async () => {
    const operation = portalOperations.find((one) => one.id === id) as Operation;
    const json = await call(operation, caller);
    const xml = await call(operation, caller, 'application/xml');
    assert.deepEqual([json.status, xml.status], [status, status]);
    assert.match(String(json.headers['content-type']), /^application\/json/);
    assert.match(String(xml.headers['content-type']), /^application\/xml/);
    assert.equal(json.json()['status'], 'error');
    assert.match(String(json.json()['message']), message);
    const found = /^<\?xml[^>]*>\n<hash><status>error<\/status><message>([^<]*)<\/message><\/hash>\n$/.exec(xml.text);
    assert.match(found?.[1] ?? xml.text, message);
  });
}

test('a token that is not known, empty or sent twice is refused', async () => {
  for (const token of [
    '',
    'no such token',
    portal.owner.token.slice(1),
    `${portal.owner.token}, ${portal.admin.token}`,
  ]) {
    const { status } = await portal.send(undefined, {
      method: 'GET',
      path: '/api/arrays',
      headers: { 'x-token': token },
    });
    assert.equal(status, 401, token);
  }
});

test('lists hold what the caller may see and nothing else', async () => {
  const { admin, friend, owner, otherUser, name, array, network } = portal;
  const mine = await array(friend, { name: name('mine') });
  await friend.client.computes.create({ provider_id: 1, display_name: name('farm'), moderate: true });
  await network(friend);
  const seenBy = async ({ client }: Person) => ({
    arrays: (await client.arrays.list({ name: mine.name })).data.length,
    requests: (await client.arrayRequests.list()).data.filter(({ user_id: id }) => id === friend.id).length,
    networks: (await client.virtualNetworks.list()).data.length,
    tenants: [...new Set((await client.tenants.list()).data.map(({ username }) => username))],
  });
  const all = await seenBy(admin);
  const own = await seenBy(friend);
  assert.deepEqual([all.arrays, own.arrays], [1, 1]);
  assert.deepEqual([all.requests, own.requests], [2, 2]);
  assert.equal(own.networks, 1);
  assert.ok(all.networks > own.networks);
  assert.deepEqual(own.tenants, ['friend']);
  assert.ok(all.tenants.includes('owner'));
  const foreign = await seenBy(owner);
  assert.deepEqual([foreign.arrays, foreign.requests, foreign.tenants], [0, 0, ['owner']]);
  const networkNames = async ({ client }: Person) => (await client.virtualNetworks.list()).data.map(({ id }) => id);
  const others = [...(await networkNames(owner)), ...(await networkNames(otherUser))];
  assert.deepEqual(
    (await networkNames(friend)).filter((id) => others.includes(id)),
    [],
  );
});
