import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { test, type TestContext } from 'node:test';
import { arrayApi } from '@granary/contract/array';
import { Initiator, type ChapCredentials } from '../../protocols/iscsi/testing/index.ts';
import { testArray, type TestArray } from '../testing/test-array.ts';

const { servers, volumes, controllers, messages, users } = arrayApi.groups;
const IQN = 'iqn.2026-01.org.example:web-1';
const REFUSED = /0x0201|authenticat|0201/i;

async function setUp(t: TestContext) {
  const array = await testArray(t);
  const pool = await array.pool();
  const volume = await array.volume(pool);
  const { server_name: server } = await array.client.call(servers.create, { display_name: 'web-1', iqn: IQN });
  await array.client.call(servers.attachVolumes, { id: [server], volume_name: [volume] });
  const { vcontrollers } = await array.client.call(controllers.list, {});
  const controller = vcontrollers.find(({ state }) => state === 'active')!;
  const { host } = array.configuration.management;
  const login = async (chap?: ChapCredentials, initiatorName = IQN) => {
    const { target } = controller;
    const portal = { host, port: array.configuration.dataPort, initiatorName, targetName: target };
    const session = await Initiator.login({ ...portal, ...(chap && { chap }) });
    t.after(() => session.destroy());
    return session;
  };
  return { array, client: array.client, pool, volume, server, controller, login };
}

async function eventually<T>(ask: () => Promise<T>, holds: (answer: T) => boolean, timeoutMs = 15_000): Promise<T> {
  const giveUpAt = Date.now() + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (holds(answer)) return answer;
    assert.ok(Date.now() < giveUpAt, JSON.stringify(answer));
    await pause(200);
  }
}

async function titles(array: TestArray, subject: string): Promise<string[]> {
  const { messages: reported } = await array.client.call(messages.list, { attr_key: 'server', attr_value: subject });
  return reported.map(({ msg_title }) => msg_title);
}

test('a server sees its volumes over iSCSI at once, and loses them at once', async (t) => {
  const { client, array, pool, volume, server, login } = await setUp(t);
  const session = await login();
  const lun = session.lun(0);
  await lun.clearUnitAttentions();
  await lun.write(0, Buffer.alloc(4096, 7));
  assert.deepEqual(await lun.read(0, 8), Buffer.alloc(4096, 7));
  const other = await array.volume(pool);
  await client.call(servers.attachVolumes, { id: [server], volume_name: [other], lun: 5 });
  assert.deepEqual(await lun.reportLuns(), [0, 5]);
  await client.call(volumes.setPermissions, { id: volume, server_name: server, read_only: true });
  await lun.clearUnitAttentions();
  await assert.rejects(lun.write(0, Buffer.alloc(512)));
  await client.call(volumes.detach, { id: volume, servers: [server] });
  assert.deepEqual(await session.lun(5).reportLuns(), [5]);
  await assert.rejects(lun.read(0, 1));
  await assert.rejects(login(undefined, 'iqn.2026-01.org.example:stranger'));
});

test('exports last over a restart of the array', async (t) => {
  const { array, login } = await setUp(t);
  const before = (await login()).lun(0);
  await before.clearUnitAttentions();
  await before.write(0, Buffer.alloc(512, 9));
  await before.synchronizeCache();
  await array.restart();
  const lun = (await login()).lun(0);
  await lun.clearUnitAttentions();
  assert.deepEqual(await lun.read(0, 1), Buffer.alloc(512, 9));
});

test('a server with a secret must prove it; one without may use the secret the controllers show', async (t) => {
  const { client, server, controller, login } = await setUp(t);
  const { array_chap_user: username, array_chap_secret: secret } = controller;
  await (await login({ username, secret })).close();
  await assert.rejects(login({ username, secret: 'another secret' }), REFUSED);
  await client.call(servers.update, { id: server, arraychapuser: 'web', arraychapsecret: 'twelve bytes' });
  const own = { username: 'web', secret: 'twelve bytes' };
  await (await login(own)).close();
  for (const wrong of [undefined, { username, secret }, { ...own, secret: 'wrong secret' }])
    await assert.rejects(login(wrong), REFUSED);
  await client.call(servers.update, { id: server, hostchapuser: 'array', hostchapsecret: 'another secret' });
  await (await login({ ...own, mutual: { username: 'array', secret: 'another secret' } })).close();
  await client.call(servers.update, {
    id: server,
    arraychapuser: '',
    arraychapsecret: '',
    hostchapuser: '',
    hostchapsecret: '',
  });
  await (await login()).close();
});

