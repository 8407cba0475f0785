import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { Checker, ISCSI_PACKAGES, skipWithout } from '@granary/protocols/iscsi/testing';
import { temporaryFolder } from '../testing/folders.ts';
import { until } from '../testing/waiting.ts';
import { Disk, orderArray, randomBuffer, reaches, signInTo } from './block-array.ts';
import { startGranary } from './granary.ts';

const run = promisify(execFile);
const INITIATOR = 'iqn.2026-11.org.example:server-1';
const MEGABYTE = 2 ** 20;

const noQemu = await skipWithout(...ISCSI_PACKAGES.filter((name) => name.startsWith('qemu')));

test('an administrator carves, protects, moves and mirrors volumes; the data is right at each step', async (t) => {
  const folder = temporaryFolder(t);
  const granary = await startGranary(join(folder, 'data'));
  t.after(() => granary.kill());
  const admin = await granary.admin();
  const freeDrives = async () => (await granary.cloud().inventory.get()).data.drive_types[0]?.free;
  const freeBefore = await freeDrives();

  t.diagnostic('two arrays are ordered at the portal, and built');
  const { client: tank, id: tankId } = await orderArray(admin, 'tank', { SSD_10GB: 7 });
  const { client: vault, url: vaultUrl, passcode } = await orderArray(admin, 'vault', { SSD_10GB: 2 });
  const { disks } = await tank.drives.listFree();
  const names = disks.map(({ name }) => name);
  const six = await tank.raidGroups.create({ display_name: 'six', protection: 'RAID6', disk: names.slice(0, 4) });
  const one = await tank.raidGroups.create({ display_name: 'one', protection: 'RAID1', disk: names.slice(4, 6) });
  const [spare] = names.slice(6);
  const pool = await tank.pools.create({ display_name: 'main', raid_groups: [six.raidgroup_name] });
  const second = await tank.pools.create({ display_name: 'second', raid_groups: [one.raidgroup_name] });
  const { vol_name: books } = await tank.volumes.create({ name: 'books', capacity: 256, pool: pool.pool_name });
  const { server_name: server } = await tank.servers.create({ display_name: 'server-1', iqn: INITIATOR });
  await tank.servers.attachVolumes({ id: [server], volume_name: [books] });
  const disk = new Disk(tank, INITIATOR, books);

  t.diagnostic('a filesystem is written over iSCSI, and a snapshot taken');
  const image = await filesystemImage(folder);
  if (noQemu === false) {
    await run('qemu-img', ['convert', '-n', '-f', 'raw', image, '--target-image-opts', await disk.imageOptions()]);
  } else {
    t.diagnostic(`written by our own initiator: ${noQemu}`);
    await disk.write(0, readFileSync(image));
  }
  const original = readFileSync(image);
  assert.deepEqual(await disk.read(0, original.length), original);
  const { volume } = await tank.volumes.get({ id: books });
  assert.equal(volume.status, 'In-use');
  const { snapshot_name: snapshot } = await tank.snapshots.create({
    volume_cg_id: volume.cg_name,
    display_name: 'before',
  });

  t.diagnostic('the volume is overwritten; a clone of the snapshot has the old data');
  const fresh = randomBuffer(32);
  await disk.write(0, fresh);
  await tank.consistencyGroups.clone({ volume_cg_id: volume.cg_name, name: 'old books', snapshot });
  const { volumes: found } = await tank.volumes.list({ display_name: 'old books' });
  const clone = found[0];
  assert.ok(clone, 'a clone is found by its name as soon as its call returns');
  await tank.servers.attachVolumes({ id: [server], volume_name: [clone.name] });
  const old = new Disk(tank, INITIATOR, clone.name);
  assert.deepEqual(await old.read(0, original.length), original);
  assert.deepEqual(await disk.read(0, fresh.length), fresh);
  if (noQemu === false) {
    const back = join(folder, 'back.img');
    await run('qemu-img', ['convert', '--image-opts', await old.imageOptions(), '-O', 'raw', back]);
    await run('e2fsck', ['-fn', back]);
  }

  t.diagnostic('a drive fails and is replaced');
  const failed = names[1] ?? '';
  await tank.drives.takeOffline({ id: failed });
  const groupStatus = async () => (await tank.raidGroups.get({ id: six.raidgroup_name })).raid_group.status;
  await reaches('the group', groupStatus, 'Degraded');
  assert.deepEqual(await disk.read(0, fresh.length), fresh);
  await tank.drives.replace({ id: failed, toname: spare ?? '' });
  await reaches('the group', groupStatus, 'Normal');
  assert.deepEqual(await disk.read(0, fresh.length), fresh);

  t.diagnostic('a volume moves to the second pool under I/O');
  const { vol_name: busy } = await tank.volumes.create({ name: 'busy', capacity: 128, pool: pool.pool_name });
  await tank.servers.attachVolumes({ id: [server], volume_name: [busy] });
  const { session, unit } = await new Disk(tank, INITIATOR, busy).session();
  const checker = new Checker(unit, { seed: 11, sectors: (128 * MEGABYTE) / 512, unmap: true });
  await checker.run({ operations: 400 });
  const load = checker.run({ seconds: 6, depth: 8, transferBytesMax: 64 * 1024 });
  const { volume: before } = await tank.volumes.get({ id: busy });
  await tank.consistencyGroups.migrate({ volume_cg_id: before.cg_name, poolname: second.pool_name });
  const migration = async () => (await tank.migrationJobs.get({ migration_cg_id: before.cg_name })).migration_job;
  const migrationStatus = async () => (await migration()).status;
  await reaches('the migration', migrationStatus, 'Completed');
  await load;
  await checker.verifyAll();
  await session.close();
  const { volume: after } = await tank.volumes.get({ id: busy });
  assert.deepEqual([after.pool_name, after.cg_name], [second.pool_name, (await migration()).dst_cg_name]);

  t.diagnostic('the volume is mirrored to the other array, and read there after the break');
  const vaultDrives = (await vault.drives.listFree()).disks.map(({ name }) => name);
  const mirror = await vault.raidGroups.create({ display_name: 'pair', protection: 'RAID1', disk: vaultDrives });
  await vault.pools.create({ display_name: 'offsite', raid_groups: [mirror.raidgroup_name] });
  const { host } = new URL(vaultUrl);
  const { remote_array_name: remote } = await tank.remoteArrays.discover({
    ip: host,
    user: 'admin',
    password: passcode,
  });
  const { remote_pools: remotePools } = await tank.remoteArrays.listPools({ id: remote });
  const { snapshot_policies: policies } = await tank.snapshotPolicies.list();
  const { array_mirror_job_name: mirrorJob } = await tank.consistencyGroups.mirror({
    volume_cg_id: volume.cg_name,
    display_name: 'books offsite',
    remote_pool: remotePools[0]?.name ?? '',
    policy: policies[0]?.name ?? '',
    new_cg_name: 'books mirror',
    timeout: 60,
  });
  await until(async () => {
    const { array_mirror_job: shown } = await tank.mirrorJobs.get({ id: mirrorJob });
    return shown.status === 'Idle' && shown.rpo !== null;
  }, 'the first sync is done');
  await tank.mirrorJobs.break({ id: mirrorJob });
  const copy = (await vault.volumes.list({ display_name: 'books mirror' })).volumes[0];
  assert.ok(copy, 'the mirrored volume is there');
  const { server_name: there } = await vault.servers.create({ display_name: 'server-1', iqn: INITIATOR });
  await vault.servers.attachVolumes({ id: [there], volume_name: [copy.name] });
  const mirrored = new Disk(vault, INITIATOR, copy.name);
  assert.deepEqual(await mirrored.read(0, 256 * MEGABYTE), await disk.read(0, 256 * MEGABYTE));

  t.diagnostic('the array hibernates and is restored');
  await admin.arrays.hibernate({ array_id: tankId });
  await until(async () => (await admin.arrays.get({ array_id: tankId })).data.status === 'hibernated', 'it hibernates');
  await admin.arrays.restore({ array_id: tankId });
  const { client: again } = await signInTo(admin, 'tank');
  const restored = new Disk(again, INITIATOR, books);
  assert.deepEqual(await restored.read(0, fresh.length), fresh);
  assert.deepEqual(await new Disk(again, INITIATOR, clone.name).read(0, original.length), original);

  t.diagnostic('a deleted array comes back with its data');
  const shown = async () => (await admin.arrays.get({ array_id: tankId })).data;
  const { data: holds } = await admin.arrays.getContents({ array_id: tankId });
  assert.deepEqual([holds.known, (holds.volumes ?? 0) > 0, (holds.attached_volumes ?? 0) > 0], [true, true, true]);
  await admin.arrays.delete({ array_id: tankId });
  await until(async () => (await shown()).status === 'deleted', 'it is deleted');
  await admin.arrays.undelete({ array_id: tankId });
  await until(async () => (await shown()).status === 'created', 'it runs again');
  assert.deepEqual(await new Disk(again, INITIATOR, clone.name).read(0, original.length), original);

  t.diagnostic('a free drive goes back to the cloud, and deletion gives back the rest');
  await again.drives.remove({ id: failed });
  assert.equal(await freeDrives(), (freeBefore ?? 0) - 8);
  await admin.settings.setArrayRetention({ retention_hours: 0 });
  for (const name of ['tank', 'vault']) {
    const { id } = (await admin.arrays.list({ name })).data[0] ?? {};
    await admin.arrays.delete({ array_id: id ?? 0 });
  }
  await until(async () => (await freeDrives()) === freeBefore, 'the drives are back');
  assert.deepEqual((await granary.cloud().inventory.check()).data, []);
});

/** An ext4 filesystem with a few files; without the tools for one, just bytes. */
async function filesystemImage(folder: string): Promise<string> {
  const image = join(folder, 'disk.img');
  const content = join(folder, 'content');
  mkdirSync(content);
  writeFileSync(join(content, 'ledger.bin'), randomBuffer(8));
  try {
    await run('mke2fs', ['-q', '-t', 'ext4', '-d', content, image, '48M']);
  } catch {
    writeFileSync(image, randomBuffer(48));
  }
  return image;
}
