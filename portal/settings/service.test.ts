import assert from 'node:assert/strict';
import { test } from 'node:test';
import { temporaryFolder } from '../../testing/folders.ts';
import { startFakeCloud } from '../testing/fake-cloud.ts';
import { refused, startTestPortal } from '../testing/portal.ts';

/** Requests the log tells of. */
const requestsIn = (log: readonly string[]) =>
  log.map((line) => JSON.parse(line) as Record<string, unknown>).filter(({ operation }) => operation !== undefined);

test('the log level switches at once, both ways, and lasts over a restart', async (t) => {
  const dataDir = temporaryFolder(t);
  const cloud = await startFakeCloud();
  t.after(() => cloud.stop());
  const first = await startTestPortal({ dataDir, cloud });
  t.after(() => first.stop());
  const { settings } = first.admin.client;
  assert.deepEqual(await settings.getLogLevel(), { log_level: 'info' });
  await settings.setLogLevel({ log_level: 'debug' });
  assert.deepEqual(await settings.getLogLevel(), { log_level: 'debug' });
  assert.equal(first.tools.log.level, 'debug');
  await first.stop();

  const second = await startTestPortal({ dataDir, cloud });
  t.after(() => second.stop());
  assert.deepEqual(await second.admin.client.settings.getLogLevel(), { log_level: 'debug' });
  assert.equal(second.tools.log.level, 'debug');
  await second.admin.client.settings.setLogLevel({ log_level: 'info' });
  assert.equal(second.tools.log.level, 'info');
});

test('at the level debug every request is logged: what it was and how it ended, and none of its parameters', async (t) => {
  const portal = await startTestPortal();
  t.after(() => portal.stop());
  const { admin, owner, log } = portal;
  await owner.client.arrays.list({ name: 'before-debug' });
  assert.deepEqual(requestsIn(log), []);
  await admin.client.settings.setLogLevel({ log_level: 'debug' });
  log.length = 0;
  await owner.client.arrays.list({ name: 'a-name-to-look-for' });
  await refused(owner.client.users.list(), 403, /needs the role admin/);
  await admin.client.settings.setLogLevel({ log_level: 'info' });
  await owner.client.arrays.list();
  const seen = requestsIn(log).map(({ operation, status }) => [operation, status]);
  assert.deepEqual(seen.slice(0, 2), [
    ['arrays.list', 200],
    ['users.list', 403],
  ]);
  assert.equal(seen.filter(([operation]) => operation === 'arrays.list').length, 1);
  assert.ok(!log.join('').includes('a-name-to-look-for'));
  assert.ok(!log.join('').includes(owner.token));
});

test('an unknown level is refused by name and changes nothing', async (t) => {
  const portal = await startTestPortal();
  t.after(() => portal.stop());
  for (const level of ['trace', 'silent', '']) {
    const { problems } = await refused(
      portal.admin.client.settings.setLogLevel({ log_level: level as 'debug' }),
      400,
      /log_level (must be one of debug, info|is required)/,
    );
    assert.deepEqual(
      problems.map(({ field }) => field),
      ['log_level'],
    );
  }
  assert.equal(portal.tools.log.level, 'info');
});

test('a user may have as many virtual networks at a cloud as is set, and keeps those there are', async (t) => {
  const portal = await startTestPortal();
  t.after(() => portal.stop());
  const { owner } = portal;
  const { settings } = portal.admin.client;
  assert.equal((await settings.getNetworksPerUser()).networks_per_user, 16);
  await settings.setNetworksPerUser({ networks_per_user: 1 });
  assert.equal((await settings.getNetworksPerUser()).networks_per_user, 1);
  await portal.network(owner);
  await refused(portal.network(owner), 409, /at most 1|1 virtual network/);
  await settings.setNetworksPerUser({ networks_per_user: 2 });
  await portal.network(owner);
  await settings.setNetworksPerUser({ networks_per_user: 0 });
  assert.equal((await owner.client.virtualNetworks.list()).data.length, 2);
  await refused(settings.setNetworksPerUser({ networks_per_user: 4095 }), 400, /networks_per_user/);
});
