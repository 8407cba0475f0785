import { until } from '../../testing/waiting.ts';
import type { Operation, Param } from '@granary/contract';
import type { Values } from '../../kernel/http/testing/encodings.ts';
import * as things from './things.ts';
import type { Caller, ArrayWalk } from './walk.ts';

/** What an operation needs to be there before a call of it can succeed: returns parameters that name it. */
type Prepare = (walk: ArrayWalk, caller: Caller) => Values | Promise<Values>;

const nothing: Prepare = () => ({});
const page: Prepare = () => ({ start: 0, limit: 10 });
/** A list that has something to show. */
const pageWith =
  (thing: (walk: ArrayWalk) => Promise<unknown>): Prepare =>
  async (walk) => {
    await thing(walk);
    return { start: 0, limit: 10 };
  };

/** The thing as `id`, or under the name the operation has for it. */
const as =
  (key: string, thing: (walk: ArrayWalk) => Promise<string>): Prepare =>
  async (walk) => ({ [key]: await thing(walk) });
const id = (thing: (walk: ArrayWalk) => Promise<string>) => as('id', thing);
const paged =
  (thing: (walk: ArrayWalk) => Promise<string>): Prepare =>
  async (walk) => ({ id: await thing(walk), start: 0, limit: 10 });
type Measured = 'drives' | 'raidGroups' | 'pools' | 'volumes' | 'servers' | 'controllers';

/** Once there is a point to show: none is from before it was made. */
const measured =
  (group: Measured, thing: (walk: ArrayWalk) => Promise<string>): Prepare =>
  async (walk) => {
    const measure = { id: await thing(walk), interval: 1 };
    const endpoint = walk.api[group].performance as typeof walk.api.volumes.performance;
    await until(async () => (await walk.client.call(endpoint, measure)).count > 0, 'a point');
    return measure;
  };

const freeDrive = (walk: ArrayWalk) => walk.freeDrive();
const controller = async ({ array }: ArrayWalk) => Promise.resolve(`${array.configuration.internalName}-vc-0`);
const cg = async (walk: ArrayWalk) => things.groupOf(walk, await things.volume(walk));
const newCg = async (walk: ArrayWalk) => things.groupOf(walk, await things.newVolume(walk));

/** Nothing is posted to it: no event is so severe. */
const newWebhook = async (walk: ArrayWalk) => {
  const { client, api } = walk;
  // Their number is limited.
  const { webhooks } = await client.call(api.webhooks.list, { start: 5 });
  for (const { id } of webhooks) await client.call(api.webhooks.delete, { id });
  return { name: walk.name('hook'), target_url: 'http://127.0.0.1:9/hooks', severity: 0 };
};

const webhook: Prepare = async (walk) => {
  const { webhook: made } = await walk.client.call(walk.api.webhooks.create, await newWebhook(walk));
  return { id: made.id };
};

/** Each is in one category only. */
const extension = (walk: ArrayWalk) => walk.name('x').replaceAll(/\W/g, '');

const newUser: Prepare = async (walk) => {
  const name = walk.name('user');
  await walk.client.call(walk.api.users.create, { username: name, password: 'correct horse' });
  return { name };
};

const { encryptionPassword } = things;

/** The same four operations on the tags of anything. */
function tags(of: string, thing: (walk: ArrayWalk) => Promise<string>): Record<string, Prepare> {
  const tagged: Prepare = async (walk) => {
    const [target, key] = [await thing(walk), walk.name('key')];
    await walk.client.call(walk.api[of as 'poolTags'].create, { id: target, key, value: 'web team' });
    return { id: target, tag_key: key };
  };
  return {
    [`${of}.list`]: async (walk, caller) => {
      const { id: target } = await tagged(walk, caller);
      return { id: target, start: 0, limit: 10 };
    },
    [`${of}.create`]: async (walk) => ({ id: await thing(walk), key: walk.name('key'), value: 'web team' }),
    [`${of}.update`]: async (walk, caller) => ({ ...(await tagged(walk, caller)), value: 'mail team' }),
    [`${of}.delete`]: tagged,
  };
}

