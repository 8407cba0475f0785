import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { Endpoint, SentTo } from '@granary/contract';
import { arrayApi } from '@granary/contract/array';
import type { HostedConfiguration } from '@granary/kernel';
import { until } from '../../testing/waiting.ts';
import { MB } from '../units.ts';
import { testDisk } from './test-disk.ts';
import { mountShare, writeFile } from './test-share.ts';
import type { ArrayWalk } from './walk.ts';

/**
 * What operations need to be there. Things that nothing is done to are made once and kept; what moves is brought into
 * the state that is asked for.
 */
const {
  drives,
  raidGroups,
  pools,
  volumes,
  servers,
  settings,
  snapshots,
  snapshotPolicies,
  snapshotSets,
  consistencyGroups,
  migrationJobs,
  mirrorJobs,
  remoteArrays,
  nasGroups,
  nasUsers,
  quotaProjects,
  fileCategories,
  lifecyclePolicies,
} = arrayApi.groups;

const SUBMITTED = 1073751835;
/** Takes long enough to move that it can be stopped on the way. */
const MOVED_MB = 64;

export const group = (walk: ArrayWalk) => walk.kept('group', () => walk.array.group());

/** Holds all volumes that are not about pools. */
export const pool = (walk: ArrayWalk) =>
  walk.kept('pool', async () => {
    const made = await walk.array.pool({ groups: [await group(walk)] });
    // Volumes come and go here by the hundred: how fast it seems to fill is of no interest.
    const off = { alertmode: 0, protectedmode: 0, emergencymode: 0 };
    await walk.client.call(pools.updateProtection, { id: made, ...off });
    return made;
  });

export const newVolume = async (walk: ArrayWalk) =>
  walk.array.volume(await pool(walk), { name: walk.name('volume'), capacity: '10M' });

export const volume = (walk: ArrayWalk) => walk.kept('volume', () => newVolume(walk));

export const newShare = async (walk: ArrayWalk) =>
  walk.array.volume(await pool(walk), { name: walk.name('share'), capacity: '10M', block: false });

export const share = (walk: ArrayWalk) => walk.kept('share', () => newShare(walk));

/** A share that is exported under a second name. */
export async function exportedTwice(walk: ArrayWalk): Promise<{ id: string; exportname: string }> {
  const wanted = { id: await newShare(walk), exportname: walk.name('export') };
  await walk.client.call(volumes.addExportName, wanted);
  return wanted;
}

export const groupOf = async ({ client }: ArrayWalk, id: string) =>
  (await client.call(volumes.get, { id })).volume.cg_name;

export const newServer = async (walk: ArrayWalk) => {
  const display_name = walk.name('server');
  const iqn = `iqn.2026-01.org.example:${display_name}`;
  return (await walk.client.call(servers.create, { display_name, iqn })).server_name;
};

export const server = (walk: ArrayWalk) => walk.kept('server', () => newServer(walk));

export async function attached(walk: ArrayWalk): Promise<{ id: string; server: string }> {
  const [id, to] = [await newVolume(walk), await server(walk)];
  await walk.client.call(servers.attachVolumes, { id: [to], volume_name: [id] });
  return { id, server: to };
}

/** A server with an iSCSI session, as lists show it. */
export async function connected(walk: ArrayWalk) {
  const { t, array, client } = walk;
  const id = await newVolume(walk);
  await testDisk(t, array, id);
  const { servers: list } = await client.call(volumes.listServers, { id });
  const { name } = list[0]!;
  const { sessions } = await client.call(servers.listSessions, { id: name });
  const { initiator, target, vc } = sessions[0]!;
  return { server: name, controller: vc, initiator, target };
}

export const newProject = async (walk: ArrayWalk, id: string) => {
  const display_name = walk.name('project');
  await walk.client.call(quotaProjects.create, { id, display_name });
  const { projects } = await walk.client.call(quotaProjects.list, { id });
  return { id, project_id: projects.find((one) => one.display_name === display_name)!.name };
};

