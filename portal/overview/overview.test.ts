import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { ManualClock } from '@granary/kernel';
import { countArraysByState } from '../arrays/repository.ts';
import { emptySummary, startFakeSummaries } from '../testing/fake-summaries.ts';
import { startTestPortal, type Person } from '../testing/portal.ts';

const HOUR_MS = 3_600_000;
const GB = 2 ** 30;

/** A portal whose arrays say how full they are, at a time that the test moves. */
async function setUp(t: TestContext) {
  const clock = new ManualClock('2031-03-10T12:00:00Z');
  const portal = await startTestPortal({ clock });
  const arrays = await startFakeSummaries();
  t.after(async () => {
    await portal.stop();
    await arrays.stop();
  });
  portal.cloud.managementUrl = arrays.url;
  const overview = async (person: Person) => (await person.client.overview.get()).data;
  const texts = async (person: Person) => (await overview(person)).attention.map(({ text }) => text);
  return { ...portal, clock, arrays, overview, texts, poll: () => portal.services.summaries.poll() };
}

test('an overview holds what the arrays said, and asks none of them, however many there are', async (t) => {
  const { array, friend, overview, poll, arrays } = await setUp(t);
  for (let index = 0; index < 5; index++) await array(friend);
  await poll();
  const { asked } = arrays;
  const { capacity, arrays: count, arrays_by_state, health, attention } = await overview(friend);
  assert.equal(arrays.asked, asked);
  assert.deepEqual(
    [capacity.raw_bytes, capacity.usable_bytes, capacity.pooled_bytes, capacity.used_bytes, capacity.arrays],
    [200 * GB, 100 * GB, 100 * GB, 25 * GB, 5],
  );
  assert.equal(capacity.learnt_at, '2031-03-10 12:00:00 UTC');
  assert.deepEqual([count, arrays_by_state, health, attention], [5, [{ state: 'created', count: 5 }], 'ok', []]);
});

test('a user sees own arrays, own spend and own requests only; an administrator all, and the newest events', async (t) => {
  const { array, owner, friend, otherUser, admin, overview, poll, clock } = await setUp(t);
  await array(friend);
  await owner.client.arrays.create({
    name: 'wish',
    moderate: true,
    provider: 'local',
    engine: 'engine_medium',
    drives: { SSD_10GB: 2 },
  });
  await poll();
  clock.advance(10 * HOUR_MS);
  await poll();
  const [own, others, all] = await Promise.all([overview(friend), overview(otherUser), overview(admin)]);
  assert.deepEqual([own.capacity.arrays, own.requests_waiting, own.events], [1, 0, null]);
  const [spent] = own.spend;
  assert.ok(spent && spent.currency === 'USD' && Number(spent.month) > 0 && Number(spent.hour) > 0);
  assert.deepEqual(
    [others.arrays, others.capacity.raw_bytes, others.capacity.learnt_at, others.filling, others.attention],
    [0, 0, null, [], []],
  );
  assert.deepEqual([Number(others.spend[0]?.month), Number(others.spend[0]?.hour)], [0, 0]);
  assert.equal((await overview(owner)).requests_waiting, 1);
  assert.deepEqual([all.capacity.arrays, all.requests_waiting, all.arrays], [1, 1, 2]);
  assert.equal(all.spend[0]?.month, spent.month);
  assert.ok((all.events?.length ?? 0) > 0);
});

test('what was used last month is not part of this month', async (t) => {
  const { array, friend, overview, clock } = await setUp(t);
  await array(friend);
  clock.set('2031-04-01T00:00:00Z');
  const [spend] = (await overview(friend)).spend;
  assert.equal(Number(spend?.month), 0);
  assert.ok(Number(spend?.last_month) > 0);
});

test('what needs attention is named with its place: first what failed, then what is about to', async (t) => {
  const { array, friend, otherUser, overview, poll, arrays } = await setUp(t);
  const { id, name } = await array(friend);
  const concerns = [
    { severity: 'error', kind: 'raid-groups', id: 'RaidGroup-1', text: 'RAID group RaidGroup-1 is degraded.' },
    { severity: 'warning', kind: 'pools', id: 'pool-00000001', text: 'Pool main is running full.' },
  ] as const;
  arrays.summary = { ...emptySummary, concerns: [...concerns], concern_count: 2 };
  await poll();
  const { attention, attention_count, health } = await overview(friend);
  const place = { array_id: id, array_name: name, product: 'storage_array' };
  assert.deepEqual(
    attention,
    concerns.map((concern) => ({ ...place, ...concern })),
  );
  assert.deepEqual([attention_count, health], [2, 'error']);
  assert.deepEqual((await overview(otherUser)).attention, []);
  arrays.summary = { ...emptySummary, concerns: [concerns[1]], concern_count: 1 };
  await poll();
  assert.equal((await overview(friend)).health, 'warning');
});

