import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serve, TestPortal } from '../pricing/testing.ts';
import { removeUser } from '../users/repository.ts';
import { syncMeter } from '../metering/meter.ts';
import { billingRoutes } from './routes.ts';
import { BillingService } from './service.ts';
import { readBill } from './testing/read-bill.ts';

test('a bill is downloaded as a zip', async () => {
  using portal = new TestPortal();
  const admin = await portal.addUser('admin', 'admin');
  const ann = await portal.addUser('ann');
  const id = await portal.addArray(ann, await portal.addProvider('local'));
  const spec = { engine: 'large', app_engine: null, extra_cache_gb: 0, drives: {} };
  const array = { id, status: 'created', placed: true, hasPublicIp: false, retained: false, spec } as const;
  await portal.store.write((tx) => syncMeter(tx, array, portal.clock.now()));
  portal.clock.advance(90 * 60_000);

  const app = await serve(portal, billingRoutes(new BillingService(portal)), [admin, ann]);
  const get = (query: Record<string, string>, token: string) =>
    app.inject({ method: 'GET', url: '/api/billing_items', query, headers: { 'x-token': token } });
  const window = { start_datetime: '2026-01-01 00:00', end_datetime: '2026-02-01 00:00' };
  const reply = await get(window, 'ann');
  assert.equal(reply.headers['content-type'], 'application/zip');
  assert.equal(
    reply.headers['content-disposition'],
    'attachment; filename="billing-2026-01-01T0000-2026-02-01T0000.zip"',
  );
  assert.equal(readBill(reply.rawPayload).summary.at(-1)?.['amount_usd'], '1.50');

  assert.equal((await get({ ...window, user_id: String(ann.userId) }, 'admin')).statusCode, 200);
  assert.equal((await get({ ...window, user_id: String(admin.userId) }, 'ann')).statusCode, 404);
  const bad = await get({ ...window, end_datetime: '2026-02-30 00:00' }, 'ann');
  assert.equal(bad.statusCode, 400);
  assert.match(bad.body, /end_datetime must be a date and time that exists/);
});

test('sums by day and by kind add up to the bill, and are of whom is asked for', async () => {
  using portal = new TestPortal();
  const admin = await portal.addUser('admin', 'admin');
  const ann = await portal.addUser('ann');
  const id = await portal.addArray(ann, await portal.addProvider('local'));
  const spec = { engine: 'large', app_engine: null, extra_cache_gb: 0, drives: { SSD_10GB: 2 } };
  const array = { id, status: 'created', placed: true, hasPublicIp: false, retained: false, spec } as const;
  await portal.store.write((tx) => syncMeter(tx, array, portal.clock.now()));
  portal.clock.advance(36 * 3_600_000);
  const app = await serve(portal, billingRoutes(new BillingService(portal)), [admin, ann]);
  const get = async (query: Record<string, string>, token = 'ann') =>
    app.inject({ method: 'GET', url: '/api/billing_summary', query, headers: { 'x-token': token } });
  const window = { start_datetime: '2026-01-01 00:00', end_datetime: '2026-02-01 00:00' };
  const { data } = (await get(window)).json<{ data: Record<string, unknown> & { periods: { amount: string }[] } }>();
  assert.partialDeepStrictEqual(data, {
    currency: 'USD',
    amount: '36.22',
    kinds: { engine: '36.000000000', drive: '0.216000000' },
    arrays: [{ array_id: id, user: 'ann', provider: 'local', deleted: false, amount: '36.216000000' }],
  });
  const days = data.periods.map(({ amount }) => Number(amount)).filter((amount) => amount > 0);
  assert.ok(days.length >= 2, 'more than a day and a half is on two days');
  assert.ok(Math.abs(days.reduce((sum, one) => sum + one, 0) - 36.216) < 1e-9);
  const other = (await get({ ...window, array_id: String(id + 1) })).json<{ data: { arrays: unknown[] } }>();
  assert.deepEqual(other.data.arrays, []);
  const months = (await get({ ...window, per: 'month' })).json<{ data: { periods: unknown[] } }>();
  assert.equal(months.data.periods.length, 1);
  assert.equal((await get({ ...window, user_id: String(admin.userId) })).statusCode, 404);
  const others = await get({ ...window, user_id: String(admin.userId) }, 'admin');
  assert.equal(others.json<{ data: { amount: string } }>().data.amount, '0.00');
  const long = await get({ start_datetime: '2024-01-01 00:00', end_datetime: '2026-01-31 00:00' });
  assert.match(long.body, /per makes more than 400 periods/);
});

test('the bill of a removed user keeps the name', async () => {
  using portal = new TestPortal();
  const admin = await portal.addUser('admin', 'admin');
  const ann = await portal.addUser('ann');
  const id = await portal.addArray(ann, await portal.addProvider('local'));
  const spec = { engine: 'large', app_engine: null, extra_cache_gb: 0, drives: {} };
  const array = { id, status: 'created', placed: true, hasPublicIp: false, retained: false, spec } as const;
  await portal.store.write((tx) => syncMeter(tx, array, portal.clock.now()));
  portal.clock.advance(60 * 60_000);
  const now = portal.clock.now();
  await portal.store.write((tx) => {
    syncMeter(tx, { ...array, status: 'deleted' }, now);
    removeUser(tx, ann.userId, now);
  });
  const window = { start: '2026-01-01 00:00', end: '2026-02-01 00:00' };
  for (const userId of [undefined, ann.userId]) {
    const { bytes } = await new BillingService(portal).report({ ...window, userId }, admin);
    assert.equal(readBill(bytes).items[0]?.['user'], 'ann');
  }
});
