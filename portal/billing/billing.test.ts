import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GranaryError } from '@granary/kernel';
import type { PortalActor } from '../actor.ts';
import { setPrice } from '../pricing/price-book.ts';
import type { ItemPrice } from '../pricing/items.ts';
import { TestPortal } from '../pricing/testing.ts';
import { syncMeter, type MeteredArray } from '../metering/meter.ts';
import type { BillLine } from './bill.ts';
import { atMost, BillingService } from './service.ts';
import { unzip } from '../../kernel/http/testing/unzip.ts';
import { readBill } from './testing/read-bill.ts';
import { summaryView } from './view.ts';

const two = { engine: 'small', app_engine: null, extra_cache_gb: 0, drives: { SSD_10GB: 2 } };
const drivesOnly = { ...two, engine: null };

/** A portal where `ann` has one array at `local`: small 0.25, large 1, SSD_10GB 0.003 an hour. */
async function aBilling() {
  const portal = new TestPortal();
  const admin = await portal.addUser('admin', 'admin');
  const ann = await portal.addUser('ann');
  const providerId = await portal.addProvider('local');
  const arrayId = await portal.addArray(ann, providerId, 'first');
  const billing = new BillingService(portal);
  const at = (time: string) => portal.clock.set(`${time.replace(' ', 'T')}Z`);
  return {
    portal,
    admin,
    ann,
    providerId,
    arrayId,
    billing,
    at,
    meter: (time: string, changes: Partial<MeteredArray> = {}) => {
      at(time);
      const array = {
        id: arrayId,
        status: 'created',
        placed: true,
        hasPublicIp: false,
        retained: false,
        spec: two,
        ...changes,
      } as const;
      return portal.store.write((tx) => syncMeter(tx, array, portal.clock.now()));
    },
    price: (time: string, item: ItemPrice) => {
      at(time);
      return portal.store.write((tx) => setPrice(tx, providerId, item, portal.clock.now()));
    },
    bill: async (start: string, end: string, actor: PortalActor = admin, userId?: number) =>
      readBill((await billing.report({ start, end, userId }, actor)).bytes),
  };
}

const engine = (price: string): ItemPrice => ({ kind: 'engine', key: 'small', price });

test('a day of an array whose engine price doubles at noon', async () => {
  const { portal, meter, price, at, bill } = await aBilling();
  using _ = portal;
  await meter('2026-01-10 00:00:00');
  await price('2026-01-10 12:00:00', engine('0.50'));
  at('2026-02-01 00:00:00');
  const { items, arrays, summary } = await bill('2026-01-10 00:00', '2026-01-11 00:00');
  const line = { array: 'first', array_id: '1', user: 'ann', provider: 'local' };
  assert.deepEqual(items, [
    {
      ...line,
      item: 'drive:SSD_10GB',
      quantity: '2',
      hours: '24.000000000',
      unit_price_usd: '0.003',
      amount_usd: '0.144000000',
      from: '2026-01-10 00:00:00.000 UTC',
      to: '2026-01-11 00:00:00.000 UTC',
    },
    {
      ...line,
      item: 'engine:small',
      quantity: '1',
      hours: '12.000000000',
      unit_price_usd: '0.25',
      amount_usd: '3.000000000',
      from: '2026-01-10 00:00:00.000 UTC',
      to: '2026-01-10 12:00:00.000 UTC',
    },
    {
      ...line,
      item: 'engine:small',
      quantity: '1',
      hours: '12.000000000',
      unit_price_usd: '0.50',
      amount_usd: '6.000000000',
      from: '2026-01-10 12:00:00.000 UTC',
      to: '2026-01-11 00:00:00.000 UTC',
    },
  ]);
  // 0.144 + 3 + 6 = 9.144
  assert.deepEqual(arrays, [
    { ...line, product: 'storage_array', created: '2026-01-01 00:00:00 UTC', deleted: '', amount_usd: '9.14' },
  ]);
  assert.deepEqual(summary, [
    { user: 'ann', provider: 'local', currency: 'USD', arrays: '1', amount_usd: '9.14' },
    { user: 'TOTAL', provider: '', currency: 'USD', arrays: '1', amount_usd: '9.14' },
  ]);
});

