import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { test } from 'node:test';
import { objectsApi } from '@granary/contract/objects';
import { expect } from '../../protocols/s3/testing/client.ts';
import { until } from '../../testing/waiting.ts';
import { placeDrive } from '../testing/drives.ts';
import { testObjects } from '../testing/test-objects.ts';

const { settings, messages, policies, accounts } = objectsApi.groups;

test('an event is recorded when more requests fail than the threshold, while that is switched on', async (t) => {
  const objects = await testObjects(t, { drives: 2 });
  const { client, owner } = objects;
  const s3 = objects.s3(owner);
  expect(await s3.call('PUT', '/photos'), 200);
  for (const { file } of objects.configuration.drives) rmSync(file, { recursive: true });
  const body = 'waves'.repeat(60_000);
  /** What is on record after three more failures. */
  const alerts = async () => {
    for (let failed = 0; failed < 3; failed++)
      assert.equal((await s3.call('PUT', '/photos/beach.jpg', { body })).status, 503);
    // Whatever was answered is counted before points are shown.
    await client.call(accounts.iops, { id: owner.accountId, service: 'proxy', subserver: 'object' });
    const { messages: found } = await client.call(messages.list, { severity: 3 });
    return found.map(({ msg_title: title }) => title).filter((title) => title.startsWith('More than '));
  };
  await client.call(settings.setApiErrorAlerts, { enabled: false, threshold: 1 });
  assert.deepEqual(await alerts(), []);
  await client.call(settings.setApiErrorAlerts, { enabled: true, threshold: 1_000 });
  assert.deepEqual(await alerts(), []);
  await client.call(settings.setApiErrorAlerts, { threshold: 2 });
  // Each minute is counted by itself, and one may begin at any time.
  await until(async () => (await alerts())[0]?.startsWith('More than 2 data requests failed in the minute'));
});

test('drives that come at once join a policy in more steps the smaller the share is that is set', async (t) => {
  const objects = await testObjects(t, { drives: 2 });
  const { client } = objects;
  const root = dirname(dirname(objects.folderOf(1)));
  const versionOf = async () => (await client.call(policies.get, { name: 'policy-00000001' })).policy.ring_version;
  const joined = async () =>
    (await client.call(messages.list, {})).messages.filter(({ msg_title }) => msg_title.includes('joined')).length;
  const steps = async (percent: number) => {
    await client.call(settings.setPolicyExpansion, { expansion_percent: percent });
    const { drives } = objects.configuration;
    const [version, before] = [await versionOf(), await joined()];
    const added = [1, 2, 3, 4].map((number) => placeDrive(root, drives.length + number));
    await objects.change({ drives: [...drives, ...added] });
    await until(async () => (await joined()) === before + added.length, 'all have joined');
    return (await versionOf()) - version;
  };
  assert.ok((await steps(50)) >= 2);
  assert.equal(await steps(100), 1);
  for (const expansion_percent of [0, 101])
    assert.equal((await client.refused(settings.setPolicyExpansion, { expansion_percent })).code, 7);
});
