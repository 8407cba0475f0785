import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { objectsApi } from '@granary/contract/objects';
import { PASSWORD, testObjects } from './testing/test-objects.ts';

const { accounts, users, drives, virtualControllers, loadBalancerGroups, policies, usageReports, settings } =
  objectsApi.groups;
const { accessLogs, messages } = objectsApi.groups;

const period = { interval: 600, count: 3 };
const proxy = { service: 'proxy', ...period } as const;
const objects = { ...proxy, subserver: 'object' } as const;

interface Iops {
  readonly iops_put: number;
  readonly iops_get: number;
  readonly iops_delete: number;
}

/** How many of each there were. */
function counted(points: readonly Iops[]): number[] {
  const sum = (of: keyof Iops) => Math.round(points.reduce((total, point) => total + point[of] * period.interval, 0));
  return [sum('iops_put'), sum('iops_get'), sum('iops_delete')];
}

const array = await testObjects({ after });

test('messages are texts, and are found by severity and by what they are about', async () => {
  const { client } = array;
  const id = await array.account('webhosting');
  await array.account('backup');
  await client.call(accounts.disable, { account_id: id });
  const { messages: all, count } = await client.call(messages.list, {});
  assert.equal(count, all.length);
  for (const message of all)
    assert.deepEqual(
      Object.values(message).map((value) => typeof value),
      ['string', 'string', 'string', 'string'],
    );
  const titles = async (input: Parameters<typeof client.call<typeof messages.list>>[1]) =>
    (await client.call(messages.list, input)).messages.map(({ msg_title: title }) => title);
  assert.deepEqual(await titles({ severity: 4 }), ['Account webhosting was disabled.']);
  const about = { attr_key: 'account', attr_value: 'webhosting' };
  assert.deepEqual(await titles(about), ['Account webhosting was disabled.', 'Account webhosting was created.']);
  assert.deepEqual(await titles({ ...about, start: 1, limit: 1 }), ['Account webhosting was created.']);
  assert.ok((await titles({ attr_key: 'account' })).includes('Account backup was created.'));
});

