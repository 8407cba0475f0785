import assert from 'node:assert/strict';
import { test } from 'node:test';
import { archiveBucket, lifecycleAlone } from '../testing/lifecycle-alone.ts';
import { policyView } from './view.ts';

test('a policy is shown as it was made, and what is not sent of a change stays', async (t) => {
  const it = await lifecycleAlone(t);
  const { policies } = it.array.lifecycle;
  const criteria = { extension: { $in: ['log'] } };
  const name = await it.policy({ displayName: 'old logs', criteria, whitelist: ['/a/', 'b'], usesBin: true });
  const { created_at, modified_at, ...shown } = policyView(policies.get(name));
  assert.equal(created_at, modified_at);
  const made = {
    name: 'lc-policy-00000001',
    display_name: 'old logs',
    enabled: 'YES',
    dry_run_mode: 'NO',
    use_recycle_bin: 'YES',
    file_selection_criteria: JSON.stringify(criteria),
    whitelist_paths: '/a,/b',
    blacklist_paths: null,
    action: 'expire',
  };
  assert.deepEqual(shown, made);
  await policies.update(name, { isDryRun: true, whitelist: [], blacklist: ['/c'] }, 'tester');
  const { created_at: _, modified_at: __, ...changed } = policyView(policies.get(name));
  assert.deepEqual(changed, { ...made, dry_run_mode: 'YES', whitelist_paths: null, blacklist_paths: '/c' });
});

test('what contradicts itself is refused and changes nothing', async (t) => {
  const it = await lifecycleAlone(t);
  const bucket = await archiveBucket(t, it.array);
  const { policies } = it.array.lifecycle;
  const all = () => policies.list(undefined, { by: 'name', isDescending: false }, { first: 0, number: 0 });
  await assert.rejects(it.policy({ action: 'archive' }), /dest_obs_name is required/);
  await assert.rejects(it.policy({ action: 'archive', destination: 'obsdst-00000099' }), {
    entry: 'destination_not_found',
  });
  const archive = { action: 'archive', destination: bucket.name };
  await assert.rejects(it.policy({ ...archive, usesBin: true }), /use_recycle_bin is for lc_action=expire/);
  await assert.rejects(it.policy({ criteria: { $where: '1' } }), /file_selection_criteria has an operator .*\$where/);
  await assert.rejects(it.policy({ whitelist: ['/../etc'] }), /whitelist_paths must hold paths/);
  assert.equal(all().count, 0);
  const name = await it.policy({ displayName: 'a' });
  await it.policy({ displayName: 'b', ...archive });
  await assert.rejects(it.policy({ displayName: 'a' }), { entry: 'name_taken' });
  await assert.rejects(policies.update(name, { displayName: 'b' }, 'tester'), { entry: 'name_taken' });
  await assert.rejects(policies.update(name, { action: 'archive' }, 'tester'), /dest_obs_name is required/);
  assert.deepEqual([policies.get(name).displayName, policies.get(name).action], ['a', 'expire']);
});

test('policies are listed in any order, of all shares or of one', async (t) => {
  const it = await lifecycleAlone(t);
  const { policies } = it.array.lifecycle;
  const names = [];
  for (const displayName of ['b', 'c', 'a']) names.push(await it.policy({ displayName }));
  const share = await it.share('projects');
  await it.attach(names[1]!, share);
  const listed = (
    by: 'name' | 'display_name',
    isDescending = false,
    volume?: string,
    window = { first: 0, number: 0 },
  ) => {
    const { policies: rows, count } = policies.list(volume, { by, isDescending }, window);
    return [count, ...rows.map(({ displayName }) => displayName)];
  };
  assert.deepEqual(listed('name'), [3, 'b', 'c', 'a']);
  assert.deepEqual(listed('display_name', true), [3, 'c', 'b', 'a']);
  assert.deepEqual(listed('display_name', false, undefined, { first: 1, number: 1 }), [3, 'b']);
  assert.deepEqual(listed('name', false, share), [1, 'c']);
});

test('attach, pause, resume and detach go their way once, and a share that said no keeps to it', async (t) => {
  const it = await lifecycleAlone(t);
  const { policies, scans } = it.array.lifecycle;
  const [share, name] = [await it.share('projects'), await it.policy()];
  assert.equal(scans.factsOf(share), undefined);
  await it.attach(name, share);
  assert.equal(scans.factsOf(share)?.flc_state, 'enabled');
  assert.equal(scans.factsOf(share), scans.factsOf(share), 'the same object until something changes');
  await assert.rejects(it.attach(name, share), /is attached to projects .* already/);
  await assert.rejects(policies.delete(name, 'tester'), /attached to 1 share; detach it first/);
  await policies.setPaused(name, share, true, 'tester');
  await assert.rejects(policies.setPaused(name, share, true, 'tester'), /is paused already/);
  await policies.setPaused(name, share, false, 'tester');
  await assert.rejects(scans.change(share, 'resume', 'tester'), /is enabled; flcenabled=resume needs it to be paused/);
  await policies.detach(name, share, 'tester');
  await assert.rejects(policies.detach(name, share, 'tester'), { entry: 'nothing_to_delete' });
  await assert.rejects(policies.setPaused(name, share, true, 'tester'), /is not attached/);
  await assert.rejects(policies.scan(share, 'tester'), /no file lifecycle policy that runs/);
  await scans.change(share, 'disable', 'tester');
  await assert.rejects(it.attach(name, share), /disabled on share projects .*flcenabled=enable/);
  await assert.rejects(policies.scan(share, 'tester'), /is disabled; enable or resume it first/);
  await scans.change(share, 'enable', 'tester');
  await it.attach(name, share);
  await policies.scan(share, 'tester');
  await it.idle(share);
  assert.ok(it.rule(share)?.lastRunAt);
});
