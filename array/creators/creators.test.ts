import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { arrayApi, type CreatedKind } from '@granary/contract/array';
import { Store } from '@granary/kernel';
import { migrations } from '../migrations.ts';
import { testArray } from '../testing/test-array.ts';
import { creatorsOf } from './creators.ts';

const { consistencyGroups, creators, migrationJobs, snapshotPolicies, snapshotSets, snapshots, users, volumes } =
  arrayApi.groups;
const NOT_ALLOWED = 6;

async function setUp(t: TestContext) {
  const array = await testArray(t, { drives: 4 });
  const { client, anybody } = array;
  const { user } = await client.call(users.create, { username: 'jo', password: 'first of jo' });
  const jo = anybody.with({ 'x-access-key': user.access_key });
  const pool = await array.pool();
  const volumeOf = async (owner: typeof jo, name: string) => {
    const { vol_name } = await owner.call(volumes.create, { name, capacity: '10M', pool } as never);
    return (await owner.call(volumes.get, { id: vol_name })).volume;
  };
  return { array, client, jo, pool, volumeOf };
}

test('a user who made a policy does not change how many snapshots of others are kept', async (t) => {
  const { client, jo, volumeOf } = await setUp(t);
  const wanted = { display_name: 'nightly', create_policy: '0 0 * * *', delete_policy: 'N24' };
  const { snapshot_policy: policy } = await jo.call(snapshotPolicies.create, wanted);
  const change = { id: policy.name, delete_policy: 'N1' };
  const attach = async (owner: typeof jo, name: string) => {
    const { name: id } = await volumeOf(owner, name);
    await owner.call(snapshotPolicies.attach, { id, policy: policy.name, application: 'user' });
  };
  await attach(jo, 'mine');
  await jo.call(snapshotPolicies.update, change);
  await attach(client, 'theirs');
  assert.equal((await jo.refused(snapshotPolicies.update, change)).code, NOT_ALLOWED);
  await client.call(snapshotPolicies.update, change);
});

test("a user aborts no migration of another's volume, by whatever name of it", async (t) => {
  const { array, client, jo, volumeOf } = await setUp(t);
  const { cg_name: cg } = await volumeOf(client, 'theirs');
  const to = await array.pool();
  await client.call(consistencyGroups.migrate, { volume_cg_id: cg, poolname: to });
  const { migration_job: job } = await client.call(migrationJobs.get, { migration_cg_id: cg });
  assert.match(job.name, /^mgrjob-/);
  for (const name of [job.name, cg]) {
    for (const operation of [migrationJobs.abort, migrationJobs.pause, migrationJobs.continue])
      assert.equal((await jo.refused(operation, { migration_cg_id: name })).code, NOT_ALLOWED, name);
  }
});

test('a user deletes no clones that another made of a snapshot set', async (t) => {
  const { client, jo, volumeOf } = await setUp(t);
  const { cg_name: cg } = await volumeOf(jo, 'mine');
  await jo.call(snapshotSets.suspend, { snapsetid: 'set', cg: [cg] });
  await jo.call(snapshotSets.createAndResume, { snapsetid: 'set' });
  await client.call(snapshotSets.clone, { snapsetid: 'set' });
  assert.equal((await jo.refused(snapshotSets.deleteClone, { snapsetid: 'set' })).code, NOT_ALLOWED);
  await client.call(snapshotSets.deleteClone, { snapsetid: 'set' });
});

test('users learn which records they may change, by the rule that refuses them the others', async (t) => {
  const { client, jo, pool, volumeOf } = await setUp(t);
  const [mine, theirs] = [await volumeOf(jo, 'mine'), await volumeOf(client, 'theirs')];
  const ask = async (who: typeof jo, kind: CreatedKind, ...names: string[]) =>
    (await who.call(creators.find, { kind, names })).names;
  const both = [mine.name, theirs.name, 'volume-none', mine.name];
  assert.deepEqual(await ask(jo, 'volume', ...both), [mine.name]);
  assert.deepEqual(await ask(client, 'volume', ...both), [mine.name, theirs.name]);
  assert.deepEqual(await ask(jo, 'consistency_group', mine.cg_name, theirs.cg_name), [mine.cg_name]);
  const snapshotOf = async ({ cg_name: volume_cg_id }: typeof mine) => {
    await client.call(snapshots.create, { volume_cg_id, display_name: `of ${volume_cg_id}` });
    const { snapshots: all } = await client.call(snapshots.list, {});
    return all.find(({ display_name: name }) => name === `of ${volume_cg_id}`)?.name ?? '';
  };
  const [first, second] = [await snapshotOf(mine), await snapshotOf(theirs)];
  // What belongs to a volume is its creator's, even where another made it.
  assert.deepEqual(await ask(jo, 'snapshot', first, second), [first]);

  // The answer follows what makes the rule refuse.
  const wanted = { display_name: 'nightly', create_policy: '0 0 * * *', delete_policy: 'N24' };
  const { snapshot_policy: policy } = await jo.call(snapshotPolicies.create, wanted);
  assert.deepEqual(await ask(jo, 'snapshot_policy', policy.name), [policy.name]);
  await client.call(snapshotPolicies.attach, { id: theirs.name, policy: policy.name, application: 'user' });
  assert.deepEqual(await ask(jo, 'snapshot_policy', policy.name), []);
  await jo.refused(creators.find, { kind: 'volume', names: Array.from({ length: 101 }, (_, at) => `volume-${at}`) });
  await jo.refused(creators.find, { kind: pool as never, names: [mine.name] });
});

test('who may change a policy takes a few statements, however many volumes it is attached to', async (t) => {
  const store = new Store(':memory:', migrations);
  t.after(() => store.close());
  await store.write((tx) => {
    tx.run(
      `INSERT INTO snapshot_policies (name, display_name, create_policy, create_empty, is_default, created_at, modified_at)
       VALUES ('policy-1', 'nightly', '0 0 * * *', 0, 1, 0, 0)`,
    );
    for (let number = 1; number <= 200; number += 1)
      tx.run(
        `INSERT INTO snapshot_rules (name, policy, volume, application, created_at, modified_at)
         VALUES (:rule, 'policy-1', :volume, 'user', 0, 0)`,
        { rule: `rule-${number}`, volume: `volume-${number}` },
      );
  });
  store.read((db) => {
    const [get, all] = [t.mock.method(db, 'get'), t.mock.method(db, 'all')];
    assert.deepEqual(new Set(creatorsOf(db, 'snapshot_policy', 'policy-1')), new Set([null]));
    const statements = get.mock.callCount() + all.mock.callCount();
    assert.ok(statements > 0 && statements < 10, `${statements} statements`);
  });
});