test('hibernation, restore, another engine and delete, to the second', async () => {
  const { portal, meter, at, bill } = await aBilling();
  using _ = portal;
  await meter('2026-03-01 10:00:30', { status: 'creating' });
  await meter('2026-03-01 10:01:00'); // created: small and two drives
  await meter('2026-03-01 11:01:00', { status: 'hibernating' });
  await meter('2026-03-01 11:01:40', { status: 'hibernated' }); // small ran 1 h 0 min 40 s = 3640 s
  await meter('2026-03-01 15:01:40', { status: 'restoring' });
  await meter('2026-03-01 15:02:00'); // small again
  await meter('2026-03-01 15:32:00', { spec: { ...two, engine: 'large' } }); // small ran 30 min = 1800 s more
  await meter('2026-03-01 16:02:15', { status: 'deleting' }); // large ran 30 min 15 s = 1815 s; drives 6 h 1 min 15 s
  await meter('2026-03-01 16:02:20', { status: 'deleted' });
  at('2026-04-01 00:00:00');
  const { items, arrays } = await bill('2026-03-01 00:00', '2026-04-01 00:00');
  const seconds = items.map((row) => [row['item'], row['hours'], row['amount_usd']]);
  assert.deepEqual(seconds, [
    ['drive:SSD_10GB', '6.020833333', '0.036125000'], // 2 × 21675 s × 0.003 / 3600
    ['engine:large', '0.504166667', '0.504166667'], // 1815 s × 1 / 3600
    ['engine:small', '1.011111111', '0.252777778'], // 3640 s × 0.25 / 3600
    ['engine:small', '0.500000000', '0.125000000'], // 1800 s × 0.25 / 3600
  ]);
  // 0.036125 + 0.50416… + 0.25277… + 0.125 = 0.918069…
  assert.equal(arrays[0]?.['amount_usd'], '0.92');
});

test('a window takes what lies in it: the start belongs to it, the end does not', async () => {
  const { portal, meter, at, bill } = await aBilling();
  using _ = portal;
  await meter('2026-01-05 10:00:00.250', { spec: drivesOnly });
  await meter('2026-01-05 11:00:00', { status: 'deleting', spec: drivesOnly });
  at('2026-02-01 00:00:00');
  assert.deepEqual((await bill('2026-01-05 09:00', '2026-01-05 10:00')).items, []);
  assert.deepEqual((await bill('2026-01-05 11:00', '2026-01-05 12:00')).items, []);
  assert.deepEqual((await bill('2026-01-05 11:00', '2026-01-05 12:00')).summary, [
    { user: 'TOTAL', provider: '', currency: 'USD', arrays: '0', amount_usd: '0.00' },
  ]);
  const [row, ...more] = (await bill('2026-01-05 10:00', '2026-01-05 10:01')).items;
  assert.deepEqual(more, []);
  assert.equal(row?.['from'], '2026-01-05 10:00:00.250 UTC');
  assert.equal(row['to'], '2026-01-05 10:01:00.000 UTC');
  assert.equal(row['hours'], '0.016597222'); // 59.75 s
  assert.equal(row['amount_usd'], '0.000099583'); // 2 × 59.75 s × 0.003 / 3600
});

test('what still exists is billed up to now and not beyond', async () => {
  const { portal, meter, at, bill } = await aBilling();
  using _ = portal;
  await meter('2026-01-05 10:00:00', { spec: drivesOnly });
  at('2026-01-05 12:30:00');
  const [row] = (await bill('2026-01-01 00:00', '2026-02-01 00:00')).items;
  assert.equal(row?.['to'], '2026-01-05 12:30:00.000 UTC');
  assert.equal(row['amount_usd'], '0.015000000');
  assert.deepEqual((await bill('2026-01-06 00:00', '2026-02-01 00:00')).items, []);
});

test('cents are rounded half up, once, from the exact sum, and those of parts add up to them', async () => {
  const { portal, providerId, ann, at, bill } = await aBilling();
  using _ = portal;
  at('2026-01-05 10:00:00');
  const start = portal.clock.now();
  // 1 drive for 1 h at 0.005: half a cent each. Three of them are 1.5 cents: two cents, of which one array has none.
  await portal.store.write((tx) => {
    setPrice(tx, providerId, { kind: 'drive', key: 'SSD_10GB', price: '0.005' }, start - 1);
    for (const name of ['a', 'b', 'c']) {
      const id = portal.insertArray(tx, ann, providerId, name);
      const spec = { ...drivesOnly, drives: { SSD_10GB: 1 } };
      syncMeter(tx, { id, status: 'created', placed: true, hasPublicIp: false, retained: false, spec }, start);
      syncMeter(
        tx,
        { id, status: 'deleting', placed: true, hasPublicIp: false, retained: false, spec },
        start + 3_600_000,
      );
    }
  });
  at('2026-02-01 00:00:00');
  const { arrays, summary } = await bill('2026-01-01 00:00', '2026-02-01 00:00');
  assert.deepEqual(
    arrays.map((row) => row['amount_usd']),
    ['0.01', '0.01', '0.00'],
  );
  assert.deepEqual(
    summary.map((row) => row['amount_usd']),
    ['0.02', '0.02'],
  );
});

