import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../testing/waiting.ts';
import { newUuid, testSpec } from '../testing/specs.ts';
import { hostedArrays, startTestCloud, testData } from '../testing/test-cloud.ts';

/**
 * Goal: the portal hears when the encryption of an array came and went, also while the array is stopped and after its cloud
 * was started again.
 */
test('the cloud reports the last known encryption of an array while it is stopped, and after a restart', async (t) => {
  const dataDir = testData(t);
  const first = await startTestCloud(t, dataDir);
  const uuid = newUuid();
  const spec = testSpec({ drives: { SSD_10GB: 2 } });
  await first.client.call(hostedArrays.put, { uuid, spec });
  const { management_url: url, encryption: before } = await first.reaches(uuid, 'running');
  assert.deepEqual(before, []);
  const began = Date.now();
  await fetch(`${url}/encryption/on`);
  await fetch(`${url}/encryption/off`);
  const ended = Date.now();
  const told = async (client = first.client) => (await client.call(hostedArrays.get, { uuid })).data.encryption ?? [];
  const shown = (list: Awaited<ReturnType<typeof told>>) => list.map(({ id, active }) => ({ id, active }));
  const changes = [
    { id: 'change-1', active: true },
    { id: 'change-2', active: false },
  ];
  const running = await until(async () => ((await told()).length === 2 ? told() : undefined));
  assert.deepEqual(shown(running), changes);
  const asked = Date.now();
  for (const { ms_ago: ago } of await told())
    assert.ok(ago >= asked - ended && ago <= Date.now() - began, `${ago} ms ago`);
  await first.client.call(hostedArrays.put, { uuid, spec, desired: 'stopped' });
  await first.reaches(uuid, 'stopped');
  assert.deepEqual(shown(await told()), changes);
  await first.stop();
  const second = await startTestCloud(t, dataDir);
  assert.deepEqual(shown(await told(second.client)), changes);
});
