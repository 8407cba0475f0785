import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { blockOrder, objectOrder, refused, startTestPortal, type Person } from '../testing/portal.ts';

const portal = await startTestPortal();
after(() => portal.stop());

const { admin, owner, otherUser, name } = portal;

/** An order that waits, as its request. */
async function order(person: Person = owner): Promise<{ id: number; name: string; arrayId: number }> {
  const array = name('tank');
  await person.client.arrays.create({ ...blockOrder, name: array, moderate: true });
  const { data } = await person.client.arrayRequests.list({ status: 'pending' });
  return { id: data.find((request) => request.name === array)!.id, name: array, arrayId: portal.idOf(person, array) };
}

const get = async (id: number) => (await admin.client.arrayRequests.get({ id })).data;

test('users see their own requests, administrators see all', async () => {
  const [mine, theirs] = [await order(owner), await order(otherUser)];
  const idsOf = async ({ client }: Person) => (await client.arrayRequests.list()).data.map(({ id }) => id);
  assert.ok((await idsOf(owner)).includes(mine.id) && !(await idsOf(owner)).includes(theirs.id));
  const all = await idsOf(admin);
  assert.ok(all.includes(mine.id) && all.includes(theirs.id));
  await refused(owner.client.arrayRequests.get({ id: theirs.id }), 404, /There is no request/);
});

test('requests are listed by state, in pages, with the count of all in a header', async () => {
  const request = await order();
  await admin.client.arrayRequests.deny({ id: request.id, reason: 'no' });
  const pending = (await admin.client.arrayRequests.list({ status: 'pending' })).data;
  const denied = (await admin.client.arrayRequests.list({ status: 'denied' })).data;
  assert.ok(pending.every(({ status }) => status === 'pending'));
  assert.ok(denied.some(({ id }) => id === request.id));
  const page = await portal.send(admin, { method: 'GET', path: '/api/array_requests?status=denied&limit=1' });
  assert.equal((page.json()['data'] as unknown[]).length, 1);
  assert.equal(Number(page.headers['x-total-count']), denied.length);
});

test('a request tells what was asked for, by whom and when', async () => {
  const request = await order();
  const { arguments: asked, created_at: createdAt, ...rest } = await get(request.id);
  assert.deepEqual(asked, {
    provider: 'local',
    product: 'storage_array',
    drives: { SSD_10GB: 2 },
    engine: 'engine_medium',
    app_engine: 'app_small',
  });
  assert.match(createdAt, /UTC$/);
  assert.deepEqual(rest, {
    id: request.id,
    name: request.name,
    status: 'pending',
    kind: 'create_array',
    array_id: request.arrayId,
    user_id: owner.id,
    reason: null,
    decided_at: null,
    decided_by: null,
  });
});

test('what was decided once is not decided again', async () => {
  const [approved, denied] = [await order(), await order()];
  await admin.client.arrayRequests.approve(approved);
  await admin.client.arrayRequests.deny({ id: denied.id, reason: 'no' });
  await refused(admin.client.arrayRequests.approve(approved), 409, /was approved already/);
  await refused(admin.client.arrayRequests.deny({ id: approved.id, reason: 'no' }), 409, /was approved already/);
  await refused(admin.client.arrayRequests.approve(denied), 409, /was denied already/);
  await refused(admin.client.arrayRequests.deny({ id: denied.id, reason: 'no' }), 409, /was denied already/);
  assert.equal((await get(denied.id)).reason, 'no');
});

test('a request that many approve and deny at the same time is decided once and carried out once', async () => {
  const request = await order();
  const { approve, deny } = admin.client.arrayRequests;
  const results = await Promise.allSettled([
    ...Array.from({ length: 5 }, () => approve(request)),
    ...Array.from({ length: 5 }, () => deny({ id: request.id, reason: 'no' })),
  ]);
  assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1);
  const { status } = await get(request.id);
  const jobs = portal.store.read((db) =>
    db.all(`SELECT id FROM jobs WHERE kind = 'array.create' AND subject = :subject`, {
      subject: `array:${request.arrayId}`,
    }),
  );
  assert.equal(jobs.length, status === 'approved' ? 1 : 0);
  await portal.until(request.arrayId, status === 'approved' ? 'created' : 'failed');
});

test('a request that is approved many times at the same time makes one array', async () => {
  const request = await order();
  const results = await Promise.allSettled(
    Array.from({ length: 8 }, () => admin.client.arrayRequests.approve(request)),
  );
  assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1);
  await portal.until(request.arrayId, 'created');
  const hosted = [...portal.cloud.hosted.values()].filter(({ spec }) => spec.name === request.name);
  assert.equal(hosted.length, 1);
});

test('a request that waits is withdrawn when it is removed; one that is decided only goes', async () => {
  const waiting = await order();
  await admin.client.arrayRequests.delete({ id: waiting.id });
  await refused(admin.client.arrayRequests.get({ id: waiting.id }), 404, /There is no request/);
  const { data } = await owner.client.arrays.get({ array_id: waiting.arrayId });
  assert.deepEqual(
    [data.status, data.status_message],
    ['failed', `Request ${waiting.id} was denied: the request was removed`],
  );

  const approved = await order();
  await admin.client.arrayRequests.approve(approved);
  await portal.until(approved.arrayId, 'created');
  await admin.client.arrayRequests.delete({ id: approved.id });
  assert.equal((await owner.client.arrays.get({ array_id: approved.arrayId })).data.status, 'created');
});

