import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { quotasAlone } from '../quotas/testing/quotas-alone.ts';

const PAGE = { start: 0, limit: 0 };
const group = (name: string, nfsGid: number) => ({ name, nfsGid, smb: false });

test('the engine knows users by number, with the numbers of all their groups, also after a restart', async (t) => {
  const alone = await quotasAlone(t);
  const { nas } = alone.array;
  await nas.createGroup(group('staff', 100), 'dana');
  await nas.createGroup(group('lab', 200), 'dana');
  await nas.createGroup({ name: 'windows', smb: true }, 'dana');
  await nas.createUser({ username: 'jo', nfsUid: 1000, group: 'STAFF', groups: ['lab', 'windows', 'lab'] }, 'dana');
  await nas.createUser({ username: 'win', password: 'correct horse' }, 'dana');
  const known = {
    users: [{ name: 'jo', uid: 1000, groups: [100, 200] }],
    groups: [
      { name: 'lab', gid: 200 },
      { name: 'staff', gid: 100 },
    ],
  };
  assert.deepEqual(alone.shares.accounts, known);
  alone.shares.accounts = undefined;
  await (await alone.restart()).nas.reconcile();
  assert.deepEqual(alone.shares.accounts, known);
  const { users, count } = alone.array.nas.listUsers(PAGE);
  assert.equal(count, 2);
  assert.deepEqual(
    users.map(({ name, primaryGroup: group_name, groups }) => [name, group_name, groups]),
    [
      ['jo', 'staff', ['lab', 'windows']],
      ['win', null, []],
    ],
  );
});

test('names and numbers are unique, groups must exist, and what is refused changes nothing', async (t) => {
  const alone = await quotasAlone(t);
  const { nas } = alone.array;
  await nas.createGroup(group('staff', 100), 'dana');
  await nas.createUser({ username: 'jo', nfsUid: 1000, group: 'staff' }, 'dana');
  const reported = alone.shares.accounts;
  const refusals: [() => Promise<unknown>, RegExp][] = [
    [() => nas.createUser({ username: 'JO', nfsUid: 1001 }, 'dana'), /The name JO is taken/],
    [() => nas.createUser({ username: 'al', nfsUid: 1000 }, 'dana'), /nfs_uid 1000 belongs to user jo/],
    [() => nas.createUser({ username: 'al' }, 'dana'), /^.*nfs_uid or password must be sent/],
    [() => nas.createUser({ username: 'al', nfsUid: 1, group: 'none' }, 'dana'), /groupname names none/],
    [() => nas.createUser({ username: 'al', nfsUid: 1, groups: ['none'] }, 'dana'), /groups names none/],
    [() => nas.createGroup(group('Staff', 101), 'dana'), /The name Staff is taken/],
    [() => nas.createGroup(group('lab', 100), 'dana'), /nfs_gid 100 belongs to group staff/],
    [() => nas.createGroup({ name: 'lab', smb: false }, 'dana'), /nfs_gid or smb=YES must be sent/],
    [() => nas.deleteGroup('staff', 'dana'), /has the members jo; take them out of it first/],
    [() => nas.deleteGroup('lab', 'dana'), /NAS group lab was not found/],
    [() => nas.deleteUser('al', 'dana'), /User al was not found/],
    [() => nas.updateUser({ username: 'al', nfsUid: 7 }, 'dana'), /User al was not found/],
  ];
  for (const [refused, reason] of refusals) await assert.rejects(refused, reason);
  assert.equal(alone.shares.accounts, reported);
  assert.deepEqual([nas.listUsers(PAGE).count, nas.listGroups(PAGE).count], [1, 1]);
});

test('a user is changed in part, and gives its number back when it is deleted', async (t) => {
  const { array, shares } = await quotasAlone(t);
  const { nas } = array;
  await nas.createGroup(group('staff', 100), 'dana');
  await nas.createUser({ username: 'jo', nfsUid: 1000, groups: ['staff'] }, 'dana');
  const changed = await nas.updateUser({ username: 'Jo', nfsUid: 1000, password: 'correct horse' }, 'dana');
  assert.deepEqual([changed.name, changed.uid, changed.groups], ['jo', 1000, ['staff']]);
  await nas.updateUser({ username: 'jo', groups: [] }, 'dana');
  await nas.deleteGroup('staff', 'dana');
  await nas.deleteUser('jo', 'dana');
  assert.deepEqual(shares.accounts, { users: [], groups: [] });
  await nas.createUser({ username: 'al', nfsUid: 1000 }, 'dana');
  assert.deepEqual(array.titles().slice(2, 4), [
    'NAS user jo was changed: number, password.',
    'NAS user jo was changed: groups.',
  ]);
});

test('the password of a user is sealed and in no event', async (t) => {
  const { array, folder } = await quotasAlone(t);
  await array.nas.createUser({ username: 'win', password: 'correct horse' }, 'dana');
  await array.nas.updateUser({ username: 'win', password: 'battery staple' }, 'dana');
  const files = ['array.db', 'array.db-wal'].map((file) => readFileSync(join(folder, file), 'latin1')).join();
  for (const secret of ['correct horse', 'battery staple']) assert.ok(!files.includes(secret));
});
