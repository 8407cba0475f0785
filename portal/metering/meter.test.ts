import assert from 'node:assert/strict';
import { test } from 'node:test';
import { arrayStates, type ArrayState } from '@granary/contract/portal';
import { itemName } from '../pricing/items.ts';
import { TestPortal } from '../pricing/testing.ts';
import { meteredItems, syncMeter, type MeteredArray } from './meter.ts';

const full: MeteredArray = {
  id: 1,
  status: 'created',
  placed: true,
  hasPublicIp: true,
  retained: false,
  spec: { engine: 'small', app_engine: 'app.1', extra_cache_gb: 200, drives: { SSD_10GB: 4, HDD_100GB: 2, NONE: 0 } },
};

function metered(changes: Partial<MeteredArray> = {}): Record<string, number> {
  return Object.fromEntries(meteredItems({ ...full, ...changes }).map((item) => [itemName(item), item.quantity]));
}

const held = { 'drive:SSD_10GB': 4, 'drive:HDD_100GB': 2, public_ip: 1 };
const all = { ...held, 'engine:small': 1, 'app_engine:app.1': 1, cache_gb: 200 };

test('each state of an array is metered by its rule', () => {
  const expected: Record<ArrayState, Record<string, number>> = {
    creating: {},
    created: all,
    starting: held,
    hibernating: all,
    hibernated: held,
    restoring: held,
    deleting: {},
    deleted: {},
    failed: held,
  };
  for (const status of arrayStates) assert.deepEqual(metered({ status }), expected[status], status);
  assert.deepEqual(metered({ status: 'failed', placed: false }), {});
});

test('what an array does not have is not metered', () => {
  const spec = { engine: null, app_engine: null, extra_cache_gb: 0, drives: { HDD_100GB: 3 } };
  assert.deepEqual(metered({ spec, hasPublicIp: false }), { 'drive:HDD_100GB': 3 });
});

interface Row {
  readonly item: string;
  readonly quantity: number;
  readonly started: number;
  readonly ended: number | null;
}

/** A meter at work: `sync` at a second, and the rows it left. */
async function aMeter() {
  const portal = new TestPortal();
  const owner = await portal.addUser('ann');
  const id = await portal.addArray(owner, await portal.addProvider('local'));
  const begin = portal.clock.now();
  return {
    portal,
    sync: (atMs: number, changes: Partial<MeteredArray> = {}) =>
      portal.store.write((tx) => syncMeter(tx, { ...full, ...changes, id }, begin + atMs)),
    rows: () =>
      portal.store.read((db) =>
        db.all<Row>(
          `SELECT CASE kind WHEN key THEN kind ELSE kind || ':' || key END AS item, quantity,
                  started_at - :begin AS started, ended_at - :begin AS ended
           FROM metered_items ORDER BY id`,
          { begin },
        ),
      ),
  };
}

test('syncing again and again changes nothing', async () => {
  const { portal, sync, rows } = await aMeter();
  using _ = portal;
  await sync(0);
  const first = rows();
  assert.equal(first.length, 6);
  assert.ok(first.every(({ started, ended }) => started === 0 && ended === null));
  await sync(0);
  await sync(1000);
  await sync(2000, { status: 'hibernating' });
  assert.deepEqual(rows(), first);
});

test('hibernation ends the engine, the app engine and the cache; drives and address run on', async () => {
  const { portal, sync, rows } = await aMeter();
  using _ = portal;
  await sync(0);
  await sync(1000, { status: 'hibernated' });
  const ended = rows().filter((row) => row.ended === 1000);
  assert.deepEqual(ended.map(({ item }) => item).sort(), ['app_engine:app.1', 'cache_gb', 'engine:small']);
  await sync(2000, { status: 'restoring' });
  await sync(3000);
  assert.equal(rows().length, 9);
  assert.equal(rows().filter((row) => row.started === 3000 && row.ended === null).length, 3);
});

test('another quantity ends one row and begins the next at the same time', async () => {
  const { portal, sync, rows } = await aMeter();
  using _ = portal;
  const spec = (count: number) => ({ engine: null, app_engine: null, extra_cache_gb: 0, drives: { SSD_10GB: count } });
  await sync(0, { spec: spec(2), hasPublicIp: false });
  await sync(500, { spec: spec(5), hasPublicIp: false });
  await sync(900, { status: 'deleting', spec: spec(5), hasPublicIp: false });
  assert.deepEqual(
    rows().map((row) => ({ ...row })),
    [
      { item: 'drive:SSD_10GB', quantity: 2, started: 0, ended: 500 },
      { item: 'drive:SSD_10GB', quantity: 5, started: 500, ended: 900 },
    ],
  );
});

test('what existed for no time leaves no row', async () => {
  const { portal, sync, rows } = await aMeter();
  using _ = portal;
  await sync(0);
  await sync(0, { status: 'failed', placed: false });
  assert.deepEqual(rows(), []);
  await sync(1000);
  // The clock was set back meanwhile.
  await sync(400, { status: 'deleting' });
  assert.deepEqual(rows(), []);
});

test('an array that can be undeleted pays for what it holds on to', () => {
  const spec = { engine: 'small', app_engine: null, extra_cache_gb: 200, drives: { HDD_100GB: 3 } };
  const held = { 'drive:HDD_100GB': 3, public_ip: 1 };
  for (const status of ['deleting', 'deleted'] as const) {
    assert.deepEqual(metered({ status, spec, retained: true }), held);
    assert.deepEqual(metered({ status, spec, retained: false }), {});
  }
});
