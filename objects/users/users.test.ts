import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { objectsApi } from '@granary/contract/objects';
import { owner, PASSWORD, PUBLIC_URL, startPeople } from '../testing/people.ts';

const { users, accounts, roles, destinations } = objectsApi.groups;
const NOT_FOUND = 50003;
const CONFLICT = 50100;
const LAST_ADMIN = 20010;

test('users are listed with their keys: all to the array, their own to an account', async (t) => {
  const people = await startPeople(t);
  const web = await people.account('webhosting');
  await people.account('backup', 'bob');
  const all = await people.admin().call(users.list, {});
  assert.deepEqual([all.count, all.users.map(({ username }) => username)], [3, ['dana', 'ada', 'bob']]);
  const page = await people.admin().call(users.list, { start: 2, limit: 5 });
  assert.deepEqual([page.count, page.users.map(({ username }) => username)], [3, ['bob']]);
  const own = await web.client.call(users.list, {});
  assert.equal(own.count, 1);
  const { permissions, ...shown } = web.user;
  assert.deepEqual(own.users, [shown]);
  assert.deepEqual([permissions?.includes('users.create'), permissions?.includes('accounts.create')], [true, false]);
});

test('a user is shown alone by number or id', async (t) => {
  const people = await startPeople(t);
  const { id: account, user } = await people.account('webhosting');
  const { objs_user: storage } = user.objs_data;
  const { user: shown } = await people.admin().call(users.get, { id: String(user.id) });
  assert.deepEqual(shown, {
    account_name: 'webhosting',
    account_id: account,
    update_time: '1794830400',
    create_time: '1794830400',
    name: 'ada',
    id: storage.id,
    enabled: 'True',
    init_password_changed: 'True',
    role_list: ['account_admin'],
    is_system_user: 'False',
    links: { self: `${people.configuration.managementUrl}/api/objs/users/${user.id}` },
    s3_secret_key: storage.s3_secret_key,
    s3_access_key: storage.s3_access_key,
    domain_id: 'default',
    project_id: account,
    password_expires_at: null,
    notify_on_events: false,
    notification_severity: 4,
    primary: true,
    email: 'ada@example.org',
  });
  assert.equal(storage.public_url, `${PUBLIC_URL}/v1/AUTH_${account}`);
  assert.deepEqual((await people.admin().call(users.get, { id: storage.id })).user, shown);
  for (const id of ['99', 'ada', 'ff'.repeat(16), '9'.repeat(30)])
    assert.equal((await people.admin().refused(users.get, { id })).code, NOT_FOUND, id);
});

test('what opens doors for the primary user is shown to no other administrator of the account', async (t) => {
  const people = await startPeople(t);
  const web = await people.account('webhosting');
  const mia = await people.user(web.id, 'mia', 'account_admin');
  const id = String(web.user.id);
  const { user: shown } = await mia.client.call(users.get, { id });
  assert.deepEqual([shown.s3_access_key, shown.s3_secret_key, shown.email], [null, null, 'ada@example.org']);
  const { users: all } = await mia.client.call(users.list, {});
  const listed = all.find((one) => one.id === web.user.id)!;
  const { token, token_expire_at, s3_access_key, s3_secret_key } = listed.objs_data.objs_user;
  assert.deepEqual(
    [listed.access_key, token, token_expire_at, s3_access_key, s3_secret_key],
    [null, null, null, null, null],
  );
  const own = all.find((one) => one.id === mia.user.id)!;
  assert.deepEqual([own.access_key, own.objs_data], [mia.user.access_key, mia.user.objs_data]);
  const reset = { username: 'ada', account: 'webhosting' };
  assert.equal((await mia.client.refused(users.resetS3Secret, reset)).code, CONFLICT);
  for (const client of [web.client, people.admin()]) {
    const { user } = await client.call(users.get, { id });
    assert.equal(user.s3_secret_key, web.user.objs_data.objs_user.s3_secret_key);
    assert.equal(
      (await client.call(users.list, {})).users.find((one) => one.id === web.user.id)?.access_key,
      web.user.access_key,
    );
  }
  await web.client.call(users.resetS3Secret, reset);
});

test('an account administrator manages the users of that account and finds no others', async (t) => {
  const people = await startPeople(t);
  const web = await people.account('webhosting');
  const backup = await people.account('backup', 'bob');
  const bob = String(backup.user.id);
  const { code } = await web.client.call(users.create, {
    username: 'mia',
    email: 'mia@example.org',
    account_id: web.id,
    role: 'member',
  });
  assert.match(code, /^[\w-]{16}$/);
  const foreign = { username: 'eve', email: 'eve@example.org', account_id: backup.id, role: 'member' as const };
  assert.equal((await web.client.refused(users.create, foreign)).code, 50001);
  for (const refused of [
    await web.client.refused(users.get, { id: bob }),
    await web.client.refused(users.delete, { id: bob }),
    await web.client.refused(users.enable, { user_id: bob }),
    await web.client.refused(users.disable, { user_id: bob }),
    await web.client.refused(users.changeRole, { user_id: bob, role: 'member' }),
  ])
    assert.equal(refused.code, NOT_FOUND);
  const place = { username: 'bob', account: 'backup' };
  assert.equal((await web.client.refused(users.resetS3Secret, place)).code, 50001);
  const member = await people.user(web.id, 'max');
  assert.equal((await member.client.refused(users.list, {})).code, 6);
  assert.equal((await member.client.refused(accounts.get, { account_id: web.id })).code, 6);
});

