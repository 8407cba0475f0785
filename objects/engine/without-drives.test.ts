import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { objectsApi } from '@granary/contract/objects';
import { expect } from '../../protocols/s3/testing/client.ts';
import { testObjects } from '../testing/test-objects.ts';

/**
 * Goal: a whole object storage array runs on an engine that has no drives, no controllers and no encryption.
 * Method: the array's own API and S3 over the engine in memory; every test goes on where the one before ended.
 */
const { drives, policies, settings, usageReports, virtualControllers } = objectsApi.groups;
const objects = await testObjects({ after }, { drives: 0, storageEngine: 'memory' });
const { client } = objects;
const account = await objects.account('acme');
const ada = await objects.user(account, 'ada', 'account_admin');
const s3 = objects.s3(ada);
after(() => s3.close());

test('objects are put, read, listed and deleted', async () => {
  expect(await s3.call('PUT', '/photos'), 200);
  expect(await s3.call('PUT', '/photos/a', { body: 'first' }), 200);
  expect(await s3.call('PUT', '/photos/b', { body: 'second' }), 200);
  assert.equal((await s3.call('GET', '/photos/a')).text, 'first');
  assert.match(
    (await s3.call('GET', '/photos', { query: { 'list-type': '2' } })).text,
    /<Key>a<\/Key>.*<Key>b<\/Key>/s,
  );
  expect(await s3.call('DELETE', '/photos/b'), 204);
  expect(await s3.call('GET', '/photos/b'), 404);
  const container = await objects.swift(ada, 'HEAD', '/photos');
  assert.equal(container.headers.get('x-storage-policy'), 'two-copies');
});

test('versions are kept and come back', async () => {
  const enabled = '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>';
  expect(await s3.call('PUT', '/photos', { query: { versioning: '' }, body: enabled }), 200);
  expect(await s3.call('PUT', '/photos/a', { body: 'changed' }), 200);
  expect(await s3.call('DELETE', '/photos/a'), 204);
  const listed = (await s3.call('GET', '/photos', { query: { versions: '' } })).text;
  assert.equal(listed.match(/<Version>/g)?.length, 2);
  assert.equal(listed.match(/<DeleteMarker>/g)?.length, 1);
  const marker = /<DeleteMarker>.*?<VersionId>(.*?)<\/VersionId>/s.exec(listed)?.[1] ?? '';
  expect(await s3.call('DELETE', '/photos/a', { query: { versionId: marker } }), 204);
  assert.equal((await s3.call('GET', '/photos/a')).text, 'changed');
  assert.equal((await s3.call('GET', '/photos/a', { query: { versionId: 'null' } })).text, 'first');
});

test("an account's figures and its usage report follow what it stores and moves", async () => {
  const exported = await fetch(`${objects.url}/api/objs/accounts/export`, {
    headers: { 'x-access-key': objects.owner.key, connection: 'close' },
  });
  assert.match(await exported.text(), new RegExp(`acme,${account},normal,[^,]+,1,2,True`));
  const asked = { report_type: 'detailed', account_id: account, report_time: 'monthly' } as const;
  const { usage } = await client.call(usageReports.generate, asked);
  const [summary] = usage.account_usage_summary;
  const units = (category: string) =>
    summary?.usage_summary.find((item) => item.category === category)?.billed_units ?? -1;
  assert.deepEqual([units('objects'), units('containers')], [2, 1]);
  assert.ok(units('data_transfer') > 0);
});

test('records follow what the engine has', async () => {
  const { policies: all } = await client.call(policies.list, {});
  assert.deepEqual(
    all.map((one) => [one.display_name, one.state, one.health_status, one.total_drives, one.partition_count_total]),
    [['two-copies', 'initialized', 'normal', 0, 0]],
  );
  assert.deepEqual((await client.call(drives.list, {})).disks, []);
  assert.deepEqual((await client.call(virtualControllers.list, {})).vcs, []);
});

test('what its engine lacks the array refuses, and nothing has changed', async () => {
  const remove = { name: 'two-copies', drives: [{ type: 'SSD_10GB', quantity: 1 }] };
  assert.match((await client.refused(policies.removeDrives, remove)).message, /memory engine .* no drives/);
  const proxies = await client.refused(virtualControllers.removeProxies, { quantity: 1 });
  assert.match(proxies.message, /memory engine .* no virtual controllers/);
  const password = await client.refused(settings.setEncryptionPassword, { encryption_pwd: 'open sesame' });
  assert.match(password.message, /memory engine .* no encryption of objects/);
  assert.equal((await client.refused(settings.activateEncryption, {})).code, 50100, 'no password was set');
});
