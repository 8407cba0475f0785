import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { arrayApi } from '@granary/contract/array';
import { mountShare } from '../shares/testing/mount.ts';
import { mirrorPair } from './testing/mirror-pair.ts';

const { mirrorJobs, servers, volumes } = arrayApi.groups;
const ANYONE_HERE = { display_name: 'web', iscsi: '127.0.0.0/8' };

test('a mirrored share is not served at its destination until it is broken, and then as its source was', async (t) => {
  const pair = await mirrorPair(t);
  const { source, destination } = pair;
  const share = await source.volume(pair.pool, { name: 'reports', block: false, nfsanonuid: 500 });
  const [web, far] = [
    (await source.client.call(servers.create, ANYONE_HERE)).server_name,
    (await destination.client.call(servers.create, ANYONE_HERE)).server_name,
  ];
  await source.client.call(servers.attachVolumes, { id: [web], volume_name: [share] });
  const files = await mountShare(t, source, 'reports');
  await files.write('f', 'first');
  const { job, remoteJob, copy } = await pair.mirror(share);
  await pair.shipped(copy, 1);
  const there = async () => (await destination.client.call(volumes.get, { id: copy })).volume;
  assert.partialDeepStrictEqual(await there(), { data_type: 'File-System', nfs_anon_uid: 500, nfs_root_squash: 'NO' });
  const attach = { id: [far], volume_name: [copy] };
  const refused = await destination.client.refused(servers.attachVolumes, attach);
  assert.match(refused.message, /is the destination of mirror/);
  assert.match((await destination.client.refused(volumes.update, { id: copy, atimeupdate: true })).message, /mirror/);
  await files.write('f', 'second');
  await source.client.call(volumes.update, { id: share, nfsrootsquash: true, smbhiddenfiles: '/x/', force: true });
  await pair.snapshot(share, 'again');
  await pair.shipped(copy, 2);
  const inherited = await destination.client.refused(mirrorJobs.break, { id: remoteJob, inherited: true });
  assert.match(inherited.message, /inherited is for block volumes/);
  await source.client.call(mirrorJobs.break, { id: job });
  await pair.status(remoteJob, /^Broken$/, destination);
  assert.partialDeepStrictEqual(await there(), {
    nfs_root_squash: 'YES',
    smb_hidden_files: '/x/',
    status: 'Available',
  });
  await destination.client.call(servers.attachVolumes, attach);
  const copied = await mountShare(t, destination, (await there()).nfs_export_path?.split('/export/')[1] ?? '');
  assert.equal(await copied.read('f'), 'second');
  await copied.write('g', 'own');
  assert.equal((await copied.attributes('g')).uid, 500, 'root is squashed here, too');
});

test('a mirror of a share that is broken before anything came whole leaves an empty share', async (t) => {
  const pair = await mirrorPair(t);
  const { source, destination, relay } = pair;
  const share = await source.volume(pair.pool, { name: 'reports', block: false });
  const web = (await source.client.call(servers.create, ANYONE_HERE)).server_name;
  await source.client.call(servers.attachVolumes, { id: [web], volume_name: [share] });
  const files = await mountShare(t, source, 'reports');
  for (const name of ['one', 'two', 'three']) await files.write(name, randomBytes(450_000).toString('hex'));
  relay.cutAfter(400_000);
  const { remoteJob, copy } = await pair.mirror(share);
  await pair.until(() => relay.isCut, 'the link is cut');
  await destination.client.call(mirrorJobs.break, { id: remoteJob });
  const { volume } = await destination.client.call(volumes.get, { id: copy });
  assert.equal(volume.num_of_filesystem_objects, 1);
});
