import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { operations } from '@granary/contract';
import { objectsApi } from '@granary/contract/objects';
import type { HostedConfiguration } from '@granary/kernel';
import { temporaryFolder } from '../testing/folders.ts';
import { CheckedClient } from '../kernel/process/testing/checked-client.ts';
import { testConfiguration, testHost } from '../kernel/process/testing/configuration.ts';
import { servedOperations, startObjects } from './index.ts';

const { users, roles, settings, messages } = objectsApi.groups;
const owner = { account: 'objs_admin', user: 'dana', password: 'first passcode' };

async function setUp(t: TestContext, changes: Partial<HostedConfiguration> = {}) {
  const configuration = testConfiguration(temporaryFolder(t), { engine: null, cacheGb: 0, ...changes });
  let array = await startObjects(configuration, testHost);
  t.after(() => array.stop());
  const anonymous = new CheckedClient(objectsApi, configuration.managementUrl);
  const { user } = await anonymous.call(users.authenticate, owner);
  return {
    configuration,
    anonymous,
    user,
    client: anonymous.with({ 'x-access-key': user.access_key ?? '' }),
    change: (next: Partial<HostedConfiguration>) => array.change({ ...configuration, ...next }),
    restart: async () => {
      await array.stop();
      array = await startObjects(configuration, testHost);
    },
  };
}

test('the owner signs in to the system account and gets every key there is', async (t) => {
  const { user, configuration, anonymous, restart } = await setUp(t);
  const { objs_user: storage } = user.objs_data;
  assert.deepEqual([user.username, user.primary, user.admin, user.locked], ['dana', true, true, false]);
  assert.deepEqual(user.roles, [{ name: 'objs_admin', id: '1' }]);
  assert.equal(storage.account_name, 'objs_admin');
  assert.match(storage.account_id, /^[0-9a-f]{32}$/);
  assert.match(storage.id, /^[0-9a-f]{32}$/);
  const { management, dataPort } = configuration;
  assert.equal(storage.public_url, `http://${management.host}:${dataPort}/v1/AUTH_${storage.account_id}`);
  assert.equal(new Set([user.access_key, storage.token, storage.s3_access_key, storage.s3_secret_key]).size, 4);
  assert.ok(user.permissions?.includes('settings.get'));
  await restart();
  const again = await anonymous.call(users.authenticate, { ...owner, account: storage.account_id });
  assert.deepEqual(again.user, user, 'the keys are those of the first day, by the id of the account too');
});

test('a key opens the interface in a header or a parameter, and a username with a password does, too', async (t) => {
  const { anonymous, user, configuration } = await setUp(t);
  await anonymous.with({ 'x-access-key': user.access_key! }).call(roles.list, {});
  await anonymous.call(roles.list, { access_key: user.access_key });
  await anonymous.call(roles.list, { username: 'dana', password: 'first passcode' });
  await anonymous.with({ 'x-access-key': configuration.internalKey }).call(roles.list, {});
  const wrong = [
    await anonymous.refused(roles.list, {}),
    await anonymous.refused(roles.list, { access_key: 'wrong' }),
    await anonymous.refused(roles.list, { username: 'dana', password: 'wrong' }),
    await anonymous.refused(users.authenticate, { ...owner, account: 'webhosting' }),
    await anonymous.refused(users.authenticate, { ...owner, password: 'wrong' }),
  ];
  for (const { http, code } of wrong) assert.deepEqual([http, code], [200, 5]);
});

test('the roles are the three there are', async (t) => {
  const { client } = await setUp(t);
  const { roles: found } = await client.call(roles.list, {});
  assert.deepEqual(
    found.map(({ name }) => name),
    ['objs_admin', 'account_admin', 'member'],
  );
});

test('the settings show the configuration, and follow the cloud', async (t) => {
  const { client, change, configuration } = await setUp(t, { zonesUsed: 3 });
  const before = await client.call(settings.get, {});
  assert.deepEqual(
    [
      before.name,
      before.display_name,
      before.multi_zone,
      before.floating_fe_ip,
      before.publicip,
      before.ssl_termination,
    ],
    ['vsa-00000001', 'Accounts', 'YES', configuration.management.host, null, 'off'],
  );
  const publicAddress = configuration.management.host.replace(/\d+$/, '77');
  await change({ publicAddress, displayName: 'Archive' });
  const after = await client.call(settings.get, {});
  assert.deepEqual([after.display_name, after.publicip], ['Archive', publicAddress]);
  assert.equal(after.created_at, before.created_at);
});

test('what happened is in the messages, this severity and worse', async (t) => {
  const { client } = await setUp(t);
  const { messages: found, count } = await client.call(messages.list, {});
  assert.equal(count, 2);
  assert.match(found[0]!.msg_title, /^User dana of objs_admin signed in from /);
  assert.equal((await client.call(messages.list, { severity: 4 })).count, 0);
  assert.equal((await client.call(messages.list, { attr_key: 'account', attr_value: 'objs_admin' })).count, 1);
});

test('secrets are sealed in the database', async (t) => {
  const { user, configuration } = await setUp(t);
  const { token, s3_secret_key } = user.objs_data.objs_user;
  const files = ['objects.db', 'objects.db-wal']
    .map((name) => readFileSync(join(configuration.folder, name), 'latin1'))
    .join();
  for (const secret of [user.access_key!, token!, s3_secret_key!, 'first passcode']) assert.ok(!files.includes(secret));
});

test('an account is opened, deleted and cleaned up', async (t) => {
  const { client } = await setUp(t);
  const { accounts } = objectsApi.groups;
  const { count: id } = await client.call(accounts.create, { name: 'webhosting' });
  await client.call(accounts.delete, { account_id: id, force: true, timeout: -1 });
  assert.equal((await client.call(accounts.get, { account_id: id })).count.state, 'deleted');
  await client.call(accounts.cleanUp, { account_id: id, timeout: -1 });
  assert.equal((await client.refused(accounts.get, { account_id: id })).code, 50001);
});

test('all that is served is in the contract', () => {
  const all = operations(objectsApi).map(({ id }) => id);
  assert.deepEqual(
    servedOperations().filter((id) => !all.includes(id)),
    [],
  );
});
