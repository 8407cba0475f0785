import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestPortal } from '../testing/portal.ts';

test('an array found at its cloud goes to its owner, and not to another user of that name', async (t) => {
  const portal = await startTestPortal();
  t.after(() => portal.stop());
  const { admin, owner, friend, store, cloud } = portal;
  const [hers, his] = [await portal.array(owner), await portal.array(friend)];
  const uuidOf = (name: string) => [...cloud.hosted].find(([, { spec }]) => spec.name === name)![0];
  const forgotten = uuidOf(his.name);
  // As after an older copy of the database was restored, and another user came by the name of one who left.
  await store.write((tx) => {
    tx.run('UPDATE arrays SET uuid = :gone || id', { gone: 'gone-' });
    tx.run(`UPDATE users SET username = 'swap' WHERE id = :id`, { id: friend.id });
    tx.run('UPDATE users SET username = :name WHERE id = :id', { name: friend.username, id: owner.id });
  });
  const old = cloud.hosted.get(forgotten)!;
  const { owner_uuid: _, ...spec } = old.spec;
  cloud.hosted.set('11111111-1111-4111-8111-111111111111', {
    spec: { ...spec, name: 'older' },
    hosted: { ...old.hosted, uuid: '11111111-1111-4111-8111-111111111111' },
  });
  const { data } = await admin.client.clouds.recoverArrays({ id: 1 });
  const owners = Object.fromEntries(data.map(({ name, owner: whose }) => [name.replace(/-\d+$/, ''), whose]));
  assert.equal(owners['older'], 'admin', 'no more than a name is known');
  const mine = (await friend.client.arrays.list()).data.map(({ name }) => name);
  const theirs = (await owner.client.arrays.list()).data.map(({ name }) => name);
  assert.ok(
    mine.some((name) => name.startsWith(`${his.name}-`)),
    mine.join(),
  );
  assert.ok(!theirs.some((name) => name.startsWith(his.name)), theirs.join());
  assert.ok(
    theirs.some((name) => name.startsWith(`${hers.name}-`)),
    theirs.join(),
  );
});
