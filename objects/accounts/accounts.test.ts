import assert from 'node:assert/strict';
import { test } from 'node:test';
import { objectsApi } from '@granary/contract/objects';
import { until } from '../../testing/waiting.ts';
import { PUBLIC_URL, startPeople } from '../testing/people.ts';

const { accounts, users } = objectsApi.groups;
const NOT_FOUND = 50001;
const CONFLICT = 50100;
const SUBMITTED = 1073791826;

test('an account is created, shown under count, and listed with those whose name or id contains a text', async (t) => {
  const { admin } = await startPeople(t);
  const { count: id } = await admin().call(accounts.create, { name: 'webhosting' });
  await admin().call(accounts.create, { name: 'Backup' });
  assert.match(id, /^[0-9a-f]{32}$/);
  const { count: shown } = await admin().call(accounts.get, { account_id: id });
  assert.deepEqual(shown, {
    update_time: '1794830400',
    name: 'webhosting',
    is_system_account: 'False',
    public_url_list: [`${PUBLIC_URL}/v1/AUTH_${id}`, `http://198.51.100.1:8080/v1/AUTH_${id}`],
    enabled: 'True',
    email: null,
    state: 'normal',
    create_time: '1794830400',
    id,
    description: null,
    used_capacity: 0,
    containers: 0,
    objects: 0,
  });
  const all = await admin().call(accounts.list, {});
  assert.deepEqual([all.count, all.accounts.map(({ name }) => name)], [3, ['Backup', 'objs_admin', 'webhosting']]);
  const page = await admin().call(accounts.list, { start: 1, limit: 1 });
  assert.deepEqual([page.count, page.accounts[0]!.is_system_account], [3, 'True']);
  const named = await admin().call(accounts.list, { filter_value: 'BACK' });
  assert.deepEqual([named.count, named.accounts[0]!.name], [1, 'Backup']);
  const found = await admin().call(accounts.list, { filter_field: 'id', filter_value: id.slice(5, 20) });
  assert.deepEqual([found.count, found.accounts[0]!.id], [1, id]);
  assert.equal((await admin().call(accounts.list, { filter_value: '%' })).count, 0, 'a text, not a pattern');
});

test('an account says what it is for, as it was made or as its administrators say later', async (t) => {
  const people = await startPeople(t);
  const { admin } = people;
  const { count: id } = await admin().call(accounts.create, { name: 'shop', description: ' Pictures ' });
  const { count: other } = await admin().call(accounts.create, { name: 'other' });
  const shown = async () => (await admin().call(accounts.get, { account_id: id })).count.description;
  assert.equal(await shown(), 'Pictures');
  const { client: ana } = await people.user(id, 'ana', 'account_admin');
  await ana.call(accounts.setDescription, { account_id: id, description: 'Pictures of the shop' });
  assert.equal(await shown(), 'Pictures of the shop');
  assert.equal((await ana.refused(accounts.setDescription, { account_id: other, description: 'x' })).code, NOT_FOUND);
  const long = await ana.refused(accounts.setDescription, { account_id: id, description: 'x'.repeat(501) });
  assert.match(long.message, /description/);
  await admin().call(accounts.setDescription, { account_id: id, description: '' });
  assert.equal(await shown(), null);
});

test('a name is one of a kind, and never taken for something else', async (t) => {
  const { admin } = await startPeople(t);
  await admin().call(accounts.create, { name: 'webhosting' });
  for (const name of ['webhosting', 'WebHosting', 'objs_admin'])
    assert.equal((await admin().refused(accounts.create, { name })).code, 10096, name);
  for (const name of [' web', 'a/b', 'a:b', 'ab'.repeat(16), '   ', 'a\nb']) {
    const { code, message } = await admin().refused(accounts.create, { name });
    assert.equal(code, 7, name);
    assert.match(message, /^name /);
  }
});

test('the address of an account is that of its primary user', async (t) => {
  const people = await startPeople(t);
  const { id } = await people.account('webhosting');
  assert.equal((await people.admin().call(accounts.get, { account_id: id })).count.email, 'ada@example.org');
});

