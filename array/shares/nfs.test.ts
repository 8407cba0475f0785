import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { arrayApi } from '@granary/contract/array';
import { testArray } from '../testing/test-array.ts';
import { mountShare } from './testing/mount.ts';

const { volumes, servers, snapshots, settings, messages, consistencyGroups } = arrayApi.groups;
const BAD_PARAMETER = 7;
const NOT_OFFERED = 10109;
const STATE_CONFLICT = 10100;
const NAME_TAKEN = 10096;

async function setUp(t: TestContext) {
  const array = await testArray(t);
  const { client } = array;
  const pool = await array.pool({ name: 'main' });
  const get = async (id: string) => (await client.call(volumes.get, { id })).volume;
  const share = async (name: string, changes = {}) => {
    const input = { name, pool, capacity: '64M', block: 'NO', ...changes } as never;
    return (await client.call(volumes.create, input)).vol_name;
  };
  const server = async (name: string, changes: object = { iscsi: '127.0.0.0/8' }) =>
    (await client.call(servers.create, { display_name: name, ...changes })).server_name;
  const attach = (volume: string, to: string, changes = {}) =>
    client.call(servers.attachVolumes, { id: to, volume_name: volume, ...changes } as never);
  const mount = (exportName: string, uid = 0) => mountShare(t, array, exportName, uid);
  return { array, client, pool, get, share, server, attach, mount };
}

test('a share is made, attached, written over NFS, and its record tells of it', async (t) => {
  const { array, client, get, share, server, attach, mount } = await setUp(t);
  const id = await share('reports', { smbhiddenfiles: '/*.tmp/', nfsanonuid: 1234 });
  const { host } = array.configuration.management;
  const fresh = await get(id);
  assert.partialDeepStrictEqual(fresh, {
    data_type: 'File-System',
    status: 'Available',
    access_type: null,
    target: null,
    nfs_export_path: `${host}:/export/reports`,
    smb_export_path: `\\\\${host}\\reports`,
    additional_smb_export_paths_count: 0,
    num_of_filesystem_objects: 1,
    mount_sync: 'YES',
    atime_update: 'NO',
    read_ahead_kb: '16',
    nfs_root_squash: 'NO',
    nfs_anon_uid: 1234,
    nfs_anon_gid: 65534,
    smb_hidden_files: '/*.tmp/',
    smb_case_sensitive: 'AUTO',
    smb_enable_oplocks: 'YES',
    uquota_state: 'off',
    virtual_capacity: 0.0625,
  });
  assert.ok(fresh.available_capacity > 0.03 && fresh.available_capacity < 0.0625, String(fresh.available_capacity));
  await assert.rejects(mount('reports'), 'no client may mount it before it is attached');
  const web = await server('web');
  await attach(id, web, { access_type: 'NFS' });
  const files = await mount('reports');
  await files.write('hello.txt', 'over NFS');
  assert.equal(await files.read('hello.txt'), 'over NFS');
  assert.partialDeepStrictEqual(await get(id), {
    status: 'In-use',
    access_type: 'NFS',
    read_only: 'NO',
    lun: null,
    num_of_filesystem_objects: 2,
  });
  const { servers: users } = await client.call(volumes.listServers, { id });
  assert.partialDeepStrictEqual(users, [{ name: web, access_type: 'NFS', read_only: 'NO', lun: null, target: null }]);
  const { sessions } = await client.call(servers.listSessions, { id: web });
  assert.partialDeepStrictEqual(sessions, [{ access_type: 'NFS', target: '/export/reports', initiator: '127.0.0.1' }]);
  await client.call(volumes.setPermissions, { id, server_name: web, read_only: true });
  await assert.rejects(files.write('more.txt', 'x'), /status 30/);
  await client.call(volumes.detach, { id, servers: [web] });
  await assert.rejects(files.read('hello.txt'), /status 13/);
  await array.restart();
  await attach(id, web);
  assert.equal(await (await mount('reports')).read('hello.txt'), 'over NFS');
});