test('an order says all that an administrator decides on', async () => {
  const array = name('tank');
  const zone = 'zone_0';
  await owner.client.arrays.create({
    ...blockOrder,
    name: array,
    allocation_zone: zone,
    flash_cache_capacity: 400,
    create_raid_10_pools: true,
    iscsi_dual_target_mode_enabled: 'YES',
    description: 'for the archive',
  });
  const { arguments: asked } = (await owner.client.arrayRequests.list()).data.find((one) => one.name === array)!;
  const { app_engine, flash_cache_capacity, allocation_zone, create_raid_10_pools, iscsi_dual_target, description } =
    asked;
  assert.deepEqual(
    [app_engine, flash_cache_capacity, allocation_zone, create_raid_10_pools, iscsi_dual_target, description],
    ['app_small', 400, zone, true, true, 'for the archive'],
  );
  const store = name('store');
  await owner.client.arrays.create({ ...objectOrder, name: store, moderate: true });
  const objects = (await owner.client.arrayRequests.list()).data.find((one) => one.name === store)!;
  assert.match(String(objects.arguments['storage_policy_type']), /2-way/);
});

test('who asked takes back what waits; others and what is decided are left alone', async () => {
  const waiting = await order();
  await refused(otherUser.client.arrayRequests.withdraw({ id: waiting.id }), 404, /There is no request/);
  await owner.client.arrayRequests.withdraw({ id: waiting.id });
  const { status, reason, decided_by: by } = await get(waiting.id);
  assert.deepEqual([status, reason, by], ['denied', 'withdrawn by owner', 'owner']);
  assert.equal(
    (await owner.client.arrays.list({ name: waiting.name })).data.length,
    0,
    'the array goes with its order',
  );
  await refused(owner.client.arrayRequests.withdraw({ id: waiting.id }), 409, /was denied already/);

  const { id: arrayId } = await portal.array(owner);
  const { message } = await owner.client.arrays.setCache({ array_id: arrayId, flash_cache_capacity: 200 });
  const id = Number(/^Request (\d+)/.exec(message)?.[1]);
  await owner.client.arrayRequests.withdraw({ id });
  assert.equal((await get(id)).status, 'denied');
  assert.equal((await owner.client.arrays.get({ array_id: arrayId })).data.cache.extra_gb, 0);
});

test('a request that is no order keeps its name', async () => {
  const { id, name: array } = await portal.array(owner);
  const { message } = await owner.client.arrays.setCache({ array_id: id, flash_cache_capacity: 200 });
  const request = Number(/^Request (\d+)/.exec(message)?.[1]);
  const approval = admin.client.arrayRequests.approve({ id: request, name: 'another' });
  const { problems } = await refused(approval, 400, new RegExp(`name must be ${array}, the name of the request`));
  assert.deepEqual(
    problems.map(({ field }) => field),
    ['name'],
  );
  await admin.client.arrayRequests.approve({ id: request, name: array });
});

test('what waits already is not asked for again; once it is decided it can be', async () => {
  const { id } = await portal.array(owner);
  const ask = () => owner.client.arrays.setCache({ array_id: id, flash_cache_capacity: 200 });
  const first = Number(/^Request (\d+)/.exec((await ask()).message)?.[1]);
  await refused(ask(), 409, new RegExp(`request ${first} waits for an administrator already`));
  await owner.client.arrays.setCache({ array_id: id, flash_cache_capacity: 400 });
  await admin.client.arrayRequests.deny({ id: first, reason: 'no' });
  await ask();
});

test('a compute account is asked for and opened by approval', async () => {
  const farm = name('farm');
  await owner.client.computes.create({ provider_id: 1, display_name: farm, cores: 8 });
  const request = (await owner.client.arrayRequests.list()).data.find((one) => one.name === farm)!;
  assert.deepEqual([request.kind, request.array_id, request.status], ['create_compute', null, 'pending']);
  await admin.client.arrayRequests.approve({ id: request.id, name: farm });
  const rows = portal.store.read((db) =>
    db.all<{ cores: number; user_id: number }>('SELECT cores, user_id FROM computes WHERE display_name = :farm', {
      farm,
    }),
  );
  assert.deepEqual(
    rows.map((row) => ({ ...row })),
    [{ cores: 8, user_id: owner.id }],
  );
});

test('a request that was never filed is not found', async () => {
  const { get: show, approve, deny, delete: remove } = admin.client.arrayRequests;
  await refused(show({ id: 99_999 }), 404, /There is no request 99999/);
  await refused(approve({ id: 99_999, name: 'x' }), 404, /There is no request 99999/);
  await refused(deny({ id: 99_999, reason: 'x' }), 404, /There is no request 99999/);
  await refused(remove({ id: 99_999 }), 404, /There is no request 99999/);
});
