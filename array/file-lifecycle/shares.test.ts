import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test, type TestContext } from 'node:test';
import { arrayApi } from '@granary/contract/array';
import { until } from '../../testing/waiting.ts';
import type { Client3 } from '../../protocols/nfs/testing/client3.ts';
import { PEOPLE, serve } from '../../protocols/s3/testing/serve.ts';
import { testArray, type TestArray } from '../testing/test-array.ts';
import { mountShare, writeFile } from '../testing/test-share.ts';
import { otherS3 } from './testing/other-s3.ts';

const { lifecyclePolicies, objectStorageDestinations, volumes, snapshots, consistencyGroups } = arrayApi.groups;
const JUKEBOX = 10_008;

interface Bucket {
  readonly endpoint: string;
  readonly username: string;
  readonly password: string;
  readonly keys: () => Promise<readonly string[]>;
}

/** Object storage of our own, over its own protocol code and store. */
async function ourBucket(t: TestContext): Promise<Bucket> {
  const served = await serve();
  t.after(() => served.close());
  const client = served.as('ada');
  await client.call('PUT', '/archive');
  const { access: username, secret: password } = PEOPLE.ada.keys;
  const keys = async () => (await client.call('GET', '/archive', { query: { 'list-type': '2' } })).all('Key');
  return { endpoint: served.origin.replace('http://', ''), username, password, keys };
}

async function setUp(t: TestContext, bucket: Bucket) {
  const array = await testArray(t, { drives: 2 });
  const pool = await array.pool();
  const share = await array.volume(pool, { name: 'projects', block: 'NO', flcenabled: 'YES', capacity: '256M' });
  const mount = await mountShare(t, array, share);
  const { endpoint, username, password } = bucket;
  const known = { name: 'archive', bucket: 'archive', endpoint, username, password };
  const made = await array.client.call(objectStorageDestinations.create, known);
  return { array, pool, share, mount, destination: made.object_storage_destination.name };
}

async function scan({ client }: TestArray, share: string): Promise<void> {
  await client.call(lifecyclePolicies.scan, { volume_name: share });
  await until(async () => {
    return (await client.call(volumes.get, { id: share })).volume.flc_scan_state === 'idle';
  }, 'it was scanned');
}

/** As a client does: one that is asked to come again does. */
async function contentsOf(mount: Client3, handle: Buffer, length: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for (let at = 0; at < length;) {
    const { status, data } = await mount.read(handle, at, 65_536);
    if (status === JUKEBOX) continue;
    assert.equal(status, 0);
    pieces.push(data);
    at += data.length;
  }
  return Buffer.concat(pieces);
}

async function tell(array: TestArray, destination: string, share: string, changes: object) {
  const wanted = { display_name: 'old logs', lc_action: 'archive', dest_obs_name: destination, ...changes };
  const { lc_policy_name: id } = await array.client.call(lifecyclePolicies.create, {
    file_selection_criteria: { extension: 'log', size: { $gt: 0 } },
    ...wanted,
  } as never);
  await array.client.call(lifecyclePolicies.attach, { id, volume_name: share });
  return id;
}

for (const [what, bucketOf] of [
  ['our own object storage', ourBucket],
  ['another S3 service', otherS3],
] as const) {
  test(`files of a share go to ${what} and come back when they are read`, async (t) => {
    const bucket = await bucketOf(t);
    const { array, share, mount, destination } = await setUp(t, bucket);
    const contents = [Buffer.from('short'), randomBytes(300_000), randomBytes(2_500_000)];
    const handles: Buffer[] = [];
    for (const [n, bytes] of contents.entries()) handles.push(await writeFile(mount, `${n}.log`, bytes.subarray(0, 1)));
    for (const [n, bytes] of contents.entries()) {
      for (let at = 0; at < bytes.length; at += 262_144) {
        assert.equal((await mount.write(handles[n]!, at, bytes.subarray(at, at + 262_144))).status, 0);
      }
    }
    await writeFile(mount, 'other.txt', Buffer.from('stays'));
    const policy = await tell(array, destination, share, { dry_run: true });
    await scan(array, share);
    assert.deepEqual(await bucket.keys(), [], 'a dry run changes nothing');
    await array.client.call(lifecyclePolicies.update, { id: policy, dry_run: false });
    await scan(array, share);
    const [rule] = (await array.client.call(lifecyclePolicies.listRules, { volume_name: share })).lc_rules;
    assert.deepEqual([rule?.matched_files, rule?.handled_files, rule?.last_run_problem], [3, 3, null]);
    assert.equal((await bucket.keys()).length, 3);
    for (const [n, handle] of handles.entries()) {
      const { attributes } = await mount.getattr(handle);
      assert.equal(Number(attributes?.size), contents[n]?.length);
    }
    for (const [n, bytes] of contents.entries()) {
      assert.ok((await contentsOf(mount, handles[n]!, bytes.length)).equals(bytes), `${n}`);
    }
  });
}