/** One that has everything in a share of its own. */
export async function wholeProject(walk: ArrayWalk) {
  const project = await newProject(walk, await newShare(walk));
  await walk.client.call(quotaProjects.addDirectory, { ...project, path: '/', timeout: 60 });
  return { ...project, path: '/', timeout: 60 };
}

/** A share with a file, and a snapshot of both. */
export async function restorable(walk: ArrayWalk) {
  const id = await newShare(walk);
  await writeFile(await mountShare(walk.t, walk.array, id), 'a', Buffer.from('first'));
  const volume_cg_id = await groupOf(walk, id);
  const { snapshot_name: snapshot } = await walk.client.call(snapshots.create, { volume_cg_id, display_name: 'a' });
  return { id, snapshot, path: '/a', to_path: '/b', timeout: 60 };
}

/** A share with a snapshot through which users reach earlier versions of their files. */
export async function withFileHistory(walk: ArrayWalk): Promise<string> {
  const id = await newShare(walk);
  await walk.client.call(snapshotPolicies.attach, { id, policy: await policy(walk), application: 'file_history' });
  return id;
}

export const nasGroup = async (walk: ArrayWalk) => {
  const group_name = walk.name('group');
  await walk.client.call(nasGroups.create, { group_name, nfs_gid: walk.number() });
  return group_name;
};

export const nasUser = async (walk: ArrayWalk) => {
  const username = walk.name('user');
  const groups = [await nasGroup(walk)];
  await walk.client.call(nasUsers.create, { username, nfs_uid: walk.number(), groups });
  return username;
};

export const newCategory = async (walk: ArrayWalk) => {
  const wanted = { displayname: walk.name('category'), file_extensions: [walk.name('x').replaceAll(/\W/g, '')] };
  return (await walk.client.call(fileCategories.create, wanted)).category_ext_name;
};

export const newLifecyclePolicy = async (walk: ArrayWalk) => {
  const wanted = { display_name: walk.name('policy'), lc_action: 'expire', dry_run: true } as const;
  const file_selection_criteria = { extension: { $in: ['log'] } };
  return (await walk.client.call(lifecyclePolicies.create, { ...wanted, file_selection_criteria })).lc_policy_name;
};

/** A share that a policy of its own is attached to. */
export const lifecycleRule = async (walk: ArrayWalk, isPaused = false) => {
  const ids = { id: await newLifecyclePolicy(walk), volume_name: await newShare(walk) };
  await walk.client.call(lifecyclePolicies.attach, ids);
  if (isPaused) await walk.client.call(lifecyclePolicies.pause, ids);
  return ids;
};

/** What a call that makes a new bucket known says. */
export const bucket = async (walk: ArrayWalk) => ({
  name: walk.name('bucket'),
  bucket: 'archive',
  endpoint: await walk.bucket(),
  username: 'AKTEST',
  password: 'very secret',
});

/** Drive groups that a test takes apart. */
const pair = (walk: ArrayWalk, what: string) =>
  walk.kept(what, async () => {
    const id = await walk.array.group();
    return { id, disk: (await walk.client.call(raidGroups.listDrives, { id })).disks[0]!.name };
  });

const isNormal = async ({ client }: ArrayWalk, id: string) =>
  (await client.call(raidGroups.get, { id })).raid_group.status === 'Normal';

/** Whichever drive of a mirror is in it now. */
export async function replaceable(walk: ArrayWalk): Promise<string> {
  const { id } = await pair(walk, 'replaceable');
  await until(() => isNormal(walk, id), 'the group is whole');
  return (await walk.client.call(raidGroups.listDrives, { id })).disks[0]!.name;
}

export async function driveInService(walk: ArrayWalk, isIn: boolean): Promise<string> {
  const { id, disk } = await pair(walk, 'outages');
  const { status } = (await walk.client.call(drives.get, { id: disk })).disk;
  if (isIn && status === 'Failed') await walk.client.call(drives.bringOnline, { id: disk });
  if (isIn) await until(() => isNormal(walk, id), 'the group is whole');
  if (!isIn && status !== 'Failed') await walk.client.call(drives.takeOffline, { id: disk });
  return disk;
}