test('an array that failed, one that restarts and one that falls silent need attention', async (t) => {
  const { array, friend, texts, overview, poll, cloud, services, clock, arrays } = await setUp(t);
  const [failed, starting, silent] = [await array(friend), await array(friend), await array(friend)];
  await poll();
  cloud.setState(failed.name, 'failed', 'It crashed three times in a minute.');
  cloud.setState(starting.name, 'starting', 'Its process is serving its volumes.');
  await services.watcher.poll();
  arrays.isAway = true;
  clock.advance(HOUR_MS);
  await poll();
  assert.deepEqual(await texts(friend), [
    `Array ${failed.name} failed. It crashed three times in a minute.`,
    `Array ${starting.name} does not answer at the moment. Its process is serving its volumes.`,
    `Array ${silent.name} has not said lately how it is; its figures may be old.`,
  ]);
  const { capacity } = await overview(friend);
  assert.deepEqual([capacity.arrays, capacity.silent_arrays], [3, 1], 'what was known of them still counts');
  assert.equal(capacity.learnt_at, '2031-03-10 12:00:00 UTC');
});

test('an order that was denied is named as that, with the reason, and is no array that failed', async (t) => {
  const { owner, admin, texts, overview, store } = await setUp(t);
  const order = { provider: 'local', engine: 'engine_medium', drives: { SSD_10GB: 2 } };
  await owner.client.arrays.create({ ...order, name: 'wish', moderate: true });
  const [request] = (await owner.client.arrayRequests.list()).data;
  await admin.client.arrayRequests.deny({ id: request!.id, reason: 'out of budget' });
  assert.deepEqual(await texts(owner), ['The order of array wish was denied: out of budget.']);
  const { health, arrays_by_state } = await overview(owner);
  assert.deepEqual([health, arrays_by_state], ['warning', [{ state: 'denied', count: 1 }]]);
  const counts = store.read(countArraysByState);
  assert.deepEqual([...counts], [['storage_array denied', 1]]);
});

test('a cloud that is away and a webhook that fails are named to administrators only', async (t) => {
  const { friend, admin, texts, cloud, services, store, clock } = await setUp(t);
  await services.watcher.poll();
  const { webhook } = await admin.client.webhooks.create({ name: 'on-call', target_url: 'http://127.0.0.1:9/hook' });
  await store.write((tx) =>
    tx.run(`UPDATE webhooks SET failures = 3, last_error = 'connection refused' WHERE id = :id`, { id: webhook.id }),
  );
  await cloud.stop();
  await services.watcher.poll();
  clock.advance(HOUR_MS);
  const [first, second] = await texts(admin);
  assert.match(first ?? '', /^Cloud local does not answer at /);
  assert.match(second ?? '', /^Webhook on-call cannot be delivered, and \d+ events? waits?: connection refused\.$/);
  assert.deepEqual(await texts(friend), []);
});

test('a deleted array takes its figures along, and what was learnt survives a restart of the portal', async (t) => {
  const { array, friend, overview, poll, until, services } = await setUp(t);
  const [kept, gone] = [await array(friend), await array(friend)];
  await poll();
  await friend.client.arrays.delete({ array_id: gone.id });
  await until(gone.id, 'deleted');
  await poll();
  assert.equal((await overview(friend)).capacity.arrays, 1);
  assert.deepEqual([...services.summaries.all().keys()], [kept.id]);
});

test('arrays are ranked by when they will be full, honestly where little is known; others rank their own', async (t) => {
  const { array, friend, otherUser, poll, clock, arrays, overview } = await setUp(t);
  const { id, name } = await array(friend);
  await poll();
  clock.advance(2 * HOUR_MS);
  await poll();
  const rank = async (person: Person) => (await person.client.forecasts.list()).data;
  const [early] = await rank(friend);
  assert.deepEqual([early?.state, early?.note], ['no_history', 'Not enough history: 2 hours of 1 day.']);
  for (let hour = 0; hour < 48; hour++) {
    clock.advance(HOUR_MS);
    arrays.summary = { ...arrays.summary, used_bytes: arrays.summary.used_bytes + Math.round(GB / 24) };
    await poll();
  }
  const [forecast] = await rank(friend);
  assert.deepEqual(
    [forecast?.kind, forecast?.id, forecast?.name, forecast?.state],
    ['array', String(id), name, 'growing'],
  );
  // It had 5 of 20 GB, and takes one a day.
  assert.ok(Math.abs((forecast?.days_likely ?? 0) - 13) < 0.5, String(forecast?.days_likely));
  assert.ok(Math.abs((forecast?.growth_day ?? 0) - GB) < 24);
  assert.deepEqual((await overview(friend)).filling, [forecast]);
  assert.deepEqual(await rank(otherUser), []);
});
