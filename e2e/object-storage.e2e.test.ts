import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { objectsClient, type ObjectsClient } from '@granary/client';
import { temporaryFolder } from '../testing/folders.ts';
import { until } from '../testing/waiting.ts';
import { expect, S3Client } from '../protocols/s3/testing/client.ts';
import { startGranary } from './granary.ts';
import { orderObjects } from './object-account.ts';

const MEGABYTE = 2 ** 20;
const PASSWORD = 'correct horse battery';
const SECRET = 'A-secret-2-keep';
const TYPE = 'SSD_10GB';

test('an operator orders object storage, an application uses it, and everything can be given back', async (t) => {
  const granary = await startGranary(join(temporaryFolder(t), 'data'));
  t.after(() => granary.kill());
  const admin = await granary.admin();
  const freeDrives = async () => {
    const { data } = await granary.cloud().inventory.get();
    return data.drive_types.find(({ key }) => key === TYPE)?.free ?? 0;
  };
  const freeBefore = await freeDrives();

  t.diagnostic('object storage is ordered at the portal, with two copies on four drives');
  const { url, client: operator } = await orderObjects(admin, 'store', 4);
  const arrayId = (await admin.arrays.list({ name: 'store' })).data[0]?.id ?? 0;
  const shown = async () => (await admin.arrays.get({ array_id: arrayId })).data;
  const { vcs } = await operator.virtualControllers.list();
  const record = await shown();
  assert.deepEqual(
    [record.product, record.drives, record.proxy_virtual_controllers, record.proxy_storage_virtual_controllers],
    ['object_storage', { [TYPE]: 4 }, 0, vcs.length],
  );
  assert.equal(record.storage_policies?.[0]?.replicas, 2);

  t.diagnostic('a user asks for an account, and an administrator approves it');
  const me = (await admin.users.list()).data[0];
  const { data: asked } = await admin.objectAccounts.create({
    array_id: arrayId,
    object_storage_account_name: 'acme',
    object_storage_admin_username: 'carol',
    object_storage_admin_password: PASSWORD,
    user_id: me?.id ?? 0,
    moderate: true,
  });
  assert.equal(asked.status, 'waiting_for_approval');
  assert.equal((await operator.accounts.list({ filter_value: 'acme' })).count, 0);
  await admin.arrayRequests.approve({ id: asked.objs_request_id, name: 'acme' });
  const account = async () => (await admin.objectAccounts.get({ array_id: arrayId, account_id: asked.id })).data;
  const opened = await account();
  assert.deepEqual([opened.status, opened.objects_count, opened.containers_count], ['created', 0, 0]);

  t.diagnostic('its administrator signs in and makes a user for the application');
  const guest = objectsClient({ url });
  const { user: carol } = await guest.users.authenticate({ account: 'acme', user: 'carol', password: PASSWORD });
  const remoteId = carol.objs_data.objs_user.account_id;
  const accountAdmin = objectsClient({ url, accessKey: carol.access_key ?? '' });
  const { code } = await accountAdmin.users.create({
    username: 'app',
    email: 'app@example.org',
    account_id: remoteId,
    role: 'account_admin',
  });
  await guest.users.usePasswordCode({ username: 'app', account: 'acme', code, new_password: PASSWORD });
  const { user: app } = await guest.users.authenticate({ account: 'acme', user: 'app', password: PASSWORD });
  const { s3_access_key: access, s3_secret_key: secret, public_url: publicUrl, token } = app.objs_data.objs_user;
  const endpoint = new URL(publicUrl).origin;
  const s3 = new S3Client(endpoint, { access: access ?? '', secret: secret ?? '' });
  t.after(() => s3.close());

  t.diagnostic('the application puts and gets with S3 and Swift, in versions and in parts');
  const small = randomBytes(10_000);
  expect(await s3.call('PUT', '/books'), 200);
  expect(await s3.call('PUT', '/books/a/ledger', { body: small }), 200);
  assert.deepEqual((await s3.call('GET', '/books/a/ledger')).bytes, small);
  const swift = (path: string, init: RequestInit = {}) =>
    fetch(`${publicUrl}${path}`, { ...init, headers: { 'x-auth-token': token ?? '' } });
  const overSwift = await swift('/books/a/ledger');
  assert.deepEqual([overSwift.status, Buffer.from(await overSwift.arrayBuffer())], [200, small]);
  assert.equal((await swift('/books/by-swift', { method: 'PUT', body: 'from the other side' })).status, 201);
  assert.equal((await s3.call('GET', '/books/by-swift')).text, 'from the other side');
  const versioning = '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>';
  expect(await s3.call('PUT', '/books', { query: { versioning: '' }, body: versioning }), 200);
  expect(await s3.call('PUT', '/books/a/ledger', { body: 'second edition' }), 200);
  const versions = await s3.call('GET', '/books', { query: { versions: '', prefix: 'a/' } });
  const ids = versions.all('VersionId');
  assert.equal(ids.length, 2);
  assert.deepEqual(
    (await s3.call('GET', '/books/a/ledger', { query: { versionId: ids[1] ?? '' } })).bytes,
    small,
    'the first version is still there',
  );
  const parts = [randomBytes(5 * MEGABYTE), randomBytes(MEGABYTE)];
  const uploadId = (await s3.call('POST', '/books/large', { query: { uploads: '' } })).xml('UploadId') ?? '';
  const etags = [];
  for (const [index, body] of parts.entries()) {
    const query = { partNumber: String(index + 1), uploadId };
    etags.push(expect(await s3.call('PUT', '/books/large', { query, body }), 200).headers.etag ?? '');
  }
  const list = etags.map((etag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${etag}</ETag></Part>`);
  const whole = `<CompleteMultipartUpload>${list.join('')}</CompleteMultipartUpload>`;
  expect(await s3.call('POST', '/books/large', { query: { uploadId }, body: whole }), 200);
  const large = Buffer.concat(parts);
  assert.deepEqual((await s3.call('GET', '/books/large')).bytes, large);

  t.diagnostic('the portal, metering and the usage report show it');
  const stored = small.length + 'second edition'.length + 'from the other side'.length + large.length;
  const figures = await account();
  assert.equal(figures.containers_count, 1);
  assert.ok(Math.abs((figures.used_capacity ?? 0) * 2 ** 30 - stored) < 2, `${figures.used_capacity} GB`);
  await until(async () => {
    const { objects } = await operator.accounts.iops({
      id: remoteId,
      service: 'proxy',
      subserver: 'object',
      interval: 10,
      count: 12,
    });
    return objects.some(({ iops_put: puts }) => puts > 0);
  }, 'metering shows the puts');
  const upload = async () => {
    const { usage } = await operator.usageReports.generate({ account_id: remoteId });
    const items = usage.account_usage_summary[0]?.usage_summary ?? [];
    return (items.find(({ subcategory }) => subcategory === 'upload')?.billed_units ?? 0) * 2 ** 30;
  };
  await until(async () => (await upload()) >= stored, 'the report has all that was uploaded');

  t.diagnostic('an account that is disabled is shut at the next request, and opens again');
  await operator.accounts.disable({ account_id: remoteId });
  assert.equal((await s3.call('GET', '/books/by-swift')).status, 403);
  assert.ok([401, 403].includes((await swift('/books/by-swift')).status));
  await operator.accounts.enable({ account_id: remoteId });
  expect(await s3.call('GET', '/books/by-swift'), 200);

  t.diagnostic('what is written is encrypted, and locked after a rest until the password is given');
  await operator.settings.setEncryptionPassword({ encryption_pwd: SECRET });
  await operator.settings.activateEncryption();
  expect(await s3.call('PUT', '/books/sealed', { body: 'between us' }), 200);
  await admin.arrays.hibernate({ array_id: arrayId });
  await until(async () => (await shown()).status === 'hibernated', 'it hibernates');
  assert.equal((await account()).objects_count, null, 'an array that is asleep does not answer');
  await admin.arrays.restore({ array_id: arrayId });
  await until(async () => (await shown()).status === 'created', 'it is back');
  assert.deepEqual((await s3.call('GET', '/books/a/ledger', { query: { versionId: ids[1] ?? '' } })).bytes, small);
  expect(await s3.call('GET', '/books/sealed'), 503, 'ServiceUnavailable');
  expect(await s3.call('PUT', '/books/sealed-2', { body: 'x' }), 503, 'ServiceUnavailable');
  await operator.settings.restoreEncryption({ encryption_pwd: SECRET });
  assert.equal((await s3.call('GET', '/books/sealed')).text, 'between us');

  t.diagnostic('a proxy controller comes and goes, and portal and array count alike');
  await admin.arrays.addProxyController({ array_id: arrayId, allocation_zone_id: 1 });
  await until(async () => (await proxiesOf(operator)) === 1, 'it serves');
  assert.equal((await shown()).proxy_virtual_controllers, 1);
  expect(await s3.call('GET', '/books/by-swift'), 200);
  await operator.virtualControllers.removeProxies({ quantity: 1 });
  assert.equal(await proxiesOf(operator), 0);
  await until(async () => (await shown()).proxy_virtual_controllers === 0, 'the portal has heard');

  t.diagnostic('drives join a policy and one leaves it again; what was stored stays');
  const policyName = (await operator.policies.list()).policies[0]?.name ?? '';
  const policy = async () => (await operator.policies.get({ name: policyName })).policy;
  await admin.arrays.addDrives({ array_id: arrayId, drives: { [TYPE]: 2 }, storage_policy: 'two-copies' });
  assert.equal(await freeDrives(), freeBefore - 6);
  await until(async () => {
    const { total_drives: drives, rebalance_status: status, partition_percent_normal: normal } = await policy();
    return drives === 6 && normal === 100 && status === 'done';
  }, 'the policy has six drives and is at rest');
  const paths = (await granary.cloud().hostedArrays.list()).data[0]?.drives ?? [];
  const pathOf = ({ node, uuid }: { node: string; uuid: string }) =>
    join(granary.dataDir, 'cloud', 'nodes', node, `${uuid}.drive`);
  await operator.policies.removeDrives({ name: policyName, drives: [{ type: TYPE, quantity: 1 }], timeout: 30 });
  assert.equal(await freeDrives(), freeBefore - 5);
  assert.equal(paths.filter((drive) => existsSync(pathOf(drive))).length, 5, 'the folder of the drive is gone');
  await until(async () => (await shown()).drive_count === 5, 'the portal has heard');
  assert.deepEqual((await s3.call('GET', '/books/large')).bytes, large);
  await admin.arrays.addDrives({ array_id: arrayId, drives: { [TYPE]: 1 }, storage_policy: 'two-copies' });
  assert.equal(await freeDrives(), freeBefore - 6, 'only the drive that was asked for is given');

  t.diagnostic('a second policy keeps fragments, and containers choose it');
  const { policy_types: types } = (await granary.cloud().inventory.get()).data;
  const erasure = types.find(({ data_fragments: fragments }) => fragments === 4);
  await admin.arrays.addStoragePolicy({
    array_id: arrayId,
    name: 'cold',
    storage_policy_type: erasure?.id ?? 0,
    drives: { [TYPE]: 6 },
  });
  await until(async () => (await operator.policies.list()).count === 2, 'both are there');
  const made = await fetch(`${publicUrl}/archive`, {
    method: 'PUT',
    headers: { 'x-auth-token': token ?? '', 'x-storage-policy': 'cold' },
  });
  assert.equal(made.status, 201);
  expect(await s3.call('PUT', '/archive/old', { body: large }), 200);
  assert.deepEqual((await s3.call('GET', '/archive/old')).bytes, large);

  t.diagnostic('an account goes with all it held, and the array with all its drives');
  const { array_request_id: removal } = await admin.objectAccounts.delete({ array_id: arrayId, account_id: asked.id });
  await admin.arrayRequests.approve({ id: removal, name: 'acme' });
  await until(
    async () => (await admin.objectAccounts.list({ array_id: arrayId })).data.length === 0,
    'the account is gone',
  );
  const gone = await s3.call('GET', '/books/by-swift');
  assert.equal(gone.status, 403);
  assert.equal((await operator.accounts.get({ account_id: remoteId })).count.state, 'deleted');
  const { data: holds } = await admin.arrays.getContents({ array_id: arrayId });
  assert.deepEqual([holds.known, holds.volumes], [true, null]);
  await admin.settings.setArrayRetention({ retention_hours: 0 });
  await admin.arrays.delete({ array_id: arrayId });
  await until(async () => (await freeDrives()) === freeBefore, 'the drives are free');
  assert.deepEqual((await granary.cloud().inventory.check()).data, []);
});

async function proxiesOf(operator: ObjectsClient): Promise<number> {
  return (await operator.virtualControllers.list()).vcs.filter(({ role }) => role === 'proxy').length;
}