/** One that is not shredded at the moment, or one that is. */
export async function shredded(walk: ArrayWalk, isUnderWay: boolean): Promise<string> {
  const { client } = walk;
  // The last one, because others take the first.
  const id = await walk.kept('shredded', async () => (await client.call(drives.listFree, {})).disks.at(-1)!.name);
  const { status } = (await client.call(drives.get, { id })).disk;
  const isShredding = status.startsWith('Shredding');
  if (isShredding && !isUnderWay) await client.call(drives.cancelShred, { id });
  if (!isShredding && isUnderWay) await client.call(drives.shred, { id, timeout: 0 });
  return id;
}

export async function spareGroup(walk: ArrayWalk, hasSpare: boolean): Promise<string> {
  const { client } = walk;
  const id = await walk.kept('spare group', () => walk.array.group());
  const { count } = await client.call(raidGroups.listDrives, { id });
  if (count === 3 && !hasSpare) await client.call(raidGroups.removeHotSpare, { id });
  if (count === 2 && hasSpare) await client.call(raidGroups.addHotSpare, { id, disk: await walk.freeDrive() });
  return id;
}

/** A volume with data, on a group of its own. */
const bulk = (walk: ArrayWalk, what: string) =>
  walk.kept(what, async () => {
    const { t, array } = walk;
    const raidGroup = await array.group();
    const home = await array.pool({ groups: [raidGroup] });
    const id = await array.volume(home, { name: walk.name('bulk'), capacity: `${MOVED_MB}M` });
    const disk = await testDisk(t, array, id);
    await disk.write(0, randomBytes(MOVED_MB * MB));
    return { raidGroup, pool: home, id };
  });

/** A group that is being scrubbed, slowly enough to be paused. */
export async function scrubbed(walk: ArrayWalk): Promise<string> {
  const { client } = walk;
  const { raidGroup: id } = await bulk(walk, 'scrubbed');
  await client.call(raidGroups.setResyncSpeed, { id, min: 20, max: 20 });
  const { status } = (await client.call(raidGroups.get, { id })).raid_group;
  if (!status.startsWith('Scrubbing')) await client.call(raidGroups.scrub, { id, timeout: 0 });
  return id;
}

/** A pool of two groups, or of one while the other is free. */
export async function elastic(walk: ArrayWalk, isWide: boolean): Promise<{ id: string; raidGroup: string }> {
  const { client, array } = walk;
  const parts = await walk.kept('elastic', async () => {
    const [first, second] = [await array.group(), await array.group()];
    return { id: await array.pool({ groups: [first] }), second };
  });
  const { id, second: raidGroup } = parts;
  await until(async () => (await client.call(pools.get, { id })).pool.status === 'normal', 'the pool rests');
  const { count } = await client.call(pools.listRaidGroups, { id });
  if (count === 1 && isWide) await client.call(pools.expand, { id, raid_groups: [raidGroup] });
  if (count === 2 && !isWide) await client.call(pools.shrink, { id, raid_group: raidGroup, timeout: 60 });
  return { id, raidGroup };
}

/** A pool that gives up the group its data lies on. */
export async function shrinking(walk: ArrayWalk): Promise<string> {
  const { client, array } = walk;
  const { pool: id, raidGroup: one } = await bulk(walk, 'shrinking');
  const two = await walk.kept('shrinking to', () => array.group());
  await until(async () => (await client.call(pools.get, { id })).pool.status === 'normal', 'the pool rests');
  // A shrink that was stopped left data on both.
  const { count } = await client.call(pools.listRaidGroups, { id });
  if (count === 2) await client.call(pools.shrink, { id, raid_group: two, timeout: 60 });
  const from = (await client.call(pools.listRaidGroups, { id })).raid_groups[0]!.name;
  await client.call(pools.expand, { id, raid_groups: [from === one ? two : one] });
  await submitted(walk, pools.shrink, { id, raid_group: from, timeout: 0 });
  return id;
}

/** An empty pool, and no other than the one made here the last time if that is still there. */
export async function emptyPool(walk: ArrayWalk): Promise<string> {
  const { client, array } = walk;
  const raidGroup = await walk.kept('group of an empty pool', () => array.group());
  const { pools: list } = await client.call(pools.list, {});
  const left = list.find(({ raid_group_name: names }) => names.split(',').includes(raidGroup));
  return left?.name ?? array.pool({ groups: [raidGroup] });
}