test('the largest price and the longest time are exact', async () => {
  const { portal, meter, price, at, bill } = await aBilling();
  using _ = portal;
  await price('2026-01-02 00:00:00', engine('999999999.999999999'));
  await meter('2026-01-02 00:00:00', { spec: { ...two, drives: {} } });
  at('2032-01-01 00:00:00');
  const { items, summary } = await bill('2026-01-02 00:00', '2031-01-02 00:00');
  // 1826 days × 24 h
  assert.equal(items[0]?.['amount_usd'], '43823999999999.999956176');
  assert.equal(summary.at(-1)?.['amount_usd'], '43824000000000.00');
});

test('a user is billed for their own arrays, an administrator reads all bills', async () => {
  const { portal, admin, ann, providerId, meter, at, bill } = await aBilling();
  using _ = portal;
  const bob = await portal.addUser('bob');
  const bobs = await portal.addArray(bob, providerId, 'second');
  await meter('2026-01-05 00:00:00');
  await meter('2026-01-05 00:00:00', { id: bobs });
  await meter('2026-01-06 00:00:00', { id: bobs, status: 'deleting' });
  await portal.store.write((tx) =>
    tx.run("UPDATE arrays SET status = 'deleted', deleted_at = :now WHERE id = :bobs", {
      bobs,
      now: portal.clock.now(),
    }),
  );
  at('2026-02-01 00:00:00');
  const users = async (actor: PortalActor, userId?: number) =>
    (await bill('2026-01-01 00:00', '2026-02-01 00:00', actor, userId)).arrays.map((row) => row['user']);
  assert.deepEqual(await users(admin), ['ann', 'bob']);
  assert.deepEqual(await users(admin, bob.userId), ['bob']);
  assert.deepEqual(await users(admin, admin.userId), []);
  assert.deepEqual(await users(bob), ['bob']);
  assert.deepEqual(await users(bob, bob.userId), ['bob']);
  const missing = (id: number) => (error: unknown) => {
    assert.ok(error instanceof GranaryError);
    assert.equal(error.message, `There is no user ${id}.`);
    return true;
  };
  await assert.rejects(users(bob, ann.userId), missing(ann.userId));
  await assert.rejects(users(bob, 999), missing(999));
  await assert.rejects(users(admin, 999), missing(999));
  const { arrays } = await bill('2026-01-01 00:00', '2026-02-01 00:00', bob);
  assert.equal(arrays[0]?.['deleted'], '2026-01-06 00:00:00 UTC');
});

test('the summary has a line for each user at each provider', async () => {
  const { portal, ann, providerId, meter, at, bill } = await aBilling();
  using _ = portal;
  const other = await portal.addProvider('a other');
  const ids = [
    await portal.addArray(ann, providerId, 'second'),
    await portal.addArray(ann, other, 'third'),
    await portal.addArray(await portal.addUser('abe'), other, 'fourth'),
  ];
  await meter('2026-01-05 00:00:00');
  for (const id of ids) await meter('2026-01-05 00:00:00', { id });
  at('2026-01-05 01:00:00');
  const { summary } = await bill('2026-01-01 00:00', '2026-02-01 00:00');
  assert.deepEqual(
    summary.map((row) => Object.values(row).join()),
    ['abe,a other,USD,1,0.26', 'ann,a other,USD,1,0.26', 'ann,local,USD,2,0.51', 'TOTAL,,USD,4,1.03'],
  );
});

test('the sums have the same total as the bill', async () => {
  const { portal, admin, ann, providerId, billing, meter, at, bill } = await aBilling();
  using _ = portal;
  const id = await portal.addArray(await portal.addUser('abe'), providerId, 'second');
  await meter('2026-01-05 00:00:00');
  await meter('2026-01-05 00:00:00', { id });
  at('2026-01-05 01:00:00');
  const window = { start: '2026-01-01 00:00', end: '2026-02-01 00:00' };
  // 0.256 each: 0.26 of either user, and not 0.512 of both.
  for (const actor of [admin, ann]) {
    const asked = (await bill(window.start, window.end, actor)).summary.at(-1)?.['amount_usd'];
    assert.equal(summaryView(await billing.summary({ ...window, userId: undefined }, 'day', actor)).amount, asked);
  }
});

