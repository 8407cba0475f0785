import assert from 'node:assert/strict';
import { test } from 'node:test';
import { objectsApi } from '@granary/contract/objects';
import { owner, PASSWORD, startPeople } from '../testing/people.ts';

const { users, accounts, settings } = objectsApi.groups;

type People = Awaited<ReturnType<typeof startPeople>>;

async function request(url: string, method: string, path: string, headers: Record<string, string>, body?: object) {
  const answer = await fetch(`${url}/api${path}`, {
    method,
    headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const { response } = (await answer.json()) as { response: Record<string, unknown> & { status: number } };
  return { cookie: answer.headers.get('set-cookie')?.split(';')[0] ?? '', response };
}

async function signIn(url: string, credentials: object) {
  const { cookie, response } = await request(url, 'POST', '/sessions', {}, credentials);
  assert.equal(response.status, 0, JSON.stringify(response));
  const session = response['session'] as Record<string, unknown>;
  const csrf = String(session['csrf_token']);
  const ask = (method: string, path: string, body?: object, headers: Record<string, string> = {}) =>
    request(url, method, path, { cookie, ...(method !== 'GET' && { 'x-csrf-token': csrf }), ...headers }, body);
  const isSignedIn = async () => (await ask('GET', '/sessions/current')).response.status === 0;
  return { session, ask, isSignedIn };
}

async function aMember(people: People) {
  const { id: account } = await people.account('webhosting');
  const { user } = await people.user(account, 'mo');
  return { account, number: user.id, ...(await signIn(people.url, { account, username: 'mo', password: PASSWORD })) };
}

test('a browser signs in to the system account unless it names another, and signs out', async (t) => {
  const people = await startPeople(t);
  const admin = await signIn(people.url, { username: owner.user, password: owner.password });
  assert.deepEqual([admin.session['role'], admin.session['account_name']], ['objs_admin', 'objs_admin']);
  const { session, account, ask, isSignedIn } = await aMember(people);
  assert.deepEqual([session['username'], session['role'], session['account_id']], ['mo', 'member', account]);
  assert.equal((await ask('GET', '/objs/users')).response.status, 6, 'a member is no administrator');
  await ask('DELETE', '/sessions/current');
  assert.deepEqual([await isSignedIn(), await admin.isSignedIn()], [false, true]);
  assert.equal(people.titles()[0], 'mo signed out.');
});

test('an administrator lists the sessions of all and ends one, others their own', async (t) => {
  const people = await startPeople(t);
  const member = await aMember(people);
  const admin = await signIn(people.url, { username: owner.user, password: owner.password });
  const seen = async ({ ask }: Pick<typeof admin, 'ask'>) =>
    ((await ask('GET', '/sessions?all=true')).response['sessions'] as { username: string }[]).map(
      (one) => one.username,
    );
  assert.deepEqual([await seen(member), await seen(admin)], [['mo'], ['mo', owner.user]]);
  const [ofMember, ofAdmin] = [`/sessions/${String(member.session['id'])}`, `/sessions/${String(admin.session['id'])}`];
  assert.equal((await member.ask('DELETE', ofAdmin)).response.status, 18);
  assert.equal((await admin.ask('DELETE', ofMember)).response.status, 0);
  assert.equal(await member.isSignedIn(), false);
});

type Ending = (people: People, ids: { account: string; number: number }) => Promise<unknown>;
const endings: readonly (readonly [string, Ending])[] = [
  ['is disabled', (people, { number }) => people.admin().call(users.disable, { user_id: String(number) })],
  ['is removed', (people, { number }) => people.admin().call(users.delete, { id: String(number) })],
  [
    'changed the password',
    (people, { account }) => {
      const change = { account, user: 'mo', password: PASSWORD, new_password: 'Pick-An0ther' };
      return people.anonymous().call(users.changePassword, change);
    },
  ],
  [
    'is of an account that is disabled',
    (people, { account: account_id }) => people.admin().call(accounts.disable, { account_id }),
  ],
  [
    'is of an account that is deleted',
    (people, { account: account_id }) => people.admin().call(accounts.delete, { account_id, force: true }),
  ],
];

for (const [what, end] of endings) {
  test(`the sessions of a user who ${what} are over with the next request`, async (t) => {
    const people = await startPeople(t);
    const ended: number[] = [];
    people.people.sessions.onEnded((id) => ended.push(id));
    const member = await aMember(people);
    await end(people, member);
    assert.equal(await member.isSignedIn(), false);
    assert.deepEqual(ended, [member.session['id']]);
  });
}

test('a page sees no key until it asks for it, and asking is an event', async (t) => {
  const people = await startPeople(t);
  const { ask } = await signIn(people.url, { username: owner.user, password: owner.password });
  const shown = async (headers = {}) => {
    const { response } = await ask('GET', '/objs/users', undefined, headers);
    const [user] = response['users'] as { access_key: string; objs_data: { objs_user: Record<string, string> } }[];
    const { token, s3_secret_key: secret } = user!.objs_data.objs_user;
    return [user!.access_key, token, secret];
  };
  assert.deepEqual(await shown(), ['', '', '']);
  const { users: real } = await people.admin().call(users.list, {});
  const { token, s3_secret_key: secret } = real[0]!.objs_data.objs_user;
  assert.deepEqual(await shown({ 'x-reveal-secrets': '1' }), [real[0]!.access_key, token, secret]);
  assert.match(
    people.titles('account:objs_admin')[0] ?? '',
    new RegExp(`^${owner.user} looked at the access key of user ${owner.user}; `),
  );
});

test('the settings of object storage say how long sessions last', async (t) => {
  const people = await startPeople(t);
  await people.admin().call(settings.setSessions, { idle_minutes: 10, hours_max: 2 });
  const { idle_minutes, hours_max } = await people.admin().call(settings.getSessions, {});
  assert.deepEqual([idle_minutes, hours_max], [10, 2]);
  const member = await aMember(people);
  people.clock.advance(11 * 60_000);
  assert.equal(await member.isSignedIn(), false);
  const busy = await signIn(people.url, { account: member.account, username: 'mo', password: PASSWORD });
  for (let minutes = 0; minutes < 120; minutes += 8) {
    assert.ok(await busy.isSignedIn());
    people.clock.advance(8 * 60_000);
  }
  assert.equal(await busy.isSignedIn(), false);
});