test('a server that names the array’s CHAP user has to show the array’s secret', async (t) => {
  const { client, server, controller, login } = await setUp(t);
  const { array_chap_user: username, array_chap_secret: secret } = controller;
  const refused = await client.refused(servers.update, { id: server, arraychapuser: 'somebody' });
  assert.match(refused.message, /^arraychapsecret is required with arraychapuser/);
  await client.call(servers.update, { id: server, arraychapuser: username });
  await (await login({ username, secret })).close();
  await assert.rejects(login(), REFUSED);
  await assert.rejects(login({ username, secret: 'another secret' }), REFUSED);
  const same = await client.refused(servers.update, { id: server, hostchapuser: 'array', hostchapsecret: secret });
  assert.match(same.message, /^hostchapsecret must differ from arraychapsecret/);
  await client.call(servers.update, { id: server, hostchapuser: 'array', hostchapsecret: 'another secret' });
  await (await login({ username, secret, mutual: { username: 'array', secret: 'another secret' } })).close();
});

test('the array proves itself by its own host CHAP to servers that have none of their own', async (t) => {
  const { array, client, server, controller, login } = await setUp(t);
  const { array_chap_user: username, array_chap_secret: secret } = controller;
  const mutual = { username: 'granary', secret: 'proof of array' };
  await assert.rejects(login({ username, secret, mutual }));
  await client.call(controllers.setChap, { host_chap_user: mutual.username, host_chap_secret: mutual.secret });
  await (await login({ username, secret, mutual })).close();
  await (await login({ username, secret })).close();
  await (await login()).close();
  await assert.rejects(login({ username, secret, mutual: { ...mutual, secret: 'another secret' } }));
  await assert.rejects(login({ username, secret, mutual: { ...mutual, username: 'other' } }));
  for (const change of [{ arraychapuser: 'web', arraychapsecret: 'twelve bytes' }, {}]) {
    await client.call(servers.update, { id: server, ...change });
    await (await login({ username: 'web', secret: 'twelve bytes', mutual })).close();
    await array.restart();
  }
  await client.call(servers.update, { id: server, hostchapuser: 'array', hostchapsecret: 'another secret' });
  const own = { username: 'web', secret: 'twelve bytes' };
  await (await login({ ...own, mutual: { username: 'array', secret: 'another secret' } })).close();
  await assert.rejects(login({ ...own, mutual }), 'a server with its own is shown that one');
});