test('an administrator of an account sees that one, its users, and no other', async (t) => {
  const people = await startPeople(t);
  const web = await people.account('webhosting');
  const backup = await people.account('backup', 'bob');
  await people.user(web.id, 'mia');
  assert.equal((await web.client.call(accounts.get, { account_id: web.id })).count.name, 'webhosting');
  const { users: shown, count } = await web.client.call(accounts.listUsers, { account_id: web.id });
  assert.equal(count, 2);
  assert.deepEqual(
    shown.map(({ name, role_list, enabled, init_password_changed, is_system_user, account_name }) => [
      name,
      role_list[0],
      enabled,
      init_password_changed,
      is_system_user,
      account_name,
    ]),
    [
      ['ada', 'account_admin', 'True', 'True', 'False', 'webhosting'],
      ['mia', 'member', 'True', 'True', 'False', 'webhosting'],
    ],
  );
  for (const endpoint of [accounts.get, accounts.listUsers, accounts.getRateLimit])
    assert.equal((await web.client.refused(endpoint, { account_id: backup.id })).code, NOT_FOUND);
  assert.equal((await web.client.refused(accounts.list, {})).code, 6);
  assert.equal((await people.admin().refused(accounts.get, { account_id: 'ff'.repeat(16) })).code, NOT_FOUND);
});

test('who is in a disabled account is kept out everywhere until it is enabled again', async (t) => {
  const people = await startPeople(t);
  const { id, user, client } = await people.account('webhosting');
  const { directory } = people.people;
  const { s3_access_key: s3Key, token } = user.objs_data.objs_user;
  const before = people.epoch;
  await people.admin().call(accounts.disable, { account_id: id });
  assert.ok(people.epoch > before, 'the data path is notified');
  assert.equal((await people.admin().call(accounts.get, { account_id: id })).count.enabled, 'False');
  assert.deepEqual(directory.byS3Key(s3Key!), { refused: 'account-disabled' });
  assert.deepEqual(directory.byToken(token!), { refused: 'account-disabled' });
  assert.equal(directory.account(id)?.enabled, false);
  assert.equal((await client.refused(accounts.get, { account_id: id })).code, 5);
  const signIn = { account: 'webhosting', user: 'ada', password: 'Pick-Your-0wn' };
  assert.equal((await people.anonymous().refused(users.authenticate, signIn)).code, 50002);
  await people.admin().call(accounts.enable, { account_id: id });
  await people.admin().call(accounts.enable, { account_id: id });
  assert.ok('caller' in directory.byS3Key(s3Key!));
  await client.call(accounts.get, { account_id: id });
  assert.deepEqual(people.titles().slice(0, 2), [
    'Account webhosting was enabled again.',
    'Account webhosting was disabled.',
  ]);
});

test('the account that administers the array is neither deleted nor disabled', async (t) => {
  const { admin } = await startPeople(t);
  const [system] = (await admin().call(accounts.list, { filter_value: 'objs_admin' })).accounts;
  const id = system!.id;
  assert.equal((await admin().refused(accounts.disable, { account_id: id })).code, CONFLICT);
  const { code, message } = await admin().refused(accounts.delete, { account_id: id, force: true });
  assert.deepEqual([code, message], [CONFLICT, 'Account objs_admin administers the array and cannot be deleted.']);
});

test('a deletion takes the users at once, the data in steps, and leaves a record for the bills', async (t) => {
  const people = await startPeople(t);
  const { id, user } = await people.account('webhosting');
  people.data.objects.set(id, 2_500);
  const unforced = await people.admin().refused(accounts.delete, { account_id: id, force: false });
  assert.deepEqual([unforced.code, unforced.message.split(' ')[0]], [7, 'force']);
  let open = () => {};
  people.data.gate = new Promise<void>((resolve) => (open = resolve));
  const submitted = await people.admin().refused(accounts.delete, { account_id: id, force: true, timeout: 0 });
  assert.equal(submitted.code, SUBMITTED);
  assert.match(submitted.message, /^The request has been submitted/);
  const { count: deleting } = await people.admin().call(accounts.get, { account_id: id });
  assert.deepEqual(
    [deleting.state, deleting.description],
    ['deleting', 'Being deleted; 2500 objects in 1 container are left.'],
  );
  assert.deepEqual(people.people.directory.byS3Key(user.objs_data.objs_user.s3_access_key!), { refused: 'unknown' });
  assert.equal(people.people.directory.account(id)?.enabled, false);
  assert.equal((await people.admin().call(accounts.listUsers, { account_id: id })).count, 0);
  assert.equal((await people.admin().refused(accounts.enable, { account_id: id })).code, CONFLICT);
  assert.equal((await people.admin().refused(accounts.cleanUp, { account_id: id })).code, CONFLICT);
  assert.equal((await people.admin().refused(accounts.create, { name: 'webhosting' })).code, 10096);
  open();
  await people.admin().call(accounts.delete, { account_id: id, force: true, timeout: -1 });
  const { count: gone } = await people.admin().call(accounts.get, { account_id: id });
  assert.deepEqual([gone.state, gone.description, gone.email], ['deleted', null, 'ada@example.org']);
  assert.equal(people.data.usage(id).objects, 0);
  assert.equal(people.titles()[0], 'Account webhosting was deleted with 2500 versions, uploads and containers.');
  assert.equal(people.people.directory.account(id), undefined);
  const again = await people.account('webhosting');
  assert.notEqual(again.id, id, 'its name is free again');
  await people.admin().call(accounts.delete, { account_id: id, force: true });
});

