import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { arrayClient, cloudClient, portalClient } from '@granary/client';
import { parseJoinCode, secureFetch } from '@granary/kernel/tls';
import { temporaryFolder } from '../testing/folders.ts';
import { until } from '../testing/waiting.ts';
import { adminPassword, freePort, ownAddresses, startService, type Service } from './granary.ts';

/**
 * Goal: a cloud on another machine joins by a one-time code, and nothing crosses the network that is not TLS with the
 * authority of the portal.
 * Method: portal and cloud are processes with folders and addresses of their own; all they have in common is the code.
 */
const STORY_MS_MAX = 600_000;
const STARTED_MS_MAX = 120_000;
const PORTAL_HOST = '127.0.0.2';
const CLOUD_HOST = '127.0.0.3';

async function started(t: TestContext, args: readonly string[]): Promise<Service> {
  const service = await startService(args);
  t.after(() => service.kill());
  return service;
}

test('a cloud joins by a code, once, and is reached over mutual TLS', { timeout: STORY_MS_MAX }, async (t) => {
  const folder = temporaryFolder(t);
  const data = (name: string) => join(folder, name);
  const portal = await started(t, ['portal', '--data', data('portal'), '--host', PORTAL_HOST, '--port', '0', '--tls']);
  const authority = readFileSync(join(data('portal'), 'authority', 'authority.crt'), 'utf8');
  const fetch = secureFetch({ trusted: [authority] });
  const { data: signedIn } = await portalClient({ url: portal.url, fetch }).tokens.get({
    username: 'admin',
    password: adminPassword,
  });
  const admin = portalClient({ url: portal.url, fetch, token: signedIn.token });

  const { code } = (await admin.clouds.joinCode({ name: 'second' })).data;
  assert.ok(code.startsWith(`${new URL(portal.url).host}/`), code);
  const port = String(await freePort(CLOUD_HOST));
  const place = ['--host', CLOUD_HOST, '--port', port, '--addresses', ownAddresses()];
  const cloudArgs = ['cloud', '--data', data('cloud'), ...place];
  const cloud = await started(t, [...cloudArgs, '--join', code]);
  assert.ok(cloud.output.some((line) => /^Joined the portal at .* as second/.test(line)));
  assert.ok(!existsSync(join(data('cloud'), 'authority')), 'it has no authority of its own');

  // A second use, on another machine.
  const again = portalClient({ url: portal.url, fetch }).clouds.join({
    code: parseJoinCode(code)?.secret ?? '',
    certificate: authority,
    port: 7401,
    admin_user: 'cloud',
    admin_key: 'key',
  });
  await assert.rejects(again, /This join code was used at .* UTC\. Make another one/);

  await admin.providers.create({ name: 'second', key: 'second', cloud_id: 1 });
  const order = { name: 'tank', provider: 'second', engine: 'engine_small', drives: { SSD_10GB: 2 }, moderate: false };
  await admin.arrays.create(order);
  const array = await until(
    async () => {
      const found = (await admin.arrays.list({ name: 'tank' })).data[0];
      return found?.status === 'created' && (await admin.arrays.get({ array_id: found.id })).data;
    },
    'the array is created',
    STARTED_MS_MAX,
  );
  assert.match(array.management_url as string, /^https:/);
  const login = { user: 'admin', password: array.initial_passcode };
  await arrayClient({ url: array.management_url as string, fetch }).users.login(login);
  // The portal signs in to the array with its own key, over its own certificate.
  const { data: contents } = await admin.arrays.getContents({ array_id: array.id });
  assert.equal(contents.volumes, 0);

  // A client without a certificate of the authority, or with another than the portal's, is refused even with the right key.
  const key = readFileSync(join(data('cloud'), 'cloud', 'admin.key'), 'utf8').trim();
  const outsider = cloudClient({ url: cloud.url, user: 'cloud', key, fetch });
  await assert.rejects(outsider.inventory.get(), /answers only the portal it belongs to/);

  // The code may stay in a unit file: it is not needed again, and does no harm.
  await cloud.stop();
  await started(t, [...cloudArgs, '--join', code]);
  const isBack = async () => (await admin.arrays.getContents({ array_id: array.id })).data.known;
  await until(isBack, 'the array is back', STARTED_MS_MAX);
});
