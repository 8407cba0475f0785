import assert from 'node:assert/strict';
import { test } from 'node:test';
import { arrayApi } from '@granary/contract/array';
import { snapshotsAlone } from '../snapshots/testing/snapshots-alone.ts';
import { testArray } from '../testing/test-array.ts';
import { snapshotPolicyRoutes } from './routes.ts';

const { snapshotPolicies, volumes } = arrayApi.groups;
const BAD_PARAMETER = 7;
const POLICY_NOT_FOUND = 10084;
const NAME_TAKEN = 10096;
const CONFLICT = 10100;

/** The one that is called here. */
interface Routes {
  detach(input: object, context: object): Promise<unknown>;
}

test('policies are attached, paused, resumed and detached, and say so', async (t) => {
  const array = await testArray(t, { drives: 2 });
  const { client } = array;
  const id = await array.volume(await array.pool());
  const { cg_name } = (await client.call(volumes.get, { id })).volume;
  const created = await client.call(snapshotPolicies.create, {
    display_name: 'Nightly',
    create_policy: '0 2 * * *',
    delete_policy: 'N3',
  });
  const { created_at, modified_at, ...shown } = created.snapshot_policy;
  assert.match(created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+0000$/);
  assert.equal(modified_at, created_at);
  assert.deepEqual(shown, {
    name: shown.name,
    display_name: 'Nightly',
    create_policy: '0 2 * * *',
    delete_policy: 'N3',
    destination_delete_policy: null,
    paused: 'NO',
    create_empty: 'NO',
    attach: 'NO',
    destination: null,
    type: null,
    snapshot_rule: null,
  });
  const policy = shown.name;
  const { snapshot_rule_name: rule } = await client.call(snapshotPolicies.attach, { id, policy, application: 'user' });
  const attached = async () =>
    (await client.call(snapshotPolicies.listOfGroup, { volume_cg_id: cg_name })).snapshot_policies;
  assert.partialDeepStrictEqual(await attached(), [
    { name: policy, snapshot_rule: rule, paused: 'NO', type: 'user', attach: 'YES' },
  ]);
  const again = await client.refused(snapshotPolicies.attach, { id, policy, application: 'user' });
  assert.equal(again.code, CONFLICT);
  const history = await client.refused(snapshotPolicies.attach, { id, policy, application: 'file_history' });
  assert.match(`${history.code} ${history.message}`, /^10100 .* is a block volume/);
  assert.equal((await client.refused(snapshotPolicies.delete, { id: policy })).code, CONFLICT);
  await client.call(snapshotPolicies.pause, { snaprule: rule });
  assert.equal((await attached())[0]?.paused, 'YES');
  assert.equal((await client.call(snapshotPolicies.get, { id: policy })).snapshot_policy.paused, 'YES');
  await client.call(snapshotPolicies.resume, { snaprule: rule });
  const changed = await client.call(snapshotPolicies.update, { id: policy, delete_policy: '', empty: true });
  assert.partialDeepStrictEqual(changed.snapshot_policy, {
    delete_policy: null,
    create_empty: 'YES',
    create_policy: '0 2 * * *',
  });
  for (const bad of [{ create_policy: '0 25 * * *' }, { delete_policy: 'N0' }, { create_policy: 'often' }]) {
    assert.equal((await client.refused(snapshotPolicies.update, { id: policy, ...bad })).code, BAD_PARAMETER);
  }
  assert.equal(
    (await client.refused(snapshotPolicies.update, { id: policy, display_name: 'Hourly for a Day' })).code,
    NAME_TAKEN,
  );
  await client.call(snapshotPolicies.detach, { id, snaprule: rule, delete_snapshots: true });
  assert.deepEqual(await attached(), []);
  assert.equal((await client.refused(snapshotPolicies.pause, { snaprule: rule })).code, POLICY_NOT_FOUND);
  assert.deepEqual(await client.call(snapshotPolicies.delete, { id: policy }), {
    status: 0,
    snapshot_policy_name: policy,
  });
  assert.equal((await client.call(snapshotPolicies.list, {})).count, 3);
});

test('a policy is detached with its snapshots unless one is needed, by force all the same', async (t) => {
  const alone = await snapshotsAlone(t);
  const { policies, snapshots, store } = alone.array;
  const volume = await alone.volume('data');
  const { policies: known } = policies.list({ start: 0, limit: 1 });
  const rule = await policies.attach(volume.name, known[0]!.name, 'user', 'tester');
  const take = async (displayName: string) =>
    (await snapshots.take([volume], { displayName, application: 'user', rule, policy: known[0]!.name }, 'tester'))[0]!;
  const [needed] = [await take('one'), await take('two')];
  const cloning = Promise.withResolvers<undefined>();
  const clone = snapshots.using(needed.name, () => cloning.promise);
  const detach = (isForced: boolean) =>
    policies.detach(volume.name, rule, { deletesSnapshots: true, isForced }, 'tester');
  await assert.rejects(detach(false), { entry: 'state_conflict', message: /being cloned/ });
  assert.deepEqual(alone.names(), ['one', 'two']);
  await detach(true);
  cloning.resolve(undefined);
  await clone;
  assert.deepEqual(alone.names(), ['one']);
  assert.equal(store.read((db) => db.all('SELECT 1 FROM snapshot_rules')).length, 0);
});

test('the snapshots of a policy that is detached are deleted only when that is asked for', async (t) => {
  const alone = await snapshotsAlone(t);
  const { policies, snapshots } = alone.array;
  const routes = snapshotPolicyRoutes(policies) as unknown as Routes;
  const volume = await alone.volume('data');
  const policy = policies.list({ start: 0, limit: 1 }).policies[0]!.name;
  const detachAfter = async (displayName: string, delete_snapshots: boolean) => {
    const rule = await policies.attach(volume.name, policy, 'user', 'tester');
    await snapshots.take([volume], { displayName, application: 'user', rule, policy }, 'tester');
    const actor = { username: 'tester' };
    await routes.detach({ id: volume.name, snaprule: rule, delete_snapshots, force: false }, { actor });
    return alone.names();
  };
  assert.deepEqual(await detachAfter('kept', false), ['kept']);
  assert.deepEqual(await detachAfter('deleted', true), ['kept'], 'and no others');
});
