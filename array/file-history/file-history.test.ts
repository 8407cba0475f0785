import assert from 'node:assert/strict';
import { test } from 'node:test';
import { arrayApi } from '@granary/contract/array';
import { mountShare, writeFile } from '../testing/test-share.ts';
import { testArray } from '../testing/test-array.ts';

const { fileHistory, snapshotPolicies, snapshots, volumes } = arrayApi.groups;

test('a file comes back from the history of its share, over itself or beside it', async (t) => {
  const array = await testArray(t, { drives: 2 });
  const { client } = array;
  const id = await array.volume(await array.pool(), { name: 'plans', block: 'NO' });
  const mount = await mountShare(t, array, id);
  const { handle: directory } = await mount.mkdir(mount.root, 'q1');
  const file = await writeFile(mount, 'march', Buffer.from('as it was'), directory);
  const { snapshot_policies } = await client.call(snapshotPolicies.list, {});
  const attached = { id, policy: snapshot_policies[0]!.name, application: 'file_history' } as const;
  await client.call(snapshotPolicies.attach, attached);
  const { file_histories, count } = await client.call(volumes.listFileHistory, { id });
  assert.equal(count, 1);
  const { name: snapshot } = file_histories[0]!;
  const { cg_name: volume_cg_id } = (await client.call(volumes.get, { id })).volume;
  const marked = await client.call(snapshots.listOfGroup, { volume_cg_id, application: 'file_history' });
  assert.equal(marked.snapshots[0]?.name, snapshot);
  await mount.write(file, 0, Buffer.from('overwritten, and longer'));
  const restore = (path: string, to_path?: string) =>
    client.call(fileHistory.restore, { id, snapshot, path, to_path, timeout: -1 });
  assert.equal((await restore('/q1/march')).to_path, '/q1/march');
  await restore('/q1/march', '/copy');
  for (const [place, name] of [
    [directory, 'march'],
    [mount.root, 'copy'],
  ] as const) {
    const { handle } = await mount.lookup(place, name);
    assert.equal((await mount.read(handle, 0, 100)).data.toString(), 'as it was');
  }
  const missing = await client.refused(fileHistory.restore, { id, snapshot, path: '/q2', timeout: -1 });
  assert.equal(missing.code, 10100);
  const { file_restores } = await client.call(fileHistory.listRestores, { id });
  assert.deepEqual(
    file_restores.map(({ path, to_path, status }) => [path, to_path, status]),
    [
      ['/q2', '/q2', 'Failed'],
      ['/q1/march', '/copy', 'Completed'],
      ['/q1/march', '/q1/march', 'Completed'],
    ],
  );
  await client.call(volumes.deleteFileHistory, { volume_id: id });
  assert.equal((await client.refused(volumes.deleteFileHistory, { volume_id: id })).code, 10097);
});
