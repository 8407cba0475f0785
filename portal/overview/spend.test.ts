import assert from 'node:assert/strict';
import { test } from 'node:test';
import { syncMeter } from '../metering/meter.ts';
import { closeItem, listOpenItems } from '../metering/repository.ts';
import { TestPortal } from '../pricing/testing.ts';
import { SpendByScope } from './spend.ts';

const HOUR_MS = 3_600_000;
const spec = { engine: 'large', app_engine: null, extra_cache_gb: 0, drives: {} };

async function withArrays(portal: TestPortal, count: number) {
  const ann = await portal.addUser('ann');
  const provider = await portal.addProvider('local');
  const ids: number[] = [];
  for (let number = 1; number <= count; number += 1) {
    const id = await portal.addArray(ann, provider, `array ${number}`);
    const array = { id, status: 'created', placed: true, hasPublicIp: false, retained: false, spec } as const;
    await portal.store.write((tx) => syncMeter(tx, array, portal.clock.now()));
    ids.push(id);
  }
  return { ann, ids };
}

test('a month of many arrays is added up in turns, once for all who ask meanwhile', async () => {
  using portal = new TestPortal();
  const { ann } = await withArrays(portal, 600);
  portal.clock.advance(2 * HOUR_MS);
  const spend = new SpendByScope(portal);
  const asked = [spend.of(ann.userId), spend.of(ann.userId)];
  assert.equal(asked[0], asked[1]);
  let turns = 0;
  const stop = new AbortController();
  const count = () => {
    turns += 1;
    if (!stop.signal.aborted) setImmediate(count);
  };
  setImmediate(count);
  const [{ month, hour } = assert.fail()] = await Promise.all(asked);
  stop.abort();
  assert.ok(turns > 1, `${turns} turns of others`);
  assert.equal(Number(month), 2 * Number(hour));
});

test('what the portal hears late of the last month is in its sum within the hour', async () => {
  using portal = new TestPortal();
  const { ann, ids } = await withArrays(portal, 1);
  const monthEnd = Date.UTC(
    new Date(portal.clock.now()).getUTCFullYear(),
    new Date(portal.clock.now()).getUTCMonth() + 1,
  );
  portal.clock.advance(monthEnd - portal.clock.now() + HOUR_MS / 2);
  const spend = new SpendByScope(portal);
  const before = Number((await spend.of(ann.userId)).lastMonth);
  assert.ok(before > 0);
  await portal.store.write((tx) => {
    for (const { id } of listOpenItems(tx, ids[0] ?? 0)) closeItem(tx, id, monthEnd - HOUR_MS);
  });
  portal.clock.advance(HOUR_MS);
  assert.ok(Number((await spend.of(ann.userId)).lastMonth) < before);
});
