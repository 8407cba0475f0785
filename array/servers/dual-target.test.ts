import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { arrayApi } from '@granary/contract/array';
import { Initiator } from '../../protocols/iscsi/testing/index.ts';
import { testArray } from '../testing/test-array.ts';

const { controllers, servers, volumes } = arrayApi.groups;
const IQN = 'iqn.2026-01.org.example:web-1';
const FIRST = 'iqn.2025-11.io.granary:vsa-00000001';
const SECOND = 'iqn.2025-11.io.granary:vsa-00000001-vc-1';

/** An array with a target for each controller, and a volume that a server reaches by both. */
async function setUp(t: TestContext) {
  const array = await testArray(t, { drives: 2, dualTarget: true });
  const { client, configuration } = array;
  const volume = await array.volume(await array.pool());
  const { server_name: server } = await client.call(servers.create, { display_name: 'web-1', iqn: IQN });
  await client.call(servers.attachVolumes, { id: [server], volume_name: [volume] });
  const portal = { host: configuration.management.host, port: configuration.dataPort, initiatorName: IQN };
  const login = async (targetName: string) => {
    const session = await Initiator.login({ ...portal, targetName });
    t.after(() => session.destroy());
    await session.lun(0).clearUnitAttentions();
    return session;
  };
  return { array, client, volume, server, portal, login };
}

test('each controller has a target of its own, discovery lists both, and a volume is one disk behind either', async (t) => {
  const { client, volume, portal, login } = await setUp(t);
  const { vcontrollers } = await client.call(controllers.list, {});
  assert.deepEqual(
    vcontrollers.map(({ target }) => target),
    [FIRST, SECOND],
  );
  const found = await Initiator.discover(portal);
  assert.deepEqual(
    found.map(({ name }) => name),
    [FIRST, SECOND],
  );
  const [first, second] = [await login(FIRST), await login(SECOND)];
  await first.lun(0).write(0, Buffer.alloc(4096, 7));
  assert.deepEqual(await second.lun(0).read(0, 8), Buffer.alloc(4096, 7));
  assert.equal((await client.call(volumes.get, { id: volume })).volume.target, FIRST);
});

test('sessions name the target they came by, and one is closed without the other', async (t) => {
  const { client, server, login } = await setUp(t);
  await login(FIRST);
  await login(SECOND);
  const targets = async () =>
    (await client.call(servers.listSessions, { id: server })).sessions.map(({ target }) => target).sort();
  assert.deepEqual(await targets(), [FIRST, SECOND]);
  await client.call(servers.closeSession, { initiator: IQN, target: SECOND });
  assert.deepEqual(await targets(), [FIRST]);
});

test('after a failover the target of the volume is that of the controller that serves, and both still work', async (t) => {
  const { client, volume, login } = await setUp(t);
  await client.call(controllers.failover, {});
  assert.equal((await client.call(volumes.get, { id: volume })).volume.target, SECOND);
  for (const target of [FIRST, SECOND]) await (await login(target)).lun(0).write(0, Buffer.alloc(512, 1));
});

test('a volume that is detached is gone from both targets', async (t) => {
  const { client, volume, server, login } = await setUp(t);
  const sessions = [await login(FIRST), await login(SECOND)];
  await client.call(volumes.detach, { id: volume, servers: [server] });
  for (const session of sessions) await assert.rejects(session.lun(0).read(0, 1));
});
