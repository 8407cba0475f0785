import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Metrics } from '@granary/kernel';
import { readSeries, valueOf } from '../../testing/metrics.ts';
import { centsOf, wholeCentsText } from '../billing/amount.ts';
import { billedLines } from '../billing/lines.ts';
import { syncMeter, type MeteredArray } from '../metering/meter.ts';
import { TestPortal } from '../pricing/testing.ts';
import { insertRequest } from '../requests/repository.ts';
import { portalMeasures } from './measures.ts';

/** small 0.25 and SSD_10GB 0.003 an hour: two of them and the engine are 0.256. */
const spec = { engine: 'small', app_engine: null, extra_cache_gb: 0, drives: { SSD_10GB: 2 } };

async function setUp() {
  const portal = new TestPortal();
  const ann = await portal.addUser('ann');
  const array = await portal.addArray(ann, await portal.addProvider('local'));
  const metrics = new Metrics('portal');
  for (const measure of portalMeasures(portal, '1.2.3')) metrics.add(measure);
  return {
    portal,
    ann,
    array,
    value: async (name: string, labels = {}) =>
      valueOf(readSeries(await metrics.registry.metrics()), `granary_${name}`, labels),
    meter: (changes: Partial<MeteredArray> = {}) => {
      const metered = {
        id: array,
        status: 'created',
        placed: true,
        hasPublicIp: false,
        retained: false,
        spec,
      } as const;
      return portal.store.write((tx) => syncMeter(tx, { ...metered, ...changes }, portal.clock.now()));
    },
  };
}

test('spend is what bills say: the rate of what exists now, and the month so far', async () => {
  const { portal, meter, value } = await setUp();
  using _ = portal;
  portal.clock.set('2026-01-31T20:00:00Z');
  await meter();
  portal.clock.set('2026-02-02T10:30:00Z');
  assert.equal(await value('spend_dollars_per_hour', { provider: 'local' }), 0.256);
  // 34.5 hours of February; what was used in January is of January.
  assert.equal(await value('spend_month_dollars', { provider: 'local' }), 8.832);
  const span = { from: Date.UTC(2026, 1, 1), to: portal.clock.now() };
  const bill = [...billedLines(portal.store, span, null)].reduce((sum, { amount }) => sum + amount, 0n);
  assert.equal(wholeCentsText(centsOf(bill)), '8.83');
});

test('what a hibernated array does not use is not in the rate from the next minute on', async () => {
  const { portal, meter, value } = await setUp();
  using _ = portal;
  await meter();
  portal.clock.advance(3_600_000);
  assert.equal(await value('spend_dollars_per_hour'), 0.256);
  await meter({ status: 'hibernated' });
  portal.clock.advance(60_000);
  assert.equal(await value('spend_dollars_per_hour'), 0.006);
});

test('arrays are counted by state, requests that wait by kind', async () => {
  const { portal, ann, array, value } = await setUp();
  using _ = portal;
  const request = { name: 'tank', kind: 'add_drives', arrayId: array, userId: ann.userId, arguments: {} } as const;
  await portal.store.write((tx) => insertRequest(tx, { ...request, secretsSealed: null, createdAt: 0 }));
  assert.equal(await value('arrays', { product: 'storage_array', state: 'creating' }), 1);
  assert.equal(await value('arrays', { product: 'storage_array', state: 'created' }), 0);
  assert.equal(await value('requests_waiting', { kind: 'add_drives' }), 1);
  assert.equal(await value('requests_waiting', { kind: 'delete_array' }), 0);
  assert.equal(await value('portal_info', { version: '1.2.3' }), 1);
});

test('other requests are answered while spend is added up, once for both figures', async () => {
  const { portal, ann, value } = await setUp();
  using _ = portal;
  const provider = await portal.addProvider('far');
  for (let number = 1; number <= 600; number += 1) {
    const id = await portal.addArray(ann, provider, `array ${number}`);
    const array = { id, status: 'created', placed: true, hasPublicIp: false, retained: false, spec } as const;
    await portal.store.write((tx) => syncMeter(tx, array, portal.clock.now()));
  }
  portal.clock.advance(7_200_000);
  const stop = new AbortController();
  let turns = 0;
  const count = () => {
    turns += 1;
    if (!stop.signal.aborted) setImmediate(count);
  };
  setImmediate(count);
  const rate = (await value('spend_dollars_per_hour', { provider: 'far' })) ?? assert.fail();
  stop.abort();
  assert.ok(Math.abs(rate - 600 * 0.256) < 1e-9, `${rate}`);
  assert.ok(turns > 4, `${turns} turns of others`);
});