export async function binned(walk: ArrayWalk): Promise<string> {
  const { client } = walk;
  const id = await newVolume(walk);
  await client.call(settings.update, { recycle_bin: true });
  await client.call(volumes.delete, { id });
  await client.call(settings.update, { recycle_bin: false });
  return id;
}

export const newSnapshot = async (walk: ArrayWalk) => {
  const volume_cg_id = await groupOf(walk, await newVolume(walk));
  const display_name = walk.name('snapshot');
  return (await walk.client.call(snapshots.create, { volume_cg_id, display_name })).snapshot_name;
};

export const policy = (walk: ArrayWalk) => walk.kept('policy', () => newPolicy(walk));

export const newPolicy = async (walk: ArrayWalk) => {
  const wanted = { display_name: walk.name('policy'), create_policy: 'manual' };
  return (await walk.client.call(snapshotPolicies.create, wanted)).snapshot_policy.name;
};

export async function rule(walk: ArrayWalk, isPaused = false): Promise<{ id: string; snaprule: string }> {
  const { client } = walk;
  const id = await newVolume(walk);
  const wanted = { id, policy: await policy(walk), application: 'user' } as const;
  const { snapshot_rule_name: snaprule } = await client.call(snapshotPolicies.attach, wanted);
  if (isPaused) await client.call(snapshotPolicies.pause, { snaprule });
  return { id, snaprule };
}

/** What a call that suspends a new group says. */
export async function suspension(walk: ArrayWalk): Promise<{ snapsetid: string; cg: string[] }> {
  const snapsetid = walk.name('set');
  walk.suspended.push(snapsetid);
  return { snapsetid, cg: [await groupOf(walk, await newVolume(walk))] };
}

export async function suspendedSet(walk: ArrayWalk): Promise<string> {
  const wanted = await suspension(walk);
  await walk.client.call(snapshotSets.suspend, wanted);
  return wanted.snapsetid;
}

/** Most ended already, one way or the other. */
export async function endSuspensions(walk: ArrayWalk): Promise<void> {
  const url = '/api/consistency_groups/cancel_suspend_for_snapshot_set';
  for (const id of walk.suspended.splice(0)) {
    await walk.send({ method: 'POST', path: `${url}?snapsetid=${id}` }, walk.admin.key);
  }
}

export async function takenSet(walk: ArrayWalk, isCloned = false): Promise<string> {
  const snapsetid = await suspendedSet(walk);
  await walk.client.call(snapshotSets.createAndResume, { snapsetid });
  if (isCloned) await walk.client.call(snapshotSets.clone, { snapsetid });
  return snapsetid;
}

/** A volume on its way from one of two pools to the other. */
export async function migration(walk: ArrayWalk, isPaused: boolean): Promise<string> {
  const { client, array } = walk;
  const { id, pool: one } = await bulk(walk, 'migrated');
  const two = await walk.kept('migrated to', () => array.pool());
  const get = async () => (await client.call(volumes.get, { id })).volume;
  const before = await get();
  if (before.status === 'Migrating') {
    const job = await client.call(migrationJobs.get, { migration_cg_id: before.cg_name });
    // One that was paused during its last step completes.
    if (job.migration_job.status === 'Paused')
      await walk.send({ method: 'POST', path: `/api/migration_jobs/${before.cg_name}/continue` }, walk.admin.key);
    await until(async () => (await get()).status !== 'Migrating', 'it is there');
  }
  const { pool_name, cg_name } = await get();
  const poolname = pool_name === one ? two : one;
  await client.call(consistencyGroups.migrate, { volume_cg_id: cg_name, poolname, timeout: 0 });
  if (isPaused) await client.call(migrationJobs.pause, { migration_cg_id: cg_name });
  return cg_name;
}

