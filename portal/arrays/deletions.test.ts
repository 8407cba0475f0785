import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { ManualClock } from '@granary/kernel';
import { until } from '../../testing/waiting.ts';
import { readBill } from '../billing/testing/read-bill.ts';
import { startFakeCloud } from '../testing/fake-cloud.ts';
import { refused, startTestPortal, type TestPortal } from '../testing/portal.ts';

const HOUR_MS = 3_600_000;
const START = '2026-03-01T00:00:00Z';

async function setUp(t: TestContext) {
  const clock = new ManualClock(START);
  const dataDir = mkdtempSync(join(tmpdir(), 'granary-deletions-'));
  const cloud = await startFakeCloud();
  const portal = await startTestPortal({ clock, dataDir, cloud, retentionHours: 24 });
  t.after(async () => {
    await portal.stop();
    await cloud.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });
  return { clock, portal, ...portal };
}

const deleted = async ({ friend, until }: TestPortal, id: number) => {
  await friend.client.arrays.delete({ array_id: id });
  await until(id, 'deleted');
};

/** Waits for work to be done while the portal's clock stands still. */
const purged = (portal: TestPortal, id: number) =>
  until(() => {
    const sql = 'SELECT purged_at FROM arrays WHERE id = :id';
    return portal.store.read((db) => db.get<{ purged_at: number | null }>(sql, { id }))?.purged_at !== null;
  }, 'it is purged');

test('a deleted array is stopped and comes back with its drives, addresses and name', async (t) => {
  const { portal, cloud, clock, friend, services } = await setUp(t);
  const { id, name } = await portal.array(friend);
  const network = await portal.network(friend);
  await friend.client.arrays.addInterface({ array_id: id, virtual_network_id: network });
  await friend.client.arrays.addPublicIp({ array_id: id });
  const { data: before } = await friend.client.arrays.get({ array_id: id });
  const spec = cloud.specOf(name);
  await deleted(portal, id);
  const { data: gone } = await friend.client.arrays.get({ array_id: id });
  assert.deepEqual(
    [gone.undelete_until, gone.management_url, gone.virtual_network_interfaces],
    ['2026-03-02 00:00:00 UTC', null, []],
  );
  const [hosted] = [...cloud.hosted.values()].map((one) => one.hosted);
  assert.deepEqual([hosted?.desired, hosted?.drives.length], ['stopped', 2]);
  assert.deepEqual((await friend.client.arrays.list()).data, []);
  const { data: listed } = await friend.client.arrays.list({ restorable: true });
  assert.deepEqual(
    listed.map((one) => one.id),
    [id],
  );
  clock.advance(24 * HOUR_MS - 1);
  await services.deletions.purgeDue();
  const { message } = await friend.client.arrays.undelete({ array_id: id });
  assert.equal(message, `Array ${name} is restoring.`);
  await portal.until(id, 'created');
  const { data: after } = await friend.client.arrays.get({ array_id: id });
  assert.deepEqual(after, before);
  assert.deepEqual(cloud.specOf(name), spec);
});

test('when its time is up an array is removed, and nothing brings it back', async (t) => {
  const { portal, cloud, clock, friend, admin, services } = await setUp(t);
  const { id, name } = await portal.array(friend);
  const network = await portal.network(friend);
  await friend.client.arrays.addInterface({ array_id: id, virtual_network_id: network });
  await deleted(portal, id);
  const removal = { id: network, provider_id: 1, vlan: 1000 };
  await refused(friend.client.virtualNetworks.delete(removal), 409, new RegExp(`array ${name} is in it`));
  await refused(admin.client.clouds.delete({ id: 1 }), 409, /in use/);
  clock.advance(24 * HOUR_MS);
  await refused(friend.client.arrays.undelete({ array_id: id }), 409, /gone for good/);
  await services.deletions.purgeDue();
  await purged(portal, id);
  assert.equal(cloud.hosted.size, 0);
  await refused(friend.client.arrays.undelete({ array_id: id }), 409, /gone for good/);
  await refused(admin.client.arrays.purge({ array_id: id }), 409, /was purged already/);
  const { data } = await friend.client.arrays.get({ array_id: id });
  assert.deepEqual([data.status, data.undelete_until], ['deleted', null]);
  await friend.client.virtualNetworks.delete(removal);
});

test('only an administrator purges, at once, and another user finds nothing to undelete', async (t) => {
  const { portal, cloud, friend, otherUser, admin } = await setUp(t);
  const { id } = await portal.array(friend);
  await refused(admin.client.arrays.purge({ array_id: id }), 409, /is created; purging needs it to be deleted/);
  await refused(friend.client.arrays.undelete({ array_id: id }), 409, /needs it to be deleted/);
  await deleted(portal, id);
  await refused(friend.client.arrays.purge({ array_id: id }), 403, /role admin/);
  await refused(otherUser.client.arrays.undelete({ array_id: id }), 404, /no array/);
  await admin.client.arrays.purge({ array_id: id });
  await purged(portal, id);
  assert.equal(cloud.hosted.size, 0);
});