test('a name that looks like a formula stays text in a spreadsheet', async () => {
  const { portal, ann, providerId, meter, at, bill } = await aBilling();
  using _ = portal;
  const names = ['=1+1', '+1', '-1', '@SUM(A1)', 'plain, "quoted"', 'größe'];
  for (const name of names) {
    const id = await portal.addArray(ann, providerId, name);
    await meter('2026-01-05 00:00:00', { id, spec: drivesOnly });
  }
  at('2026-01-06 00:00:00');
  const { items, arrays } = await bill('2026-01-01 00:00', '2026-02-01 00:00');
  const expected = ["'=1+1", "'+1", "'-1", "'@SUM(A1)", 'plain, "quoted"', 'größe'];
  assert.deepEqual(
    items.map((row) => row['array']),
    expected,
  );
  assert.deepEqual(
    arrays.map((row) => row['array']),
    expected,
  );
});

test('the zip is named after its window, holds three files and is the same every time', async () => {
  const { portal, admin, billing, meter, at } = await aBilling();
  using _ = portal;
  await meter('2026-01-05 00:00:00');
  at('2026-03-01 00:00:00');
  const request = { start: '2026-01-01 00:00', end: '2026-02-01 00:30', userId: undefined };
  const first = await billing.report(request, admin);
  assert.equal(first.filename, 'billing-2026-01-01T0000-2026-02-01T0030.zip');
  assert.deepEqual([...unzip(first.bytes).keys()], ['summary.csv', 'arrays.csv', 'items.csv']);
  at('2026-03-02 00:00:00');
  assert.deepEqual(await billing.report(request, admin), first);
});

test('a window must be of dates that exist, in order, and at most five years long', async () => {
  const { portal, bill } = await aBilling();
  using _ = portal;
  const refused = async (start: string, end: string, fields: string[]) => {
    await assert.rejects(bill(start, end), (error: unknown) => {
      assert.ok(error instanceof GranaryError, String(error));
      assert.equal(error.entry, 'bad_parameter');
      assert.deepEqual(
        error.problems.map(({ field }) => field),
        fields,
      );
      return true;
    });
  };
  await refused('2026-02-30 00:00', '2026-04-01 00:00', ['start_datetime']);
  await refused('2026-01-01 00:00', '2026-13-01 00:00', ['end_datetime']);
  await refused('2026-01-01 24:00', '2026-01-01 10:60', ['start_datetime', 'end_datetime']);
  await refused('2025-02-29 00:00', '2026-01-01 00:00', ['start_datetime']);
  await refused('2026-01-01 00:00', '2026-01-01 00:00', ['end_datetime']);
  await refused('2026-01-01 00:01', '2026-01-01 00:00', ['end_datetime']);
  await refused('2021-01-01 00:00', '2026-01-01 00:01', ['end_datetime']);
  for (const [start, end] of [
    ['2021-01-01 00:00', '2026-01-01 00:00'],
    ['2024-02-29 00:00', '2029-02-28 00:00'],
    ['0000-01-01 00:00', '0004-01-01 00:00'],
    ['1965-01-01 00:00', '1966-01-01 00:00'],
    ['9998-01-01 00:00', '9999-12-31 23:59'],
  ] as const) {
    assert.equal((await bill(start, end)).summary.length, 1);
  }
});

test('other work goes on while a long bill is made', async () => {
  const { portal, admin, billing, providerId, meter, at } = await aBilling();
  using _ = portal;
  await meter('2026-01-02 00:00:00', { spec: { ...two, drives: {} } });
  const start = portal.clock.now();
  await portal.store.write((tx) => {
    for (let hour = 1; hour < 5000; hour++) setPrice(tx, providerId, engine(`0.${hour}`), start + hour * 3_600_000);
  });
  at('2026-12-31 00:00:00');
  let turns = 0;
  const timer = setInterval(() => turns++, 0).unref();
  const { bytes } = await billing.report(
    { start: '2026-01-02 00:00', end: '2026-12-01 00:00', userId: undefined },
    admin,
  );
  clearInterval(timer);
  assert.equal(readBill(bytes).items.length, 5000);
  assert.ok(turns > 1, `${turns} turns`);
});

test('a bill is bounded, sums are not', () => {
  const lines = Array.from({ length: 3 }, () => ({}) as BillLine);
  assert.equal([...atMost(lines, 3)].length, 3);
  assert.throws(() => [...atMost(lines, 2)], /more than 2 lines/);
});