test('what is answered is counted for all it concerns, at once and after a restart', async () => {
  const webhosting = await array.account('metered');
  const ada = await array.user(webhosting, 'ada', 'account_admin');
  const mia = await array.user(await array.account('backup2'), 'mia', 'account_admin');
  assert.equal((await array.swift(ada, 'PUT', '/photos')).status, 201);
  for (const name of ['a', 'b', 'c'])
    assert.equal((await array.swift(ada, 'PUT', `/photos/${name}`, { body: 'x'.repeat(1_000) })).status, 201);
  assert.equal((await (await array.swift(ada, 'GET', '/photos/a')).text()).length, 1_000);
  assert.equal((await array.swift(ada, 'DELETE', '/photos/b')).status, 204);
  const done = [3, 1, 1];
  const check = async () => {
    const { client } = array;
    assert.deepEqual(counted((await client.call(accounts.iops, { id: webhosting, ...objects })).objects), done);
    assert.deepEqual(counted((await client.call(users.iops, { id: String(ada.number), ...objects })).objects), done);
    assert.deepEqual(counted((await ada.client.call(users.iops, { id: ada.id, ...objects })).objects), done);
    assert.deepEqual(counted((await client.call(loadBalancerGroups.iops, { id: 'lbg-1', ...proxy })).objects), done);
    assert.deepEqual(counted((await client.call(policies.iops, { id: 'policy-00000001', ...proxy })).objects), done);
    const { vcs } = await client.call(virtualControllers.list, {});
    const served = await Promise.all(
      vcs.map(async ({ name }) =>
        counted((await client.call(virtualControllers.iops, { id: name, ...proxy })).objects),
      ),
    );
    assert.deepEqual(
      served.reduce((sum, one) => sum.map((value, index) => value + one[index]!)),
      done,
    );
    const { objects: bytes } = await client.call(accounts.throughput, { id: webhosting, ...objects });
    const sum = (of: 'throughput_put' | 'throughput_get' | 'throughput_delete') =>
      Math.round(bytes.reduce((total, point) => total + point[of] * period.interval, 0));
    assert.deepEqual([sum('throughput_put'), sum('throughput_get'), sum('throughput_delete')], [3_000, 1_000, 1_000]);
    const { objects: times } = await client.call(accounts.latency, { id: webhosting, ...objects });
    assert.ok(times.some(({ latency_put: put, latency_get: get }) => put > 0 && get > 0));
  };
  await check();
  const { disks } = await array.client.call(drives.list, {});
  const pieces = await Promise.all(
    disks.map(async ({ name, vc }) => {
      const asked = { id: name, vc: vc ?? '', service: 'disk', ...period } as const;
      return counted((await array.client.call(drives.iops, asked)).objects)[0]!;
    }),
  );
  assert.equal(
    pieces.reduce((sum, one) => sum + one),
    6,
    'two copies of three objects',
  );
  await array.restart();
  await check();

  const unknown = 'f'.repeat(32);
  const { client } = array;
  assert.equal((await client.refused(accounts.iops, { id: unknown, ...objects })).code, 50001);
  assert.equal((await client.refused(users.latency, { id: unknown, ...objects })).code, 50003);
  assert.equal((await mia.client.refused(users.iops, { id: ada.id, ...objects })).code, 50003);
  assert.equal((await mia.client.refused(accounts.iops, { id: webhosting, ...objects })).code, 50001);
  assert.equal((await ada.client.call(accounts.iops, { id: webhosting, ...objects })).objects.length > 0, true);
  assert.equal((await client.refused(policies.throughput, { id: 'policy-000000ff', ...proxy })).code, 50007);
  assert.equal((await client.refused(loadBalancerGroups.iops, { id: 'lbg-2', ...proxy })).code, 50008);
  assert.equal((await client.refused(virtualControllers.iops, { id: '9', ...proxy })).code, 50006);
  const disk = { id: disks[0]!.name, service: 'disk', vc: 'nobody' } as const;
  assert.equal((await client.refused(drives.iops, disk)).code, 50006);
  assert.equal((await client.refused(drives.iops, { ...disk, id: 'volume-000000ff' })).code, 50005);
});

test('an account is billed for what it moves and stores, until it is cleaned up', async () => {
  const { client } = array;
  const id = await array.account('billed');
  const ada = await array.user(id, 'ada', 'account_admin');
  await client.call(settings.setTransferPrices, { upload_rate_per_gb: '1000', download_rate_per_gb: '2000' });
  await client.call(policies.update, { name: 'policy-00000001', gb_per_month_cost: '12.5' });
  await array.swift(ada, 'PUT', '/photos');
  await array.swift(ada, 'PUT', '/photos/a', { body: 'x'.repeat(2 ** 20) });
  await (await array.swift(ada, 'GET', '/photos/a')).arrayBuffer();
  const report = async () => (await client.call(usageReports.generate, { account_id: id })).usage;
  const usage = await report();
  const [summary] = usage.account_usage_summary;
  const unitsOf = (type: string) =>
    summary!.usage_summary.filter((item) => item.type === type).map(({ billed_units: units }) => units);
  assert.deepEqual(unitsOf('streaming-bytes'), [0.000976563, 0.000976563]);
  assert.deepEqual([...unitsOf('object_count'), ...unitsOf('container_count')], [1, 1]);
  assert.equal(unitsOf('used_capacity').length, 1);
  assert.equal(summary!.account_header.email, 'ada@example.org');
  const amounts = summary!.usage_summary.map(({ billed_amount: amount }) => amount);
  assert.deepEqual(amounts.slice(0, 2), [0.9765625, 1.953125]);
  const { total_usage_charges: total, policy_capacity_usage_cost_gbmonth: costs } = usage.report_header;
  assert.ok(Math.abs(total - amounts.reduce((sum, amount) => sum + amount)) < 1e-8);
  assert.deepEqual(costs, { 'policy-00000001': 12.5 });
  assert.equal(
    (await client.call(usageReports.generate, {})).usage.account_usage_summary[0]!.account_header.name,
    'objs_admin',
  );
  const custom = { report_time: 'custom', fromdate: '2026-01-02', todate: '2026-01-01' } as const;
  assert.equal((await client.refused(usageReports.generate, custom)).code, 7);
  const own = (await ada.client.call(usageReports.generate, { account_id: id })).usage;
  assert.deepEqual(
    own.account_usage_summary.map(({ account_header: { name } }) => name),
    ['billed'],
  );
  assert.equal((await ada.client.refused(usageReports.generate, { account_id: 'all' })).code, 50001);

  await array.restart();
  assert.ok((await report()).report_header.total_usage_charges >= total);
  await client.call(accounts.delete, { account_id: id, force: true, timeout: -1 });
  const last = (await report()).account_usage_summary[0]!;
  assert.deepEqual(last.usage_summary.map(({ billed_amount: amount }) => amount).slice(0, 2), [0.9765625, 1.953125]);
  assert.equal(last.usage_summary.find(({ type }) => type === 'object_count')!.billed_units, 0);
  await client.call(accounts.cleanUp, { account_id: id, timeout: -1 });
  assert.equal((await client.refused(usageReports.generate, { account_id: id })).code, 50001);
});