/** A pool that a mirror of another array writes to. */
export const poolWithDestination = (walk: ArrayWalk) =>
  walk.kept('destination', async () => {
    const [id, remote] = [await pool(walk), await walk.remote()];
    const { pools: theirs } = await remote.client.call(pools.list, {});
    const source = await remote.volume(theirs[0]!.name, { capacity: '10M' });
    const { configuration } = walk.array;
    const found = await remote.client.call(remoteArrays.discover, knock(configuration));
    const listed = await remote.client.call(remoteArrays.listPools, { id: found.remote_array_name });
    const { volume: shown } = await remote.client.call(volumes.get, { id: source });
    const { snapshot_policy } = await remote.client.call(snapshotPolicies.create, {
      display_name: 'by hand',
      create_policy: 'manual',
    });
    await remote.client.call(consistencyGroups.mirror, {
      volume_cg_id: shown.cg_name,
      display_name: 'incoming',
      remote_pool: listed.remote_pools.find(({ remote_name }) => remote_name === id)!.name,
      policy: snapshot_policy.name,
      new_cg_name: 'incoming copy',
    });
    await until(async () => {
      const { array_mirror_jobs } = await walk.client.call(mirrorJobs.list, {});
      return array_mirror_jobs.some(
        ({ dst, rpo, status }) => dst.cg_display_name === 'incoming copy' && rpo !== null && status === 'Idle',
      );
    }, 'its first snapshot is here');
    return id;
  });

export async function remoteArray(walk: ArrayWalk): Promise<string> {
  return walk.kept('remote array', async () => {
    const found = await walk.client.call(remoteArrays.discover, await introduction(walk, 'remote'));
    return found.remote_array_name;
  });
}

/** What is said to an array that is to be known. */
export async function introduction(walk: ArrayWalk, which: 'remote' | 'acquaintance') {
  return knock((await walk[which]()).configuration);
}

function knock({ management, owner: user, initialPasscode: password }: HostedConfiguration) {
  return { ip: `${management.host}:${management.port}`, user, password };
}

/** A remote array that nothing is mirrored to. */
export async function acquaintance(walk: ArrayWalk): Promise<string> {
  const { remote_array_name } = await walk.client.call(remoteArrays.discover, await introduction(walk, 'acquaintance'));
  return remote_array_name;
}

/** The password of the array's encryption, which is set. */
export const encryptionPassword = (walk: ArrayWalk) =>
  walk.kept('encryption password', async () => {
    const encryption_pwd = 'correct horse battery';
    await walk.client.call(settings.setEncryptionPassword, { encryption_pwd });
    return encryption_pwd;
  });

/** What a call that mirrors a new volume says. */
export async function mirrorRequest(walk: ArrayWalk) {
  const id = await remoteArray(walk);
  const { remote_pools } = await walk.client.call(remoteArrays.listPools, { id });
  return {
    volume_cg_id: await groupOf(walk, await newVolume(walk)),
    display_name: walk.name('mirror'),
    remote_pool: remote_pools[0]!.name,
    policy: await policy(walk),
    new_cg_name: walk.name('copy'),
  };
}

export async function newMirror(walk: ArrayWalk): Promise<string> {
  const { client } = walk;
  const request = await mirrorRequest(walk);
  const { array_mirror_job_name: id } = await client.call(consistencyGroups.mirror, request);
  await until(async () => {
    const { status, rpo } = (await client.call(mirrorJobs.get, { id })).array_mirror_job;
    return status === 'Idle' && rpo !== null;
  }, 'the first snapshot is there');
  return id;
}

export async function mirror(walk: ArrayWalk, isPaused = false): Promise<string> {
  const { client } = walk;
  const id = await walk.kept('mirror', () => newMirror(walk));
  const { status } = (await client.call(mirrorJobs.get, { id })).array_mirror_job;
  if (isPaused && status !== 'Paused') await client.call(mirrorJobs.pause, { id });
  if (!isPaused && status === 'Paused') await client.call(mirrorJobs.continue, { id });
  return id;
}

/** Begins work that goes on after the answer. */
async function submitted<E extends Endpoint>({ client }: ArrayWalk, endpoint: E, input: SentTo<E>): Promise<void> {
  const { code, message } = await client.refused(endpoint, input);
  assert.equal(code, SUBMITTED, message);
}