test('a name that was taken since is no reason to lose the array: it comes back under another', async (t) => {
  const { portal, friend } = await setUp(t);
  const { id, name } = await portal.array(friend);
  await deleted(portal, id);
  await portal.array(friend, { name });
  await refused(friend.client.arrays.undelete({ array_id: id }), 409, /is taken; choose another/);
  await friend.client.arrays.undelete({ array_id: id, name: `${name}-again` });
  await portal.until(id, 'created');
  assert.equal((await friend.client.arrays.get({ array_id: id })).data.name, `${name}-again`);
});

test('the operator sets the time, and 0 removes an array at once', async (t) => {
  const { portal, cloud, friend, admin } = await setUp(t);
  assert.deepEqual(await admin.client.settings.getArrayRetention(), { status: 'success', retention_hours: 24 });
  await refused(admin.client.settings.setArrayRetention({ retention_hours: 9000 }), 400, /retention_hours/);
  await refused(friend.client.settings.setArrayRetention({ retention_hours: 1 }), 403, /role admin/);
  const first = await portal.array(friend);
  await deleted(portal, first.id);
  await admin.client.settings.setArrayRetention({ retention_hours: 5 });
  assert.equal((await admin.client.settings.getArrayRetention()).retention_hours, 5);
  await admin.client.settings.setArrayRetention({ retention_hours: 0 });
  const second = await portal.array(friend);
  await deleted(portal, second.id);
  assert.equal(cloud.hosted.size, 1, 'what was deleted before keeps its time');
  const { data } = await friend.client.arrays.get({ array_id: second.id });
  assert.equal(data.undelete_until, null);
  await refused(friend.client.arrays.undelete({ array_id: second.id }), 409, /gone for good/);
});

test('a deletion that the cloud refuses leaves an array that can be deleted again', async (t) => {
  const { portal, cloud, friend } = await setUp(t);
  const { id } = await portal.array(friend);
  cloud.refusal = 'The switch is stuck.';
  await friend.client.arrays.delete({ array_id: id });
  await portal.until(id, 'failed');
  cloud.refusal = undefined;
  await deleted(portal, id);
  await friend.client.arrays.undelete({ array_id: id });
  await portal.until(id, 'created');
});

test('drives are billed until the time is up and not a moment longer, even if the portal was down then', async (t) => {
  const { portal, cloud, clock, dataDir, friend } = await setUp(t);
  const { id } = await portal.array(friend);
  clock.advance(2 * HOUR_MS);
  await deleted(portal, id);
  clock.advance(3 * HOUR_MS);
  await friend.client.arrays.undelete({ array_id: id });
  await portal.until(id, 'created');
  clock.advance(HOUR_MS);
  await deleted(portal, id);
  await portal.stop();
  clock.advance(100 * HOUR_MS);
  const later = await startTestPortal({ clock, dataDir, cloud });
  t.after(() => later.stop());
  await purged(later, id);
  clock.advance(HOUR_MS);
  const window = { start_datetime: '2026-03-01 00:00', end_datetime: '2026-03-31 00:00' };
  const { items } = readBill((await later.friend.client.billing.download(window)).bytes);
  const hours = (item: string) =>
    items.filter((line) => line['item'] === item).reduce((sum, line) => sum + Number(line['hours']), 0);
  assert.equal(hours('drive:SSD_10GB'), 2 + 3 + 1 + 24);
  assert.equal(hours('engine:engine_medium'), 2 + 1);
});

test('a portal that stops in the middle of a deletion or a purge ends it after its next start', async (t) => {
  const { portal, cloud, clock, dataDir, friend, admin } = await setUp(t);
  const [half, whole] = [await portal.array(friend), await portal.array(friend)];
  await deleted(portal, whole.id);
  cloud.isBroken = true;
  await friend.client.arrays.delete({ array_id: half.id });
  await admin.client.arrays.purge({ array_id: whole.id });
  await portal.stop();
  cloud.isBroken = false;
  const later = await startTestPortal({ clock, dataDir, cloud });
  t.after(() => later.stop());
  clock.advance(10_000);
  await later.until(half.id, 'deleted');
  await purged(later, whole.id);
  assert.deepEqual(
    [...cloud.hosted.values()].map(({ spec }) => spec.name),
    [half.name],
  );
  const { data } = await later.friend.client.arrays.get({ array_id: half.id });
  assert.equal(data.undelete_until, '2026-03-02 00:00:00 UTC');
});

test('the array itself says what it holds; one that does not answer may hold anything', async (t) => {
  const { portal, friend, otherUser } = await setUp(t);
  const { id } = await portal.array(friend);
  const { data } = await friend.client.arrays.getContents({ array_id: id });
  assert.equal(data.known, false);
  await refused(otherUser.client.arrays.getContents({ array_id: id }), 404, /no array/);
});
