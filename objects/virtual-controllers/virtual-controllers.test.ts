import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Worker } from 'node:worker_threads';
import { objectsApi } from '@granary/contract/objects';
import { until } from '../../testing/waiting.ts';
import { expect } from '../../protocols/s3/testing/client.ts';
import { testObjects } from '../testing/test-objects.ts';

/**
 * Goal: controllers are threads that come and go with what is ordered, and one that is lost is back by itself.
 * Method: one array with a proxy; a thread of it is ended from outside.
 */
const { virtualControllers, loadBalancerGroups, messages, drives } = objectsApi.groups;

/** Every thread that is started, the newest of a name last. */
const threads: Worker[] = [];
process.on('worker', (worker: Worker) => threads.push(worker));

const objects = await testObjects({ after }, { proxyZones: ['zone_0', 'zone_1'] });
const { client } = objects;
const s3 = () => objects.s3(objects.owner);
expect(await s3().call('PUT', '/photos'), 200);
expect(await s3().call('PUT', '/photos/beach.jpg', { body: 'waves' }), 200);

const list = async () => (await client.call(virtualControllers.list, {})).vcs;
const PROXY = 'proxy';

/** As many fresh connections as reach every controller. */
async function reads(): Promise<Set<string>> {
  const answers = Array.from({ length: 12 }, async () => {
    const fresh = s3();
    const { text } = await fresh.call('GET', '/photos/beach.jpg');
    fresh.close();
    return text;
  });
  return new Set(await Promise.all(answers));
}

test('there is a controller for storage nodes and one for each proxy, the first of them the master', async () => {
  const vcs = await list();
  assert.deepEqual(
    vcs.map(({ vc_index, name }) => [vc_index, name]),
    vcs.map((_, index) => [index, `vsa-00000001-vc-${index}`]),
  );
  const storage = vcs.filter(({ role }) => role === 'proxy+storage');
  assert.ok(storage.length >= 1 && storage.length <= 2);
  assert.equal(vcs.filter(({ role }) => role === PROXY).length, 2);
  assert.deepEqual(
    vcs.map(({ manager_role, lb_state }) => [manager_role, lb_state]),
    vcs.map((_, index) => (index === 0 ? ['ring master', 'master'] : ['ring slave', 'backup'])),
  );
  for (const one of vcs)
    assert.deepEqual(
      [one.status, one.proxy_state, one.integrity, one.fe_ip],
      ['created', 'OBJ_NORMAL', 'normal', objects.configuration.management.host],
    );
});

test('a controller is found by its index and its name, and nothing else is', async () => {
  const [first] = await list();
  assert.ok(first);
  assert.deepEqual((await client.call(virtualControllers.get, { 'vc-index': '0' })).vc, first);
  assert.deepEqual((await client.call(virtualControllers.get, { 'vc-index': first.name })).vc, first);
  for (const id of ['99', '-1', 'vsa-00000002-vc-0'])
    assert.equal((await client.refused(virtualControllers.get, { 'vc-index': id })).code, 50006);
});

test('every drive is looked after by one controller, and shows what is on it', async () => {
  const { count } = await client.call(drives.list, {});
  const served = await Promise.all(
    (await list()).map(async ({ name, role }) => {
      const { disks, count: own } = await client.call(virtualControllers.listDrives, { 'vc-index': name });
      assert.equal(disks.length, own);
      assert.ok(disks.every(({ vc }) => vc === name));
      if (role === PROXY) assert.equal(own, 0);
      return disks;
    }),
  );
  const all = served.flat();
  assert.equal(new Set(all.map(({ name }) => name)).size, count);
  assert.ok(all.some(({ used_capacity }) => used_capacity > 0));
  for (const { used_capacity: used, avail_capacity: free, total_capacity: total } of all)
    assert.ok(Math.abs(used + free - total) < 1e-6);
});

test('the load balancer group is all of them', async () => {
  const vcs = await list();
  const { lbgs, count } = await client.call(loadBalancerGroups.list, {});
  const [group] = lbgs;
  assert.ok(group && count === 1);
  assert.deepEqual(
    [group.name, group.ip_v4, group.ip_v6, group.vcs, group.master_vc],
    ['lbg-1', objects.configuration.management.host, null, vcs.map(({ name }) => name).join(','), vcs[0]?.name],
  );
  assert.deepEqual((await client.call(loadBalancerGroups.get, { name: 'lbg-1' })).lbg, group);
  assert.equal((await client.refused(loadBalancerGroups.get, { name: 'lbg-2' })).code, 50008);
  assert.deepEqual((await client.call(loadBalancerGroups.list, { start: 1, limit: 5 })).lbgs, []);
});

test('a controller that is lost is reported, others serve meanwhile, and it is back by itself', async () => {
  const [, lost] = await list();
  assert.ok(lost);
  const stateOf = async () => (await client.call(virtualControllers.get, { 'vc-index': lost.name })).vc.status;
  const thread = threads.findLast(({ threadName }) => threadName === lost.name);
  assert.ok(thread, 'its thread is known');
  await thread.terminate();
  assert.equal(await stateOf(), 'failed');
  assert.deepEqual(await reads(), new Set(['waves']));
  await until(async () => (await stateOf()) === 'created', 'it is back');
  assert.deepEqual(await reads(), new Set(['waves']));
  const { messages: recorded } = await client.call(messages.list, { severity: 3 });
  assert.ok(recorded.some(({ msg_title }) => msg_title.startsWith(`Controller ${lost.name} was lost (`)));
});

test('when the master is lost, another speaks for the group', async () => {
  const masterOf = async () => (await client.call(loadBalancerGroups.get, { name: 'lbg-1' })).lbg.master_vc;
  const first = await masterOf();
  await threads.findLast(({ threadName }) => threadName === first)?.terminate();
  assert.notEqual(await masterOf(), first);
  await until(async () => (await masterOf()) === first, 'it is back');
});

test('proxies are removed, the last first; more than there are, or of another region, are refused', async () => {
  const proxies = async () => (await list()).filter(({ role }) => role === PROXY).length;
  const many = await client.refused(virtualControllers.removeProxies, { quantity: 3 });
  assert.deepEqual([many.code, many.message], [50100, 'The array has 2 proxy controllers; ask for at most that many.']);
  const far = await client.refused(virtualControllers.removeProxies, { quantity: 1, region_id: 2 });
  assert.equal(far.code, 50100);
  assert.equal(await proxies(), 2);
  await client.call(virtualControllers.removeProxies, { quantity: 1, timeout: -1 });
  assert.equal(await proxies(), 1);
  await client.call(virtualControllers.removeProxies, { quantity: 1, region_id: 1, timeout: -1 });
  assert.equal(await proxies(), 0);
  assert.deepEqual(await reads(), new Set(['waves']));
  assert.equal((await client.refused(virtualControllers.removeProxies, { quantity: 1 })).code, 50100);
});
