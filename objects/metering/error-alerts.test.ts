import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLog, EventLog, ManualClock } from '@granary/kernel';
import { temporaryStore } from '../../kernel/testing/temporary-store.ts';
import { dataRequest } from '../testing/requests.ts';
import { ErrorAlerts } from './error-alerts.ts';

test('more failures in a minute than the threshold are reported once; those of callers and of limits do not count', async (t) => {
  const store = temporaryStore(t);
  const clock = new ManualClock('2026-03-01T12:00:10Z');
  const events = new EventLog(clock);
  let errorAlerts = true;
  const settings = () => ({ errorAlerts, errorThreshold: 2 });
  const alerts = new ErrorAlerts({ store, events, clock, log: createLog('test', 'silent'), settings });
  const fail = (...statuses: number[]) => alerts.add(statuses.map((status) => dataRequest({ status })));
  const recorded = async () => {
    await store.write(() => undefined);
    return store.read((db) => events.list(db, { start: 0, limit: 0 })).messages.map(({ msg_title }) => msg_title);
  };
  fail(500, 403, 404, 200, 503);
  alerts.add(Array.from({ length: 9 }, () => dataRequest({ status: 503, isLimited: true })));
  assert.deepEqual(await recorded(), []);
  fail(500);
  fail(500, 500);
  const title = 'More than 2 data requests failed in the minute from 2026-03-01 12:00:00 UTC.';
  assert.deepEqual(await recorded(), [title]);
  clock.advance(60_000);
  fail(500, 502);
  assert.equal((await recorded()).length, 1, 'each minute is counted from nothing');
  fail(500);
  assert.equal((await recorded()).length, 2);
  errorAlerts = false;
  clock.advance(60_000);
  fail(500, 500, 500, 500);
  assert.equal((await recorded()).length, 2);
});