test('roles stay where they belong', async (t) => {
  const people = await startPeople(t);
  const web = await people.account('webhosting');
  const system = (await people.admin().call(accounts.list, { filter_value: 'objs_admin' })).accounts[0]!.id;
  const asked = { username: 'eve', email: 'eve@example.org' };
  for (const [client, account_id, role] of [
    [people.admin(), web.id, 'objs_admin'],
    [web.client, web.id, 'objs_admin'],
    [people.admin(), system, 'account_admin'],
  ] as const) {
    const { code, message } = await client.refused(users.create, { ...asked, account_id, role });
    assert.deepEqual([code, message.split(' ')[0]], [7, 'role']);
  }
  const mia = await people.user(web.id, 'mia');
  const id = { user_id: String(mia.user.id) };
  assert.equal((await web.client.refused(users.changeRole, { ...id, role: 'objs_admin' })).code, 7);
  await web.client.call(users.changeRole, { ...id, role: 'account_admin' });
  assert.equal((await mia.client.call(users.list, {})).count, 2, 'it holds from the next request');
  const second = await people.user(system, 'sam', 'objs_admin');
  assert.equal((await second.client.call(accounts.list, {})).count, 2);
  assert.equal((await second.client.call(users.get, { id: String(second.user.id) })).user.is_system_user, 'True');
});

test('a username is one of its account, and input that makes no sense is refused by name', async (t) => {
  const people = await startPeople(t);
  const web = await people.account('webhosting');
  const asked = { username: 'mia', email: 'mia@example.org', account_id: web.id, role: 'member' as const };
  assert.equal((await web.client.refused(users.create, { ...asked, username: 'ADA' })).code, 10096);
  for (const [field, value] of [
    ['username', ' mia'],
    ['email', 'nowhere'],
    ['email', 'a@b, c@d'],
    ['role', 'king'],
  ] as const) {
    const { code, message } = await web.client.refused(users.create, { ...asked, [field]: value });
    assert.deepEqual([code, message.split(' ')[0]], [7, field]);
  }
  assert.equal((await people.admin().refused(users.create, { ...asked, account_id: 'nowhere' })).code, 50001);
});

test('an account keeps an administrator, and users cannot remove themselves', async (t) => {
  const people = await startPeople(t);
  const web = await people.account('webhosting');
  const ada = String(web.user.id);
  for (const refused of [
    await people.admin().refused(users.delete, { id: ada }),
    await people.admin().refused(users.disable, { user_id: ada }),
    await people.admin().refused(users.changeRole, { user_id: ada, role: 'member' }),
    await web.client.refused(users.changeRole, { user_id: ada, role: 'member' }),
  ])
    assert.deepEqual(
      [refused.code, refused.message],
      [LAST_ADMIN, 'User ada is the last administrator; make another one first.'],
    );
  const mia = await people.user(web.id, 'mia', 'account_admin');
  assert.equal(
    (await web.client.refused(users.delete, { id: ada })).message.split(';')[0],
    'You cannot remove yourself',
  );
  for (const refused of [
    await mia.client.refused(users.delete, { id: ada }),
    await mia.client.refused(users.disable, { user_id: ada }),
    await mia.client.refused(users.changeRole, { user_id: ada, role: 'member' }),
  ]) {
    assert.equal(refused.code, CONFLICT);
    assert.match(refused.message, /^User ada is the primary user of webhosting; only an administrator of the array/);
  }
  await people.admin().call(users.disable, { user_id: String(mia.user.id) });
  assert.equal((await people.admin().refused(users.delete, { id: ada })).code, LAST_ADMIN, 'a disabled one is none');
  await people.admin().call(users.enable, { user_id: String(mia.user.id) });
  await people.admin().call(users.delete, { id: ada });
  const { user: next } = await mia.client.call(users.get, { id: String(mia.user.id) });
  assert.equal(next.primary, true, 'the other stands for the account now');
  assert.equal((await people.admin().call(accounts.get, { account_id: web.id })).count.email, 'mia@example.org');
  const dana = (await people.signIn(owner.account, owner.user, owner.password)).id;
  const portal = people.keyed(people.configuration.internalKey);
  assert.equal((await portal.refused(users.delete, { id: String(dana) })).code, LAST_ADMIN);
});