/** One for each operation that is served; the tests that walk them fail by name for one that is missing. */
export const preparations: Readonly<Record<string, Prepare>> = {
  'sessions.create': (_, { username, password }) => ({ username, password }),
  'sessions.getCurrent': nothing,
  'sessions.deleteCurrent': nothing,
  'sessions.list': () => ({ start: 0, limit: 10 }),
  'sessions.delete': async ({ client, api }, { username, password }) => {
    const { session } = await client.call(api.sessions.create, { username, password });
    return { id: session.id };
  },
  'settings.getSessions': nothing,
  'settings.setSessions': nothing,
  'users.login': (_, { username, password }) => ({ user: username, password }),
  'users.list': page,
  'users.create': (walk) => ({ username: walk.name('user'), email: 'jo@example.org', password: 'correct horse' }),
  'users.update': async (walk, caller) => ({ ...(await newUser(walk, caller)), email: 'jo@example.org' }),
  'users.delete': newUser,
  'users.changePassword': (_, { password }) => ({ password, new_password: password }),
  'users.resetAccessKey': async (walk, caller) => ({ ...(await newUser(walk, caller)), password: 'correct horse' }),

  'drives.list': page,
  'drives.get': id(freeDrive),
  'drives.listFree': page,
  'drives.rename': async (walk) => ({ id: await walk.freeDrive(), newname: walk.name('drive') }),
  'drives.remove': id(freeDrive),
  'drives.replace': async (walk) => ({
    id: await things.replaceable(walk),
    toname: await walk.freeDrive(),
    timeout: 60,
  }),
  'drives.shred': async (walk) => ({ id: await things.shredded(walk, false), timeout: 0 }),
  'drives.cancelShred': id((walk) => things.shredded(walk, true)),
  'drives.takeOffline': id((walk) => things.driveInService(walk, true)),
  'drives.bringOnline': id((walk) => things.driveInService(walk, false)),
  'drives.performance': measured('drives', freeDrive),

  'raidGroups.list': pageWith(things.group),
  'raidGroups.get': id(things.group),
  'raidGroups.listFree': pageWith((walk) => things.spareGroup(walk, false)),
  'raidGroups.create': async (walk) => ({
    display_name: walk.name('group'),
    protection: 'RAID1',
    disk: await walk.freeDrives(2),
    stripe_size: 64,
  }),
  'raidGroups.delete': id((walk) => walk.array.group()),
  'raidGroups.listDrives': paged(things.group),
  'raidGroups.rename': async (walk) => ({ id: await things.group(walk), newname: walk.name('group') }),
  'raidGroups.setResyncSpeed': async (walk) => ({ id: await things.group(walk), min: 10, max: 100 }),
  'raidGroups.scrub': async (walk) => ({ id: await things.group(walk), timeout: 60 }),
  'raidGroups.pauseScrub': id(things.scrubbed),
  'raidGroups.addHotSpare': async (walk) => ({
    id: await things.spareGroup(walk, false),
    disk: await walk.freeDrive(),
  }),
  'raidGroups.removeHotSpare': id((walk) => things.spareGroup(walk, true)),
  'raidGroups.performance': measured('raidGroups', things.group),

  'pools.list': pageWith(things.pool),
  'pools.get': id(things.pool),
  'pools.create': async (walk) => ({ display_name: walk.name('pool'), raid_groups: [await walk.array.group()] }),
  'pools.delete': id(things.emptyPool),
  'pools.rename': async (walk) => ({ id: await things.pool(walk), new_name: walk.name('pool') }),
  'pools.listRaidGroups': paged(things.pool),
  'pools.listVolumes': async (walk) => {
    await things.volume(walk);
    return { id: await things.pool(walk), start: 0, limit: 10 };
  },
  'pools.expand': async (walk) => {
    const { id: narrow, raidGroup } = await things.elastic(walk, false);
    return { id: narrow, raid_groups: [raidGroup] };
  },
  'pools.shrink': async (walk) => {
    const { id: wide, raidGroup } = await things.elastic(walk, true);
    return { id: wide, raid_group: raidGroup, timeout: 60 };
  },
  'pools.cancelShrink': id(things.shrinking),
  'pools.setSsdCoolOff': async (walk) => ({ id: await things.pool(walk), cool_off_hours: 24 }),
  'pools.updateProtection': async (walk) => ({ id: await things.emptyPool(walk), alertmode: 120, emergencymode: 0 }),
  'pools.listDestinationVolumes': paged(things.poolWithDestination),
  'pools.toggleCache': async (walk) => ({ id: await things.pool(walk), command: 'enable', cowcache: true }),
  'pools.setCowCache': async (walk) => ({ id: await things.pool(walk), cowcache: false }),
  'pools.listRecycleBin': async (walk) => {
    await things.binned(walk);
    return { id: await things.pool(walk), start: 0, limit: 10 };
  },
  'pools.performance': measured('pools', things.pool),
  ...tags('poolTags', things.pool),

  'volumes.list': async (walk) => {
    await things.volume(walk);
    return { start: 0, limit: 10, showonlyblock: true, display_name: 'volume' };
  },
  'volumes.get': id(things.volume),
  'volumes.listFree': pageWith(things.volume),
  'volumes.create': async (walk) => ({
    name: walk.name('volume'),
    capacity: '10M',
    pool: await things.pool(walk),
    read_iops_capping: 1000,
  }),
  'volumes.update': async (walk) => ({ id: await things.volume(walk), write_mbps_capping: 100, force: true }),
  'volumes.delete': id(things.newVolume),
  'volumes.rename': async (walk) => ({ id: await things.volume(walk), new_name: walk.name('volume') }),
  'volumes.expand': async (walk) => ({ id: await things.volume(walk), capacity: '1M' }),
  'volumes.updateComment': async (walk) => ({ id: await things.volume(walk), new_comment: 'Quarterly reports' }),
  'volumes.listServers': paged(async (walk) => (await things.attached(walk)).id),
  'volumes.detach': async (walk) => {
    const { id: used, server } = await things.attached(walk);
    return { id: used, servers: [server] };
  },
  'volumes.setPermissions': async (walk) => {
    const { id: used, server } = await things.attached(walk);
    return { id: used, server_name: server, read_only: true };
  },
  'volumes.setExportName': async (walk) => ({ id: await things.share(walk), exportname: walk.name('export') }),
  'volumes.addExportName': async (walk) => ({ id: await things.newShare(walk), exportname: walk.name('export') }),
  'volumes.removeExportName': (walk) => things.exportedTwice(walk),
  'volumes.deleteFromRecycleBin': id(things.binned),
  'volumes.undelete': async (walk) => ({ id: await things.binned(walk), new_name: walk.name('volume') }),
  'volumes.updateProtection': async (walk) => ({ id: await things.volume(walk), alertmode: 60, emergencymode: 0 }),
  'volumes.updatePerformanceThresholds': async (walk) => ({ id: await things.volume(walk), read_iops_limit: 1000 }),
  'volumes.listFileHistory': paged(things.withFileHistory),
  'volumes.deleteFileHistory': as('volume_id', things.withFileHistory),
  'volumes.performance': measured('volumes', things.volume),
  ...tags('volumeTags', things.volume),

  'snapshots.list': pageWith(things.newSnapshot),
  'snapshots.listOfGroup': async (walk) => {
    const volume_cg_id = await cg(walk);
    await walk.client.call(walk.api.snapshots.create, { volume_cg_id, display_name: walk.name('snapshot') });
    return { volume_cg_id, start: 0, limit: 10, application: 'user' };
  },
  'snapshots.get': id(things.newSnapshot),
  'snapshots.create': async (walk) => ({ volume_cg_id: await newCg(walk), display_name: walk.name('snapshot') }),
  'snapshots.rename': async (walk) => ({ id: await things.newSnapshot(walk), newname: walk.name('snapshot') }),
  'snapshots.delete': as('snapshot_id', things.newSnapshot),
  'snapshotPolicies.list': page,
  'snapshotPolicies.listOfGroup': async (walk) => {
    const { id: ruled } = await things.rule(walk);
    return { volume_cg_id: await things.groupOf(walk, ruled), start: 0, limit: 10 };
  },
  'snapshotPolicies.get': id(things.policy),
  'snapshotPolicies.create': (walk) => ({
    display_name: walk.name('policy'),
    create_policy: '0 0 * * *',
    delete_policy: 'N24',
  }),
  'snapshotPolicies.update': async (walk) => ({ id: await things.policy(walk), delete_policy: 'N7' }),
  'snapshotPolicies.delete': id(things.newPolicy),
  'snapshotPolicies.attach': async (walk) => ({
    id: await things.newVolume(walk),
    policy: await things.policy(walk),
    application: 'user',
  }),
  'snapshotPolicies.detach': (walk) => things.rule(walk),
  'snapshotPolicies.pause': as('snaprule', async (walk) => (await things.rule(walk)).snaprule),
  'snapshotPolicies.resume': as('snaprule', async (walk) => (await things.rule(walk, true)).snaprule),
  'snapshotSets.suspend': (walk) => things.suspension(walk),
  'snapshotSets.createAndResume': as('snapsetid', things.suspendedSet),
  'snapshotSets.clone': as('snapsetid', (walk) => things.takenSet(walk)),
  'snapshotSets.deleteClone': as('snapsetid', (walk) => things.takenSet(walk, true)),
  'snapshotSets.delete': as('snapsetid', (walk) => things.takenSet(walk)),
  'snapshotSets.cancelSuspend': as('snapsetid', things.suspendedSet),

  'consistencyGroups.clone': async (walk) => ({ volume_cg_id: await cg(walk), name: walk.name('clone') }),
  'consistencyGroups.migrate': async (walk) => ({
    volume_cg_id: await newCg(walk),
    poolname: (await things.elastic(walk, true)).id,
    timeout: 60,
  }),
  'consistencyGroups.mirror': async (walk) => ({ ...(await things.mirrorRequest(walk)), timeout: 60 }),
  'migrationJobs.get': as('migration_cg_id', (walk) => things.migration(walk, true)),
  'migrationJobs.pause': as('migration_cg_id', (walk) => things.migration(walk, false)),
  'migrationJobs.continue': as('migration_cg_id', (walk) => things.migration(walk, true)),
  'migrationJobs.abort': as('migration_cg_id', (walk) => things.migration(walk, true)),
  'mirrorJobs.list': pageWith((walk) => things.mirror(walk)),
  'mirrorJobs.get': id((walk) => things.mirror(walk)),
  'mirrorJobs.pause': id((walk) => things.mirror(walk)),
  'mirrorJobs.continue': id((walk) => things.mirror(walk, true)),
  'mirrorJobs.break': id(things.newMirror),
  'mirrorJobs.setRateLimit': async (walk) => ({ id: await things.mirror(walk), limit: 10_240 }),
  'remoteArrays.list': pageWith(things.remoteArray),
  'remoteArrays.get': id(things.remoteArray),
  'remoteArrays.discover': (walk) => things.introduction(walk, 'acquaintance'),
  'remoteArrays.delete': id(things.acquaintance),
  'remoteArrays.listPools': paged(things.remoteArray),

  'servers.list': pageWith(things.server),
  'servers.get': id(things.server),
  'servers.create': (walk) => ({
    display_name: walk.name('server'),
    os: 'Linux',
    iqn: `iqn.2026-01.org.example:${walk.name('new')}`,
    arraychapuser: 'array',
    arraychapsecret: 'twelve chars or so'.slice(0, 12),
  }),
  'servers.update': async (walk) => ({ id: await things.newServer(walk), os: 'Windows', monitoring: false }),
  'servers.delete': id(things.newServer),
  'servers.rename': async (walk) => ({ id: await things.newServer(walk), new_name: walk.name('server') }),
  'servers.listSessions': paged(async (walk) => (await things.connected(walk)).server),
  'servers.closeSession': async (walk) => {
    const { initiator, target } = await things.connected(walk);
    return { initiator, target };
  },
  'servers.listVolumes': paged(async (walk) => (await things.attached(walk)).server),
  'servers.attachVolumes': async (walk) => ({
    id: await things.server(walk),
    volume_name: [await things.newVolume(walk)],
    access_type: 'ISCSI',
  }),
  'servers.performance': measured('servers', things.server),
  ...tags('serverTags', things.server),

  'objectStorageDestinations.list': pageWith(async (walk) => {
    await walk.client.call(walk.api.objectStorageDestinations.create, await things.bucket(walk));
  }),
  'objectStorageDestinations.create': (walk) => things.bucket(walk),
  'quotas.list': async (walk) => ({ id: await things.share(walk), scope: 'user', start: 0, limit: 10 }),
  'quotas.get': async (walk) => ({ id: await things.share(walk), scope: 'user', quota_id: 1000 }),
  'quotas.set': async (walk) => ({
    id: await things.share(walk),
    quotas: [
      { source_id: 1000, source_type: 'user', nas_type: 'uid', limit: '1024' },
      { source_id: 1001, source_type: 'user', nas_type: 'ad', limit: '1024' },
    ],
  }),
  'quotas.setState': async (walk) => ({ id: await things.share(walk), uquota: 'on', gquota: 'off' }),
  'quotas.import': async (walk) => ({
    id: await things.share(walk),
    scope: 'user',
    file_format: 'csv',
    file: { filename: 'quotas.csv', bytes: Buffer.from('id,limit\n1000,1024\n') },
  }),
  'quotaProjects.list': async (walk) => ({ id: (await things.wholeProject(walk)).id, start: 0, limit: 10 }),
  'quotaProjects.create': async (walk) => ({
    id: await things.share(walk),
    display_name: walk.name('project'),
    directories: ['/none'],
    timeout: 60,
  }),
  'quotaProjects.delete': async (walk) => ({
    ...(await things.newProject(walk, await things.share(walk))),
    timeout: 60,
  }),
  'quotaProjects.addDirectory': async (walk) => ({
    ...(await things.newProject(walk, await things.newShare(walk))),
    path: '/',
    timeout: 60,
  }),
  'quotaProjects.removeDirectory': things.wholeProject,
  'auditLogs.getTimeRange': nothing,
  'auditLogs.download': () => ({ from: '2026-01-31 00:00:00' }),
  'fileHistory.restore': things.restorable,
  'volumes.restore': async (walk) => {
    const { id, snapshot } = await things.restorable(walk);
    return { id, snapshot, force: true, timeout: 60 };
  },
  'fileHistory.listRestores': async (walk) => {
    const wanted = await things.restorable(walk);
    await walk.client.call(walk.api.fileHistory.restore, wanted);
    return { id: wanted.id, start: 0, limit: 10 };
  },
  'nasUsers.list': pageWith(things.nasUser),
  'nasUsers.create': async (walk) => ({
    username: walk.name('user'),
    nfs_uid: walk.number(),
    groupname: await things.nasGroup(walk),
  }),
  'nasUsers.update': async (walk) => ({ username: await things.nasUser(walk), password: 'correct horse' }),
  'nasUsers.delete': as('username', things.nasUser),
  'nasGroups.list': pageWith(things.nasGroup),
  'nasGroups.create': (walk) => ({ group_name: walk.name('group'), nfs_gid: walk.number() }),
  'nasGroups.delete': as('groupname', things.nasGroup),
  'fileCategories.list': page,
  'fileCategories.create': (walk) => ({ displayname: walk.name('category'), file_extensions: [extension(walk)] }),
  'fileCategories.update': async (walk) => ({
    category: await things.newCategory(walk),
    file_extensions: [extension(walk), extension(walk)],
  }),
  'fileCategories.rename': async (walk) => ({
    category: await things.newCategory(walk),
    displayname: walk.name('category'),
  }),
  'fileCategories.delete': as('category', things.newCategory),
  'lifecyclePolicies.list': async (walk) => ({
    volume_name: (await things.lifecycleRule(walk)).volume_name,
    first: 0,
    number: 10,
    order_by: 'display_name',
    descend: true,
  }),
  'lifecyclePolicies.listRules': async (walk) => {
    const { id: policy_name, volume_name } = await things.lifecycleRule(walk);
    return { policy_name, volume_name, first: 0, number: 10 };
  },
  'lifecyclePolicies.get': id(things.newLifecyclePolicy),
  'lifecyclePolicies.create': (walk) => ({
    display_name: walk.name('policy'),
    // Names of operators are no names of XML.
    file_selection_criteria: { extension: 'log' },
    whitelist_paths: ['/tmp', '/var/log'],
    use_recycle_bin: true,
    lc_action: 'expire',
  }),
  'lifecyclePolicies.update': async (walk) => ({
    id: await things.newLifecyclePolicy(walk),
    blacklist_paths: ['/keep'],
    enabled: false,
  }),
  'lifecyclePolicies.delete': id(things.newLifecyclePolicy),
  'lifecyclePolicies.setSchedule': () => ({ policy_start_time: 7200, policy_interval: 86_400 }),
  'lifecyclePolicies.scan': async (walk) => ({ volume_name: (await things.lifecycleRule(walk)).volume_name }),
  'lifecyclePolicies.setRecycleBin': nothing,
  'lifecyclePolicies.pause': (walk) => things.lifecycleRule(walk),
  'lifecyclePolicies.resume': (walk) => things.lifecycleRule(walk, true),
  'lifecyclePolicies.attach': async (walk) => ({
    id: await things.newLifecyclePolicy(walk),
    volume_name: await things.newShare(walk),
  }),
  'lifecyclePolicies.detach': (walk) => things.lifecycleRule(walk),
  'controllers.list': page,
  'controllers.listVirtualNetworks': page,
  // Held writes, and groups that lack a drive, are reasons not to.
  'controllers.failover': async (walk) => {
    await things.endSuspensions(walk);
    await things.driveInService(walk, true);
    return {};
  },
  'controllers.setChap': () => ({ host_chap_user: 'array', host_chap_secret: 'twelve bytes' }),
  'controllers.listSessions': paged(async (walk) => (await things.connected(walk)).controller),
  'controllers.performance': measured('controllers', controller),
  'controllers.cachePerformance': measured('controllers', controller),
  'controllers.cacheStats': measured('controllers', controller),
  'changes.watch': () => ({ seconds: 0 }),
  'forecasts.list': () => ({ kind: 'pool', start: 0, limit: 10 }),
  'search.find': () => ({ q: 'daily', limit: 10 }),
  'messages.list': () => ({
    start: 0,
    limit: 10,
    severity: 6,
    attr_key: 'user',
    attr_value: 'dana',
    sort: JSON.stringify([{ property: 'msg_time', direction: 'ASC' }]),
  }),
  'settings.get': nothing,
  'settings.getMetricsToken': nothing,
  'settings.createMetricsToken': nothing,
  'settings.deleteMetricsToken': nothing,
  'webhooks.list': async (walk, caller) => {
    await webhook(walk, caller);
    return { start: 0, limit: 10 };
  },
  'webhooks.create': newWebhook,
  'webhooks.get': webhook,
  'webhooks.update': webhook,
  'webhooks.delete': webhook,
  'webhooks.test': webhook,
  'settings.update': () => ({ suspend_seconds: 10, recycle_bin_hours: 24 }),
  'settings.setEncryptionPassword': async (walk) => {
    const old = await encryptionPassword(walk);
    return { encryption_pwd: old, old_encryption_pwd: old };
  },
  'settings.restoreEncryption': as('encryption_pwd', encryptionPassword),
};

/** Those for which the thing must be prepared anew before each call: what they end does not last by itself. */
export const passing: ReadonlySet<string> = new Set([
  'drives.cancelShred',
  'raidGroups.pauseScrub',
  'pools.cancelShrink',
  'snapshotSets.createAndResume',
  'snapshotSets.cancelSuspend',
  'migrationJobs.pause',
]);

/** The parameters of a call that succeeds: what was prepared, over the examples of what is required. */
export async function validValues(operation: Operation, walk: ArrayWalk, caller: Caller): Promise<Values> {
  const prepare = preparations[operation.id];
  if (!prepare) throw new Error(`${operation.id} has no entry in array/testing/valid-requests.ts; add one`);
  const required = Object.entries(operation.endpoint.params).filter(([, param]) => param.presence === 'required');
  const examples = Object.fromEntries(required.map(([name, param]: [string, Param]) => [name, param.example]));
  return { ...examples, ...(await prepare(walk, caller)) };
}