test('a deletion that is cut off goes on after the start', async (t) => {
  const people = await startPeople(t);
  const { id } = await people.account('webhosting');
  people.data.objects.set(id, 50);
  people.data.perStep = 10;
  let open = () => {};
  people.data.gate = new Promise<void>((resolve) => (open = resolve));
  await people.admin().refused(accounts.delete, { account_id: id, force: true, timeout: 0 });
  const restarted = people.restart();
  open();
  await restarted;
  await until(() => people.data.usage(id).objects === 0);
  await people.admin().call(accounts.delete, { account_id: id, force: true, timeout: -1 });
  assert.equal((await people.admin().call(accounts.get, { account_id: id })).count.state, 'deleted');
  assert.ok(people.data.steps.length >= 6);
  assert.equal(people.titles().filter((title) => title.includes('was deleted with 50 ')).length, 1);
});

test('a cleanup takes the record of a deleted account with all it is billed by', async (t) => {
  const people = await startPeople(t);
  const { id } = await people.account('webhosting');
  const forgotten: string[] = [];
  people.people.deletion.onCleanUp((account) => void forgotten.push(account));
  const { code, message } = await people.admin().refused(accounts.cleanUp, { account_id: id });
  assert.deepEqual([code, message], [CONFLICT, 'Account webhosting is not deleted; delete it first.']);
  await people.admin().call(accounts.delete, { account_id: id, force: true });
  await people.admin().call(accounts.cleanUp, { account_id: id });
  assert.deepEqual(forgotten, [id]);
  assert.equal((await people.admin().refused(accounts.get, { account_id: id })).code, NOT_FOUND);
  assert.equal((await people.admin().refused(accounts.cleanUp, { account_id: id })).code, NOT_FOUND);
});

test('the export is CSV with what each account stores', async (t) => {
  const people = await startPeople(t);
  const { id } = await people.account('webhosting');
  const { count: formula } = await people.admin().call(accounts.create, { name: '=1+1, "x"' });
  people.data.objects.set(id, 1_536);
  await people.admin().call(accounts.disable, { account_id: formula });
  const response = await fetch(`${people.url}/api/objs/accounts/export`, {
    headers: { 'x-access-key': people.configuration.internalKey },
  });
  assert.match(response.headers.get('content-type')!, /^text\/csv/);
  assert.match(response.headers.get('content-disposition')!, /accounts\.csv/);
  const [header, first, system, web, end] = (await response.text()).split('\n');
  assert.equal(header, 'Name,ID,Status,Used Capacity (GiB),Containers,Objects,Enabled');
  assert.equal(first, `"'=1+1, ""x""",${formula},normal,0,0,0,False`);
  assert.match(system!, /^objs_admin,[0-9a-f]{32},normal,0,0,0,True$/);
  assert.equal(web, `webhosting,${id},normal,1.5,1,1536,True`);
  assert.equal(end, '');
});

test('an account can have a limit of its own, none at all, or the global one', async (t) => {
  const people = await startPeople(t);
  const { id, client } = await people.account('webhosting');
  const limit = () => client.call(accounts.getRateLimit, { account_id: id });
  const directory = () => people.people.directory.ownLimit(id);
  const shown = async () => {
    const { enabled, rate_limit } = await limit();
    return [enabled, rate_limit, directory()];
  };
  assert.deepEqual(await shown(), [false, null, null]);
  await people.settings.change({ rateLimitEnabled: true, rateLimit: 100 }, 'Set.', 'dana');
  assert.deepEqual(await shown(), [false, 100, null]);
  await people.admin().call(accounts.setRateLimit, { account_id: id, enabled: true, rate_limit: 5 });
  assert.deepEqual(await shown(), [true, 5, 5]);
  await people.admin().call(accounts.setRateLimit, { account_id: id, enabled: true, rate_limit: 0 });
  assert.deepEqual(await shown(), [true, null, 0]);
  await people.admin().call(accounts.setRateLimit, { account_id: id, enabled: false });
  assert.deepEqual(await shown(), [false, 100, null]);
  assert.equal((await people.admin().refused(accounts.setRateLimit, { account_id: id, enabled: true })).code, 7);
  assert.equal((await client.refused(accounts.setRateLimit, { account_id: id, enabled: false })).code, 6);
});
