import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { portalClient } from '@granary/client';
import { operations } from '@granary/contract';
import { portalApi } from '@granary/contract/portal';
import { createLog } from '@granary/kernel';
import { servedOperations, startPortal } from './index.ts';
import { startFakeCloud } from './testing/fake-cloud.ts';
import { refused } from './testing/portal.ts';

async function prepare(t: TestContext) {
  const dataDir = mkdtempSync(join(tmpdir(), 'granary-first-start-'));
  const localCloud = await startFakeCloud();
  t.after(async () => {
    await localCloud.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });
  const log: string[] = [];
  const start = async (adminPassword?: string) => {
    const portal = await startPortal({
      dataDir,
      host: '127.0.0.1',
      port: 0,
      version: '0.0.0-test',
      log: createLog('portal', 'info', { write: (line) => log.push(line) }),
      localCloud,
      adminPassword,
    });
    let stopped: Promise<void> | undefined;
    const stopOnce = () => (stopped ??= portal.stop());
    t.after(stopOnce);
    return { ...portal, stop: stopOnce };
  };
  return { dataDir, localCloud, log, start };
}

test('the first start makes an administrator whose password is in a file that only the owner reads', async (t) => {
  const { dataDir, log, start } = await prepare(t);
  const portal = await start();
  const file = join(dataDir, 'admin-password');
  assert.equal(portal.adminPasswordFile, file);
  assert.equal(readFileSync(file, 'utf8').trim(), portal.adminPassword);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.equal(statSync(join(dataDir, 'master.key')).mode & 0o777, 0o600);
  assert.ok(!log.join('').includes(portal.adminPassword as string));
  const credentials = { username: 'admin', password: portal.adminPassword as string };
  const { data } = await portalClient({ url: portal.url }).tokens.get(credentials);
  const { client } = { client: portalClient({ url: portal.url, token: data.token }) };
  assert.deepEqual(
    (await client.clouds.list()).data.map(({ name }) => name),
    ['local'],
  );
  assert.deepEqual(
    (await client.providers.list()).data.map(({ key }) => key),
    ['local'],
  );
  await portal.stop();

  const again = await start();
  assert.deepEqual([again.adminPassword, again.adminPasswordFile], [undefined, file]);
  const second = await portalClient({ url: again.url }).tokens.get(credentials);
  assert.equal(second.data.token, data.token);
  const known = portalClient({ url: again.url, token: data.token });
  assert.equal((await known.users.list()).data.length, 1);
  assert.equal((await known.clouds.list()).data.length, 1);
  assert.equal((await known.providers.list()).data.length, 1);
});

test('a password given from outside is used and written nowhere; later starts do not change it', async (t) => {
  const { start } = await prepare(t);
  const portal = await start('given-password-1');
  assert.deepEqual([portal.adminPassword, portal.adminPasswordFile], [undefined, undefined]);
  await portalClient({ url: portal.url }).tokens.get({ username: 'admin', password: 'given-password-1' });
  await portal.stop();
  const again = await start('given-password-2');
  await portalClient({ url: again.url }).tokens.get({ username: 'admin', password: 'given-password-1' });
  const wrong = portalClient({ url: again.url }).tokens.get({ username: 'admin', password: 'given-password-2' });
  await refused(wrong, 401, /Invalid credentials/);
});

test('the portal is alive and ready once it has started, and points browsers to its documentation', async (t) => {
  const { start } = await prepare(t);
  const portal = await start('given-password-1');
  const get = (path: string) => fetch(`${portal.url}${path}`, { redirect: 'manual' });
  assert.equal((await get('/healthz')).status, 200);
  assert.equal((await get('/readyz')).status, 200);
  assert.ok((await (await get('/')).text()).includes('href="/api/docs/"'));
  assert.equal((await get('/api/openapi.json')).status, 200);
  assert.match(await (await get('/metrics')).text(), /granary/);
});

test('every operation of the contract is served', () => {
  const declared = operations(portalApi).map(({ id }) => id);
  assert.deepEqual(servedOperations().sort(), declared.sort());
});