test('a clone of a share with archived files reads them, and keeps their objects', async (t) => {
  const bucket = await ourBucket(t);
  const { array, share, mount, destination } = await setUp(t, bucket);
  await writeFile(mount, 'a.log', Buffer.from('archived'));
  await tell(array, destination, share, {});
  await scan(array, share);
  assert.equal((await bucket.keys()).length, 1);
  const { cg_name } = (await array.client.call(volumes.get, { id: share })).volume;
  await array.client.call(consistencyGroups.clone, { volume_cg_id: cg_name, name: 'copy' });
  const { volumes: found } = await array.client.call(volumes.list, { display_name: 'copy' });
  const copy = await mountShare(t, array, found[0]!.name);
  assert.equal((await mount.remove(mount.root, 'a.log')).status, 0);
  await writeFile(mount, 'b.txt', Buffer.from('changed'));
  await scan(array, share);
  assert.equal((await bucket.keys()).length, 1, 'the clone needs it');
  const { handle } = await copy.lookup(copy.root, 'a.log');
  assert.equal((await contentsOf(copy, handle, 8)).toString(), 'archived');
  assert.equal((await array.client.call(snapshots.list, {})).count, 0);
});

test('an archived file is read from a snapshot, and its object stays as long as the snapshot', async (t) => {
  const bucket = await ourBucket(t);
  const { array, share, mount, destination } = await setUp(t, bucket);
  const { client } = array;
  const bytes = randomBytes(5_000_000);
  const original = await writeFile(mount, 'a.log', bytes.subarray(0, 1));
  for (let at = 0; at < bytes.length; at += 250_000) {
    assert.equal((await mount.write(original, at, bytes.subarray(at, at + 250_000))).status, 0);
  }
  await tell(array, destination, share, {});
  await scan(array, share);
  const { cg_name } = (await client.call(volumes.get, { id: share })).volume;
  await client.call(snapshots.create, { volume_cg_id: cg_name, display_name: 'before' });
  assert.equal((await mount.remove(mount.root, 'a.log')).status, 0);
  await scan(array, share);
  assert.equal((await bucket.keys()).length, 1, 'the snapshot needs it');
  const shown = await mount.lookup((await mount.lookup(mount.root, '.snapshot')).handle, 'before');
  const { handle } = await mount.lookup(shown.handle, 'a.log');
  assert.ok((await contentsOf(mount, handle, bytes.length)).equals(bytes));
  assert.deepEqual(await mount.names(mount.root), [], 'nothing was brought back');

  const [snapshot] = (await client.call(snapshots.list, {})).snapshots;
  await client.call(snapshots.delete, { snapshot_id: snapshot!.name });
  await scan(array, share);
  await until(async () => (await bucket.keys()).length === 0, 'its object is gone');
});

test('files expire to the recycle bin, and a policy of an attached share cannot be deleted', async (t) => {
  const { array, share, mount, destination } = await setUp(t, await ourBucket(t));
  await writeFile(mount, 'a.log', Buffer.from('old'));
  await writeFile(mount, 'b.txt', Buffer.from('stays'));
  const change = { lc_action: 'expire', dest_obs_name: undefined, use_recycle_bin: true };
  const id = await tell(array, destination, share, change);
  await scan(array, share);
  assert.deepEqual((await mount.names(mount.root)).sort(), ['.recycle', 'b.txt']);
  const { volume } = await array.client.call(volumes.get, { id: share });
  assert.deepEqual([volume.flc_state, volume.life_cycle_policy_display_name], ['enabled', 'old logs']);
  assert.equal(volume.life_cycle_policy_ext_name, id);
  await until(async () => {
    await array.client.call(lifecyclePolicies.setRecycleBin, { retention_time: 0 });
    const bin = await mount.lookup(mount.root, '.recycle');
    return (await mount.names(bin.handle)).length === 0;
  }, 'the bin is empty');
  const { code, message } = await array.client.refused(lifecyclePolicies.delete, { id });
  assert.equal(code, 10100);
  assert.match(message, /attached to 1 share; detach it first/);
  await array.client.call(lifecyclePolicies.detach, { id, volume_name: share });
  await array.client.call(lifecyclePolicies.delete, { id });
});
