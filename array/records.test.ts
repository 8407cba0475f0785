import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startReceiver } from '../kernel/webhooks/testing/receiver.ts';
import { until } from '../testing/waiting.ts';
import * as things from './testing/things.ts';
import { startWalk } from './testing/walk.ts';

/**
 * Goal: what callers send is kept and shown, or refused by name with nothing changed.
 * Method: parameters of records that no other test is about, through the API of a real array.
 */
const walk = await startWalk({ after });
const { client, array, api } = walk;
const BAD_PARAMETER = 7;
const NOT_OFFERED = 10109;

test('a user has the mail address and the role that the creation says', async () => {
  const { user } = await client.call(api.users.create, {
    username: 'al',
    password: 'correct horse',
    email: 'al@example.org',
    role: 'admin',
  });
  const { user: plain } = await client.call(api.users.create, { username: 'bo', password: 'correct horse' });
  const { users } = await client.call(api.users.list, {});
  const shown = users.filter(({ username }) => ['al', 'bo'].includes(username));
  assert.deepEqual(
    shown.map(({ username, email, role }) => [username, email, role]),
    [
      ['al', 'al@example.org', 'admin'],
      ['bo', null, 'user'],
    ],
  );
  const as = ({ access_key }: { access_key: string }) => array.anybody.with({ 'x-access-key': access_key });
  await as(user).call(api.settings.get, {});
  assert.equal((await as(plain).refused(api.settings.get, {})).code, 6);
});

test('a pool is not expanded by space of an object storage, whichever parameter asks for it', async () => {
  const group = await array.group();
  const id = await array.pool({ groups: [group] });
  const before = await client.call(api.pools.get, { id });
  const raid_groups = [await array.group()];
  for (const wanted of [{ cloud_size: 20 }, { sse: 'AES256' }, { sse: 'AES256', raid_groups }]) {
    const { code, message } = await client.refused(api.pools.expand, { id, ...wanted });
    assert.equal(code, NOT_OFFERED, JSON.stringify(wanted));
    assert.match(message, /^Pools cannot use space of an object storage destination/);
  }
  assert.equal((await client.call(api.pools.get, { id })).pool.capacity, before.pool.capacity);
  assert.equal((await client.call(api.pools.listRaidGroups, { id })).count, 1);
});

test('what a mirror keeps at its destination is set at the creation of a policy and at a change', async () => {
  const wanted = { display_name: walk.name('policy'), create_policy: 'manual', destination_policy: 'N5' };
  const { snapshot_policy: made } = await client.call(api.snapshotPolicies.create, wanted);
  assert.deepEqual([made.destination_delete_policy, made.delete_policy], ['N5', null]);
  const id = made.name;
  for (const [destination_policy, shown] of [
    ['N7', 'N7'],
    ['', null],
  ] as const) {
    await client.call(api.snapshotPolicies.update, { id, destination_policy });
    const { snapshot_policy } = await client.call(api.snapshotPolicies.get, { id });
    assert.equal(snapshot_policy.destination_delete_policy, shown);
  }
  const refused = await client.refused(api.snapshotPolicies.update, { id, destination_policy: 'N0' });
  assert.match(refused.message, /^destination_policy must keep between N1/);
});

test('a rule is paused by the id of the path, and by no other one beside it', async () => {
  const [{ snaprule }, other] = [await things.rule(walk), await things.rule(walk)];
  const refused = await client.refused(api.snapshotPolicies.pause, { snaprule, id: other.snaprule });
  assert.deepEqual(
    [refused.code, refused.message],
    [BAD_PARAMETER, `id must be ${snaprule}, as in the path, or left out.`],
  );
  for (const rule of [snaprule, other.snaprule])
    assert.match((await client.refused(api.snapshotPolicies.resume, { snaprule: rule })).message, /not paused/);
  await client.call(api.snapshotPolicies.pause, { snaprule, id: snaprule });
  await client.call(api.snapshotPolicies.resume, { snaprule });
});

test('a user of shares has the primary group that the creation or a change says', async () => {
  const [staff, guests] = [await things.nasGroup(walk), await things.nasGroup(walk)];
  const username = walk.name('user');
  const { user } = await client.call(api.nasUsers.create, { username, nfs_uid: walk.number(), groupname: staff });
  assert.equal(user.groupname, staff);
  await client.call(api.nasUsers.update, { username, groupname: guests });
  const shown = async () => {
    const { users } = await client.call(api.nasUsers.list, {});
    return users.find((one) => one.username === username)!;
  };
  assert.equal((await shown()).groupname, guests);
  const { code, message } = await client.refused(api.nasUsers.update, { username, groupname: 'nobody', nfs_uid: 9 });
  assert.equal(code, BAD_PARAMETER);
  assert.match(message, /^groupname names nobody/);
  assert.deepEqual([(await shown()).groupname, (await shown()).nfs_uid], [guests, user.nfs_uid]);
});

