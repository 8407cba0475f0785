import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { arrayApi } from '@granary/contract/array';
import { testArray } from '../testing/test-array.ts';

const { consistencyGroups, migrationJobs, snapshotPolicies, snapshotSets, users, volumes } = arrayApi.groups;
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