test('the CHAP names and secrets of the array are changed together, sealed, and never one for both proofs', async (t) => {
  const { array, client, server, login } = await setUp(t);
  const { array_chap_user: before } = (await client.call(controllers.list, {})).vcontrollers[0]!;
  await client.call(servers.update, { id: server, arraychapuser: before });
  await client.call(controllers.setChap, { array_chap_user: 'all', array_chap_secret: 'new array secret' });
  await (await login({ username: 'all', secret: 'new array secret' })).close();
  await assert.rejects(login(), REFUSED);
  await assert.rejects(login({ username: before, secret: 'new array secret' }), REFUSED);
  await client.call(servers.update, { id: server, arraychapuser: 'web', arraychapsecret: 'twelve bytes' });
  const refusals = [
    [{ host_chap_user: 'array' }, /^host_chap_secret is required with host_chap_user/],
    [{ host_chap_secret: 'thirteen bytes' }, /^host_chap_user is required with host_chap_secret/],
    [
      { host_chap_user: 'array', host_chap_secret: 'new array secret' },
      /^host_chap_secret must differ from array_chap/,
    ],
    [
      { host_chap_user: 'array', host_chap_secret: 'twelve bytes' },
      /^host_chap_secret must differ from the secret of server web-1/,
    ],
    [{ array_chap_secret: 'short' }, /^array_chap_secret must/],
    [{ host_chap_user: 'array', host_chap_secret: 'short' }, /^host_chap_secret must/],
  ] as const;
  for (const [change, message] of refusals)
    assert.match((await client.refused(controllers.setChap, change)).message, message);
  const shown = async (as = client) => {
    const { vcontrollers } = await as.call(controllers.list, {});
    const { array_chap_user, array_chap_secret, host_chap_user, host_chap_secret } = vcontrollers[1]!;
    return [array_chap_user, array_chap_secret, host_chap_user, host_chap_secret];
  };
  assert.deepEqual(await shown(), ['all', 'new array secret', null, null]);
  await client.call(controllers.setChap, { host_chap_user: 'array', host_chap_secret: 'proof of array' });
  assert.deepEqual(await shown(), ['all', 'new array secret', 'array', 'proof of array']);
  const same = await client.refused(servers.update, { id: server, arraychapsecret: 'proof of array' });
  assert.match(same.message, /^arraychapsecret must differ/);
  const { user } = await client.call(users.create, { username: 'jo' });
  const jo = array.anybody.with({ 'x-access-key': user.access_key });
  assert.deepEqual(await shown(jo), ['all', '', 'array', '']);
  assert.equal((await jo.refused(controllers.setChap, { host_chap_user: '' })).code, 6);
  const { messages: reported } = await client.call(messages.list, { limit: 100 });
  const kept = JSON.stringify(reported) + readFileSync(join(array.configuration.folder, 'array.db-wal'), 'latin1');
  for (const secret of ['new array secret', 'proof of array']) assert.ok(!kept.includes(secret), secret);
  await client.call(controllers.setChap, { host_chap_user: '', host_chap_secret: '' });
  assert.deepEqual(await shown(), ['all', 'new array secret', null, null]);
});

test('targets are shown in discovery only to a server that shows its secret', async (t) => {
  const { array, client, server, login } = await setUp(t);
  const portal = { host: array.configuration.management.host, port: array.configuration.dataPort, initiatorName: IQN };
  assert.equal((await Initiator.discover(portal)).length, 1);
  await client.call(servers.update, { id: server, arraychapuser: 'web', arraychapsecret: 'twelve bytes' });
  const chap = { username: 'web', secret: 'twelve bytes' };
  assert.equal((await Initiator.discover({ ...portal, chap })).length, 1);
  await assert.rejects(Initiator.discover(portal), REFUSED);
  await assert.rejects(Initiator.discover({ ...portal, chap: { ...chap, secret: 'wrong secret' } }), REFUSED);
  await (await login(chap)).close();
});

test('sessions are shown and can be closed; a watched server is reported when it comes and goes', async (t) => {
  const { array, client, server, controller, login } = await setUp(t);
  assert.deepEqual((await client.call(servers.listSessions, { id: server })).sessions, []);
  const session = await login();
  const { sessions, count } = await client.call(servers.listSessions, { id: server });
  const expected = {
    access_type: 'ISCSI',
    initiator: IQN,
    target: controller.target,
    count: 1,
    vc: controller.name,
    server_name: server,
    server_display_name: 'web-1',
    connected: 'YES',
  };
  assert.deepEqual([count, sessions], [1, [expected]]);
  const shown = await eventually(
    () => client.call(servers.get, { id: server }),
    ({ server: { last_state_change_time } }) => last_state_change_time !== null,
  );
  assert.deepEqual([shown.server.status, shown.server.registered], ['Active', 'YES']);
  assert.ok(shown.server.last_check_time);
  const close = { initiator: IQN, target: controller.target };
  await client.call(servers.closeSession, close);
  await eventually(
    async () => session.isOpen,
    (isOpen) => !isOpen,
  );
  await eventually(
    () => client.call(servers.listSessions, { id: server }),
    ({ count: left }) => left === 0,
  );
  const refused = await client.refused(servers.closeSession, close);
  assert.deepEqual([refused.code, refused.message], [10097, 'There is nothing to delete.']);
  assert.equal((await client.refused(servers.listSessions, { id: 'srv-9' })).code, 10086);
  const gone = await client.call(servers.get, { id: server });
  assert.equal(gone.server.status, 'Disconnected');
  const reported = await titles(array, server);
  assert.ok(reported.includes(`Server web-1 (${server}) is connected.`), reported.join('\n'));
  assert.ok(reported.includes(`A session of ${IQN} was closed.`), reported.join('\n'));
});