test('the settings of alerts and mail are kept one by one', async () => {
  const settings = async () => (await client.call(api.settings.get, {})).settings;
  const before = await settings();
  await client.call(api.settings.update, { cpu_usage_alert: 80 });
  assert.deepEqual(await settings(), { ...before, cpu_usage_alert: 80 });
  await client.call(api.settings.update, { mem_usage_alert: 90 });
  assert.deepEqual(await settings(), { ...before, cpu_usage_alert: 80, mem_usage_alert: 90 });
  await client.call(api.settings.update, { smtp_secure: true });
  assert.equal((await settings()).smtp_secure, 'YES');
  const { vcontrollers } = await client.call(api.controllers.list, {});
  assert.deepEqual([vcontrollers[0]!.cpu_usage_alert, vcontrollers[0]!.mem_usage_alert], [80, 90]);
  await client.call(api.settings.update, { cpu_usage_alert: 0, mem_usage_alert: 0, smtp_secure: false });
  assert.deepEqual(await settings(), before);
});

test('the Fibre Channel ports of a server are replaced, added and removed, and refused by name when they are none', async () => {
  const id = await things.newServer(walk);
  const [one, two, three] = ['50:01:43:80:11:36:4f:d1', '50:01:43:80:11:36:4f:d2', '50:01:43:80:11:36:4f:d3'];
  const ports = async () => (await client.call(api.controllers.list, {})).vcontrollers[0]!.wwpn_count;
  const change = async (changes: object) => {
    await client.call(api.servers.update, { id, ...changes });
    return ports();
  };
  assert.equal(await ports(), 0);
  assert.equal(await change({ wwpns: [one, two] }), 2);
  assert.equal(await change({ add_wwpns: [two, three] }), 3);
  assert.equal(await change({ remove_wwpns: [one] }), 2);
  // The one that was removed is free for another server, and no other one is.
  const taken = (wwpn: string) => client.refused(api.servers.create, { display_name: 'fc', wwpns: [wwpn] });
  assert.match((await taken(two)).message, new RegExp(`^WWPN ${two} belongs to server .+ \\(${id}\\)`));
  const { server_name } = await client.call(api.servers.create, { display_name: 'fc', wwpns: [one] });
  await client.call(api.servers.delete, { id: server_name });
  for (const parameter of ['wwpns', 'add_wwpns', 'remove_wwpns']) {
    const { code, message } = await client.refused(api.servers.update, { id, [parameter]: ['50:01:43:80:11:36:4f'] });
    assert.equal(code, BAD_PARAMETER);
    assert.match(message, new RegExp(`^${parameter} must be Fibre Channel port names`));
  }
  assert.equal(await change({ wwpns: [three] }), 1);
});

test('a bucket is on record with its kind, its network and whether it may have rules', async () => {
  const wanted = { type: 'ceph', connectVia: 'public', allow_lifecycle_policies: true } as const;
  const bucket = { ...(await things.bucket(walk)), ...wanted };
  await client.call(api.objectStorageDestinations.create, bucket);
  const { object_storage_destinations: list } = await client.call(api.objectStorageDestinations.list, {});
  const shown = list.find(({ display_name }) => display_name === bucket.name);
  assert.partialDeepStrictEqual(shown, { type: 'ceph', connect_via: 'public', allow_lifecycle_policies: 'YES' });
});

test('a webhook posts to the address it was changed to, and nothing while it is disabled', async () => {
  const [old, next] = [await startReceiver(walk.t), await startReceiver(walk.t)];
  const wanted = { name: 'on-call', target_url: old.url, severity: 6 };
  const { webhook } = await client.call(api.webhooks.create, wanted);
  const { id } = webhook;
  await client.call(api.webhooks.update, { id, target_url: next.url, enabled: false });
  const disabled = (await client.call(api.webhooks.get, { id })).webhook;
  assert.deepEqual([disabled.state, disabled.target_url], ['disabled', next.url]);
  const before = old.requests();
  const name = walk.name('named');
  await client.call(api.servers.create, { display_name: name, iqn: `iqn.2026-01.org.example:${name}` });
  assert.ok((await client.call(api.webhooks.get, { id })).webhook.waiting > 0, 'it waits');
  assert.equal(next.requests(), 0);
  const { webhook: enabled } = await client.call(api.webhooks.update, { id, enabled: true });
  assert.equal(enabled.state, 'enabled');
  await until(() => next.titles().some((title) => title.startsWith(`Server ${name} `)), 'it is posted');
  assert.equal(old.requests(), before);
});