test('what a share cannot be attached by is refused by name', async (t) => {
  const { array, client, pool, share, server, attach } = await setUp(t);
  const id = await share('reports');
  const block = await array.volume(pool);
  const [web, initiator] = [await server('web'), await server('disk', { iqn: 'iqn.2026-01.org.example:disk' })];
  const refused = async (input: object, code: number, words: RegExp) => {
    const failure = await client.refused(servers.attachVolumes, { id: web, volume_name: id, ...input } as never);
    assert.equal(failure.code, code, failure.message);
    assert.match(failure.message, words);
  };
  await refused({ access_type: 'ISCSI' }, BAD_PARAMETER, /access_type must be NFS/);
  await refused({ access_type: 'SMB' }, NOT_OFFERED, /SMB is not served yet/);
  await refused({ lun: 3 }, BAD_PARAMETER, /lun is for block volumes/);
  await refused({ volume_name: block, access_type: 'NFS' }, BAD_PARAMETER, /access_type must be ISCSI/);
  await refused({ id: initiator, access_type: 'NFS' }, STATE_CONFLICT, /has no address/);
  await attach(id, web);
  await attach(block, web);
  const { volumes: attached } = await client.call(servers.listVolumes, { id: web });
  assert.deepEqual(
    attached.map(({ name, lun, access_type }) => [name, lun, access_type]),
    [
      [id, null, 'NFS'],
      [block, 0, 'ISCSI'],
    ],
  );
  await client.call(volumes.update, { id, atimeupdate: true, force: true });
  const { code, message } = await client.refused(volumes.update, { id, smbonly: true, force: true });
  assert.deepEqual([code, /over NFS; detach them first/.test(message)], [BAD_PARAMETER, true]);
});

test('options change what clients see at once; those of the other kind are refused by name', async (t) => {
  const { array, client, pool, get, share, server, attach, mount } = await setUp(t);
  const id = await share('reports');
  await attach(id, await server('web'));
  const files = await mount('reports');
  await files.write('root.txt', 'mine', 0o600);
  assert.equal((await client.refused(volumes.update, { id, nfsrootsquash: true })).code, 10103, 'it is attached');
  const changes = { nfsrootsquash: true, nfsanonuid: 77, mountsync: false, readaheadkb: '256' } as const;
  await client.call(volumes.update, { id, ...changes, force: true });
  assert.partialDeepStrictEqual(await get(id), {
    nfs_root_squash: 'YES',
    nfs_anon_uid: 77,
    mount_sync: 'NO',
    read_ahead_kb: '256',
    atime_update: 'NO',
  });
  await assert.rejects(files.read('root.txt'), /status 13/, 'root is squashed now');
  await files.write('nobody.txt', 'x');
  assert.equal((await files.attributes('nobody.txt')).uid, 77);
  const refused = async (changed: object, words: RegExp) => {
    const failure = await client.refused(volumes.update, { id, force: true, ...changed });
    assert.equal(failure.code, BAD_PARAMETER, failure.message);
    assert.match(failure.message, words);
  };
  await refused({ read_iops_capping: 5 }, /read_iops_capping is for block volumes/);
  await refused({ smbguest: 'YES', smbencryptionmode: 'required' }, /smbguest must be NO/);
  await refused({ smbhiddenfiles: '*.tmp' }, /smbhiddenfiles must be names between slashes/);
  const block = await array.volume(pool);
  await refused({ id: block, atimeupdate: 'YES' }, /atimeupdate is for file shares/);
  await client.call(volumes.update, { id: block, atimeupdate: false, write_iops_capping: 0 });
  const { messages: log } = await client.call(messages.list, {});
  assert.ok(log.some(({ msg_title: title }) => title === `The options of Share reports (${id}) were changed.`));
});

test('export names are unique over the array, changed, added and removed', async (t) => {
  const { client, get, share, server, attach, mount } = await setUp(t);
  const id = await share('reports');
  await attach(id, await server('web'));
  await (await mount('reports')).write('f', 'x');
  const taken = { name: 'second', pool: (await get(id)).pool_name, capacity: '64M', block: 'NO' };
  const create = (export_name: string) => client.refused(volumes.create, { ...taken, export_name } as never);
  assert.equal((await create('REPORTS')).code, NAME_TAKEN, 'SMB knows no case');
  assert.equal((await create('a/b')).code, BAD_PARAMETER);
  assert.equal((await create('..')).code, BAD_PARAMETER);
  const { message } = await client.refused(volumes.create, { ...taken, name: 'docs/x' } as never);
  assert.match(
    message,
    /^export_name must be given: the name "docs\/x" cannot serve as one, which must not contain \//,
  );
  await client.call(volumes.addExportName, { id, exportname: 'figures' });
  assert.equal(await (await mount('figures')).read('f'), 'x');
  assert.equal((await get(id)).additional_smb_export_paths_count, 1);
  assert.equal((await client.refused(volumes.addExportName, { id, exportname: 'figures' })).code, NAME_TAKEN);
  await client.call(volumes.setExportName, { id, exportname: 'numbers' });
  assert.match((await get(id)).nfs_export_path ?? '', /:\/export\/numbers$/);
  await assert.rejects(mount('reports'));
  assert.equal(await (await mount('numbers')).read('f'), 'x');
  assert.equal((await client.refused(volumes.removeExportName, { id, exportname: 'numbers' })).code, BAD_PARAMETER);
  assert.equal((await client.refused(volumes.removeExportName, { id, exportname: 'nothing' })).code, 10097);
  await client.call(volumes.removeExportName, { id, exportname: 'figures' });
  await assert.rejects(mount('figures'));
  const other = await share('second', { export_name: 'reports' });
  assert.equal((await client.refused(volumes.setExportName, { id: other, exportname: 'numbers' })).code, NAME_TAKEN);
});

