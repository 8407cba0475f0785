import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient } from '@granary/client';
import { summaryApi } from '@granary/contract';
import { arrayApi } from '@granary/contract/array';
import { until } from '../../testing/waiting.ts';
import type { ControllerReport } from '../engine/report.ts';
import { testArray, type TestArray } from '../testing/test-array.ts';
import { controllerConcerns } from './concerns.ts';

const { drives } = arrayApi.groups;
const GB = 2 ** 30;

function summaryOf({ configuration }: TestArray, key = configuration.internalKey) {
  const client = createClient(summaryApi, { url: configuration.managementUrl, headers: { 'x-access-key': key } });
  return client.summaries.get().then(({ summary }) => summary);
}

test('an array tells its portal how full it is, and nobody else', async (t) => {
  const array = await testArray(t);
  const empty = await summaryOf(array);
  assert.deepEqual([empty.raw_bytes, empty.usable_bytes, empty.concerns], [4 * GB, 0, []]);
  await array.pool({ name: 'gold' });
  const { raw_bytes: raw, usable_bytes: usable, pooled_bytes: pooled, used_bytes: used } = await summaryOf(array);
  assert.ok(raw === 4 * GB && usable > 0 && usable < raw && pooled > 0 && pooled <= usable && used < pooled);
  assert.equal(pooled % 2 ** 20, 0, 'cut as the records are');
  await assert.rejects(summaryOf(array, 'another-key'));
  await assert.rejects(summaryOf(array, array.user.access_key));
});

test('a controller that failed is named while it is down, and for an hour after it was started again', () => {
  const now = Date.UTC(2031, 0, 1);
  const controller = { name: 'vc-0', state: 'standby', failedAt: null } as ControllerReport;
  const textsOf = (changes: Partial<ControllerReport>) =>
    controllerConcerns([{ ...controller, ...changes }], now).map(({ text }) => text);
  assert.deepEqual(textsOf({}), []);
  assert.deepEqual(textsOf({ failedAt: now - 3_600_001 }), []);
  assert.match(textsOf({ failedAt: now - 60_000 }).join(), /vc-0 failed within the last hour and was started again/);
  assert.match(textsOf({ failedAt: now, state: 'failed' }).join(), /vc-0 has failed; the other one serves/);
});

test('a drive that is taken out of service is named, and the RAID group that lacks it', async (t) => {
  const array = await testArray(t);
  await array.pool({ name: 'gold' });
  const { disks } = await array.client.call(drives.list, {});
  const member = disks.find(({ raid_group_name: group }) => group !== null);
  assert.ok(member);
  await array.client.call(drives.takeOffline, { id: member.name });
  const concerns = await until(async () => {
    const { concerns: all, concern_count: count } = await summaryOf(array);
    return count >= 2 && all;
  }, 'the group and the drive are named');
  assert.deepEqual(
    concerns.slice(0, 2).map(({ severity, kind, id }) => [severity, kind, id]),
    [
      ['error', 'raid-groups', member.raid_group_name],
      ['error', 'drives', member.name],
    ],
  );
  // `Failed` is what the array's own pages call it.
  assert.match(
    concerns[1]?.text ?? '',
    /^Drive ssd-\d+ in RAID group .+ was taken out of service and counts as failed\.$/,
  );
});