for (const [group, thing] of [
  ['poolTags', things.pool],
  ['volumeTags', things.volume],
  ['serverTags', things.server],
] as const)
  test(`${group}: a tag is made, changed and deleted on the thing that is named, and on no other`, async () => {
    const tags = api[group];
    const id = await thing(walk);
    const other =
      group === 'poolTags'
        ? await array.pool()
        : await (group === 'volumeTags' ? things.newVolume : things.newServer)(walk);
    const shown = async (of: string) =>
      (await client.call(tags.list, { id: of })).tags.map(({ key, value }) => `${key}=${value}`);
    for (const [key, value] of [
      ['owner', 'web'],
      ['rack', '7'],
    ] as const)
      await client.call(tags.create, { id, key, value });
    await client.call(tags.create, { id: other, key: 'owner', value: 'mail' });
    assert.deepEqual((await shown(id)).sort(), ['owner=web', 'rack=7']);
    await client.call(tags.update, { id, tag_key: 'owner', value: 'db' });
    assert.deepEqual((await shown(id)).sort(), ['owner=db', 'rack=7']);
    await client.call(tags.delete, { id, tag_key: 'owner' });
    assert.deepEqual([await shown(id), await shown(other)], [['rack=7'], ['owner=mail']]);
    assert.equal((await client.refused(tags.delete, { id, tag_key: 'owner' })).http, 200);
  });

test('which policy is attached to which share is listed for one policy, from the first record wanted and no more than wanted', async () => {
  const [one, two] = [await things.newLifecyclePolicy(walk), await things.newLifecyclePolicy(walk)];
  const shares = [await things.newShare(walk), await things.newShare(walk)];
  const { attach, listRules } = api.lifecyclePolicies;
  for (const volume_name of shares) await client.call(attach, { id: one, volume_name });
  await client.call(attach, { id: two, volume_name: shares[0]! });
  const of = async (wanted: object) => {
    const { lc_rules, count } = await client.call(listRules, wanted);
    return [count, ...lc_rules.map(({ policy_name, volume_name }) => `${policy_name} ${volume_name}`)];
  };
  const all = shares.map((volume_name) => `${one} ${volume_name}`);
  assert.deepEqual(await of({ policy_name: one }), [2, ...all]);
  assert.deepEqual(await of({ policy_name: two }), [1, `${two} ${shares[0]}`]);
  assert.deepEqual(await of({ policy_name: one, first: 1 }), [2, all[1]]);
  assert.deepEqual(await of({ policy_name: one, number: 1 }), [2, all[0]]);
  assert.deepEqual(await of({ policy_name: one, first: 2, number: 1 }), [2]);
});

test('a file lifecycle policy that is made disabled does not run', async () => {
  const volume_name = await things.newShare(walk);
  const wanted = { display_name: walk.name('policy'), file_selection_criteria: { extension: 'log' } };
  const { create, attach, scan, update } = api.lifecyclePolicies;
  const made = await client.call(create, { ...wanted, lc_action: 'expire', enabled: false });
  assert.equal(made.life_cycle_policy.enabled, 'NO');
  await client.call(attach, { id: made.lc_policy_name, volume_name });
  assert.match((await client.refused(scan, { volume_name })).message, /no file lifecycle policy that runs/);
  await client.call(update, { id: made.lc_policy_name, enabled: true });
  await client.call(scan, { volume_name });
});

test('a change of a file lifecycle policy sets what it selects, where files go and whether they are kept', async () => {
  const id = await things.newLifecyclePolicy(walk);
  const { get, update } = api.lifecyclePolicies;
  const shown = async () => {
    const { life_cycle_policy: policy } = await client.call(get, { id });
    return [policy.file_selection_criteria, policy.use_recycle_bin, policy.action];
  };
  const criteria = JSON.stringify({ extension: { $in: ['log'] } });
  assert.deepEqual(await shown(), [criteria, 'NO', 'expire']);
  await client.call(update, { id, use_recycle_bin: true });
  assert.deepEqual(await shown(), [criteria, 'YES', 'expire']);
  await client.call(update, { id, file_selection_criteria: { size: { $gt: 7 } } });
  assert.deepEqual(await shown(), ['{"size":{"$gt":7}}', 'YES', 'expire']);
  const archive = { id, lc_action: 'archive', use_recycle_bin: false } as const;
  assert.match((await client.refused(update, archive)).message, /^dest_obs_name is required for lc_action=archive/);
  const unknown = await client.refused(update, { ...archive, dest_obs_name: 'obsdst-00009999' });
  assert.match(unknown.message, /obsdst-00009999 was not found/);
  assert.deepEqual(await shown(), ['{"size":{"$gt":7}}', 'YES', 'expire']);
  const made = await client.call(api.objectStorageDestinations.create, await things.bucket(walk));
  await client.call(update, { id, dest_obs_name: made.object_storage_destination.name });
  // It has one now, so that archiving needs nothing more.
  await client.call(update, archive);
  assert.deepEqual(await shown(), ['{"size":{"$gt":7}}', 'NO', 'archive']);
});

test('the volume that a mirror makes at its destination is reduced as the mirror says', async () => {
  const remote = await walk.remote();
  for (const wanted of [
    { dedupe: true, compress: false },
    { dedupe: false, compress: true },
  ]) {
    const request = await things.mirrorRequest(walk);
    await client.call(api.consistencyGroups.mirror, { ...request, ...wanted });
    const { volumes } = await remote.client.call(api.volumes.list, {});
    const made = volumes.find(({ cg_display_name }) => cg_display_name === request.new_cg_name);
    const shown = { dedupe: made?.dedupe === 'YES', compress: made?.compress === 'YES' };
    assert.deepEqual(shown, wanted);
  }
});