test('snapshots are shown in .snapshot, a clone is a share of its own, and lists tell the kinds apart', async (t) => {
  const { array, client, pool, get, share, server, attach, mount } = await setUp(t);
  const id = await share('reports');
  const web = await server('web');
  await attach(id, web);
  const files = await mount('reports');
  await files.write('f', 'before');
  const { cg_name: group } = await get(id);
  const { snapshot_name: snapshot } = await client.call(snapshots.create, {
    volume_cg_id: group,
    display_name: 'a/b on monday',
  });
  await files.write('f', 'after!');
  assert.equal(await files.read('.snapshot', 'a-b on monday', 'f'), 'before');
  await client.call(snapshots.rename, { id: snapshot, newname: 'monday' });
  assert.equal(await files.read('.snapshot', 'monday', 'f'), 'before');
  const { cg_name: cloned } = await client.call(consistencyGroups.clone, {
    volume_cg_id: group,
    name: 'reports/copy',
    snapshot,
  });
  const { volumes: found, count } = await client.call(volumes.list, { showonlyfile: true });
  assert.equal(count, 2);
  const clone = found.find(({ cg_name }) => cg_name === cloned)!;
  assert.match(clone.nfs_export_path ?? '', /:\/export\/reports-copy$/);
  await attach(clone.name, web);
  const copy = await mount('reports-copy');
  await copy.write('g', 'own');
  assert.equal(await copy.read('f'), 'before');
  assert.deepEqual(await files.names(), ['f']);
  await client.call(snapshots.delete, { snapshot_id: snapshot });
  await assert.rejects(files.read('.snapshot', 'monday', 'f'), /status 2/);
  const block = await array.volume(pool);
  const only = async (input: object) => (await client.call(volumes.list, input)).volumes.map(({ name }) => name);
  assert.deepEqual(await only({ showonlyblock: true }), [block]);
  assert.deepEqual(await only({ showonlyblock: true, showonlyfile: true }), []);
  const free = await share('unused', { export_name: 'spare' });
  const { volumes: unused } = await client.call(volumes.listFree, {});
  assert.equal(unused.find(({ name }) => name === free)?.export_name, 'spare');
});

test('a share expands while it is used, and is gone for clients once it is in the recycle bin', async (t) => {
  const { client, get, share, server, attach, mount } = await setUp(t);
  const id = await share('reports');
  const web = await server('web');
  await attach(id, web);
  const files = await mount('reports');
  await files.write('f', 'x');
  const before = (await get(id)).available_capacity;
  await client.call(volumes.expand, { id, capacity: 64 });
  const { available_capacity: after, virtual_capacity: size } = await get(id);
  assert.equal(size, 0.0625 + 64);
  assert.ok(after > before, `${after}`);
  await client.call(volumes.detach, { id, servers: [web] });
  await client.call(settings.update, { recycle_bin: true });
  await client.call(volumes.delete, { id });
  await assert.rejects(mount('reports'));
  const again = await share('reports');
  assert.match((await get(again)).nfs_export_path ?? '', /\/export\/reports$/, 'its names are free');
  await client.call(volumes.undelete, { id, new_name: 'reports again' });
  assert.match((await get(id)).nfs_export_path ?? '', /\/export\/reports-2$/, 'a name like the one it had');
  await attach(id, web);
  assert.equal(await (await mount('reports-2')).read('f'), 'x');
  await client.call(volumes.detach, { id, servers: [web] });
  await client.call(volumes.delete, { id });
  await client.call(volumes.deleteFromRecycleBin, { id });
  await client.call(settings.update, { recycle_bin: false });
  await client.call(volumes.delete, { id: again, timeout: -1 });
  assert.equal((await client.call(volumes.list, {})).count, 0);
});