test('the access log has management calls and data requests, failed ones too, and no secret', async () => {
  const { client, owner } = array;
  const id = await array.account('logged');
  const ada = await array.user(id, 'ada', 'account_admin');
  await array.swift(ada, 'PUT', '/photos');
  await array.swift(ada, 'PUT', '/photos/a', { body: 'hello' });
  await array.swift(ada, 'GET', '/photos/nothing');
  await array.anonymous.refused(users.authenticate, { account: 'logged', user: 'ada', password: 'Wr0ng-Password' });
  await client.refused(accounts.get, { account_id: 'nobody' });
  const { access_logs: entries, count } = await client.call(accessLogs.list, {});
  assert.equal(count, entries.length);
  const shown = entries.map(({ user, controller, action, params }) => {
    const { status } = JSON.parse(params) as { status: number };
    return `${user ?? '-'} ${controller.replace(/^vsa-.*-vc-\d$/, 'vc')} ${action} ${status}`;
  });
  for (const line of [
    'dana accounts get 50001',
    '- users authenticate 5',
    'dana accounts create 0',
    'ada vc swift PUT object 201',
    'ada vc swift GET object 404',
    '- users usePasswordCode 0',
  ])
    assert.ok(shown.includes(line), `${line} in ${shown.join('\n')}`);
  const object = entries.find(({ action }) => action === 'swift PUT object')!;
  const { bucket, key, bytes_in: bytes, ip } = JSON.parse(object.params) as Record<string, unknown>;
  assert.deepEqual([bucket, key, bytes], ['photos', 'a', 5]);
  assert.match(String(ip), /^127\./);
  const byUser = { limit: 2, page: 1, sort: [{ property: 'user', direction: 'DESC' }] } as const;
  const { access_logs: page } = await client.call(accessLogs.list, { ...byUser, sort: [...byUser.sort] });
  assert.deepEqual(
    page.map(({ user }) => user),
    ['mia', 'mia'],
  );
  assert.equal((await client.refused(accessLogs.list, { limit: 10_001 })).code, 7);
  await array.stop();
  const { folder } = array.configuration;
  const files = readdirSync(folder).filter((name) => name.startsWith('access-log.db'));
  const written = Buffer.concat(files.map((name) => readFileSync(join(folder, name)))).toString('latin1');
  assert.ok(written.includes('photos'));
  for (const secret of [PASSWORD, 'Wr0ng-Password', owner.key, owner.password, ada.token, ada.s3.secret])
    assert.ok(!written.includes(secret), `${secret} is in the log`);
});