test('a disabled or deleted user is out at once, on every way in', async (t) => {
  const people = await startPeople(t);
  const web = await people.account('webhosting');
  const mia = await people.user(web.id, 'mia', 'account_admin');
  const { token, s3_access_key: s3Key } = mia.user.objs_data.objs_user;
  const { directory } = people.people;
  const id = String(mia.user.id);
  const epoch = people.epoch;
  await web.client.call(users.disable, { user_id: id });
  assert.ok(people.epoch > epoch);
  assert.deepEqual(directory.byS3Key(s3Key!), { refused: 'user-disabled' });
  assert.deepEqual(directory.byToken(token!), { refused: 'user-disabled' });
  assert.equal((await mia.client.refused(users.list, {})).code, 5);
  const signIn = { account: 'webhosting', user: 'mia', password: PASSWORD };
  assert.equal((await people.anonymous().refused(users.authenticate, signIn)).code, 5);
  await web.client.call(users.enable, { user_id: id });
  assert.ok('secret' in directory.byS3Key(s3Key!));
  assert.equal((await people.signIn('webhosting', 'mia')).access_key, mia.user.access_key);
  await web.client.call(users.delete, { id });
  assert.deepEqual(directory.byS3Key(s3Key!), { refused: 'unknown' });
  assert.deepEqual(directory.byToken(token!), { refused: 'unknown' });
  assert.equal((await mia.client.refused(users.list, {})).code, 5);
  assert.deepEqual(people.titles().slice(0, 1), ['User mia of webhosting was removed.']);
});

test('a new S3 secret takes the place of the one before', async (t) => {
  const people = await startPeople(t);
  const { id, user, client } = await people.account('webhosting');
  const { objs_user: storage } = user.objs_data;
  const epoch = people.epoch;
  const { credentials, count } = await client.call(users.resetS3Secret, { username: 'ADA', account: 'webhosting' });
  assert.equal(count, 1);
  const [{ secret, ...rest }] = credentials as [(typeof credentials)[number]];
  assert.deepEqual(rest, { access: storage.s3_access_key, user_id: storage.id, account_id: id });
  assert.notEqual(secret, storage.s3_secret_key);
  const found = people.people.directory.byS3Key(storage.s3_access_key!);
  assert.ok('secret' in found && found.secret === secret && people.epoch > epoch);
  const namesake = await people.account('archive');
  const [other] = (await people.admin().call(users.resetS3Secret, { username: 'ada', account: 'archive' })).credentials;
  assert.deepEqual([other?.account_id, other?.user_id], [namesake.id, namesake.user.objs_data.objs_user.id]);
  const missing = { username: 'nobody', account: id };
  assert.equal((await people.admin().refused(users.resetS3Secret, missing)).code, NOT_FOUND);
});

test('what administers the array may be let to the data of accounts, and kept away again', async (t) => {
  const people = await startPeople(t);
  const epoch = people.epoch;
  const { message } = await people.admin().call(users.enableAdminAccess, {});
  assert.match(message, /can reach/);
  assert.deepEqual([people.settings.current().settings.adminAccess, people.epoch > epoch], [true, true]);
  await people.admin().call(users.disableAdminAccess, {});
  assert.equal(people.settings.current().settings.adminAccess, false);
  const { client } = await people.account('webhosting');
  assert.equal((await client.refused(users.enableAdminAccess, {})).code, 6);
});

test('a username and password of the operation itself are never credentials', async (t) => {
  const people = await startPeople(t);
  const asked = { username: 'dana', password: owner.password };
  const target = {
    ...asked,
    name: 'far',
    type: 'EXT_S3' as const,
    endpoint: 's3.example.org',
    endpoint_url: 'https://s3.example.org',
    region: 'us-east-1',
    connectVia: 'fe' as const,
  };
  assert.equal((await people.anonymous().refused(destinations.create, target)).code, 5);
  await people.anonymous().call(roles.list, asked);
  const user = { ...asked, email: 'eve@example.org', account_id: 'x', role: 'member' as const };
  assert.equal((await people.anonymous().refused(users.create, user)).code, 5);
});

test('no secret is in the database, in an event or in the log', async (t) => {
  const people = await startPeople(t);
  const { user, id, client } = await people.account('webhosting');
  const { code } = await client.call(users.create, {
    username: 'mia',
    email: 'mia@example.org',
    account_id: id,
    role: 'member',
  });
  const { credentials } = await client.call(users.resetS3Secret, { username: 'ada', account: id });
  await people.people.directory.setAccountMetadata(id, { 'temp-url-key': 'mysterious key' });
  const files = ['objects.db', 'objects.db-wal']
    .map((name) => readFileSync(join(people.configuration.folder, name), 'latin1'))
    .join();
  const recorded = [...people.titles(), ...people.lines, files].join('\n');
  const { token, s3_secret_key: first } = user.objs_data.objs_user;
  for (const secret of [code, user.access_key!, token!, first!, credentials[0]!.secret, PASSWORD, 'mysterious key'])
    assert.ok(!recorded.includes(secret));
});
