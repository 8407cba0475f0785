import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { createLog, ManualClock, Store } from '@granary/kernel';
import fc from 'fast-check';
import { temporaryFolder } from '../../testing/folders.ts';
import { dataRequest } from '../testing/requests.ts';
import { FIGURES, noFigures, addFigures, type Figures } from './figures.ts';
import { meteringMigrations } from './migrations.ts';
import { iopsPoint, latencyPoint, throughputPoint, type Point } from './points.ts';
import { Metering } from './service.ts';
import type { Subject } from './slots.ts';

const ACCOUNT = 'a'.repeat(32);
const account: Subject = { kind: 'account', name: ACCOUNT };
const START = Date.parse('2026-03-01T00:00:00Z');
const DAY_S = 86_400;
/** For the property alone: a long time in short intervals would take all memory. */
const POINTS_MAX = 20_000;
const log = createLog('test', 'silent');

function open(folder: string | null, clock: ManualClock) {
  const store = new Store(folder === null ? ':memory:' : join(folder, 'metering.db'), meteringMigrations);
  const metering = new Metering({ store, clock, log, driveUuid: (number) => (number === 7 ? 'uuid-7' : undefined) });
  return { store, metering };
}

function start(t: TestContext) {
  const clock = new ManualClock(START);
  const { store, metering } = open(temporaryFolder(t), clock);
  t.after(() => store.close());
  return { clock, store, metering };
}

function sumOf(points: readonly Point[]): Figures {
  const sum = noFigures();
  for (const { figures } of points) addFigures(sum, figures);
  return sum;
}

function assertClose(actual: Figures, expected: Figures, message: string): void {
  for (const name of FIGURES) {
    const difference = Math.abs(actual[name] - expected[name]);
    assert.ok(
      difference <= 1e-6 * Math.max(1, expected[name]),
      `${message}: ${name} ${actual[name]} ${expected[name]}`,
    );
  }
}

const controller = 'vsa-00000001-vc-0';

test('a request counts for its account, user, policy and controller, and for the group of all controllers', (t) => {
  const { clock, metering } = start(t);
  clock.advance(5_000);
  const at = START + 4_000;
  const requests = [
    dataRequest({ at, bytesIn: 1_000, milliseconds: 40 }),
    dataRequest({ at, bytesIn: 500, milliseconds: 20, policy: 1, user: null }),
    dataRequest({ at, class: 'get', bytesOut: 6_000, milliseconds: 3 }),
    dataRequest({ at, class: 'delete', bytesDeleted: 1_200, milliseconds: 6, status: 204 }),
    dataRequest({ at, class: 'other' }),
    dataRequest({ at, subject: 'bucket', bytesOut: 10 }),
  ];
  metering.record(controller, { requests, drives: [] });
  const newest = (subject: Subject) => metering.points(subject, { interval: 10, count: 2 }).at(-1)!;
  const time = START / 1000 + 10;
  assert.deepEqual(iopsPoint(newest(account)), { time, iops_put: 0.2, iops_delete: 0.1, iops_get: 0.1 });
  assert.deepEqual(latencyPoint(newest(account)), { time, latency_put: 30, latency_delete: 6, latency_get: 3 });
  assert.deepEqual(throughputPoint(newest(account)), {
    time,
    throughput_put: 150,
    throughput_delete: 120,
    throughput_get: 600,
  });
  assert.equal(newest({ kind: 'user', name: 'b'.repeat(32) }).figures.puts, 1);
  assert.equal(newest({ kind: 'policy', name: '1' }).figures.put_bytes, 500);
  assert.equal(newest({ kind: 'controller', name: controller }).figures.puts, 2);
  assert.equal(newest({ kind: 'group', name: 'lbg-1' }).figures.puts, 2);
  const idle = newest({ kind: 'account', name: 'nobody' });
  assert.deepEqual(latencyPoint(idle), { time, latency_put: 0, latency_delete: 0, latency_get: 0 });
});

test('a drive counts the pieces it wrote, read and dropped; an unknown one is ignored', (t) => {
  const { metering } = start(t);
  const work = (operations: number) => ({ operations, bytes: operations * 4_096, milliseconds: operations * 2 });
  const activity = { put: work(3), get: work(2), delete: work(1) };
  metering.record(controller, {
    requests: [],
    drives: [
      { drive: 7, activity },
      { drive: 8, activity },
    ],
  });
  const { figures } = metering.points({ kind: 'drive', name: 'uuid-7' }, { interval: 60, count: 1 })[0]!;
  assert.deepEqual(
    [figures.puts, figures.put_bytes, figures.gets, figures.get_ms, figures.deletes],
    [3, 12_288, 2, 4, 1],
  );
});

test('points lie on multiples of the interval, the newest last and under way', (t) => {
  const { clock, metering } = start(t);
  clock.set('2026-03-01T00:10:07Z');
  const points = metering.points(account, { interval: 60, count: 3 });
  assert.deepEqual(
    points.map(({ time }) => new Date(time * 1000).toISOString().slice(11, 19)),
    ['00:09:00', '00:10:00', '00:11:00'],
  );
});

test('a request counts when it ends', async (t) => {
  const { clock, metering } = start(t);
  clock.advance(35_000);
  const requests = [dataRequest({ at: START + 1_000, milliseconds: 28_000, bytesIn: 1 })];
  metering.record(controller, { requests, drives: [] });
  await metering.write();
  const puts = metering.points(account, { interval: 10, count: 4 }).map(({ figures }) => figures.puts);
  assert.deepEqual(puts, [0, 0, 1, 0]);
});

test('nothing is lost or counted twice, whatever the interval, before, while and after it is on disk and grows old', async () => {
  const work = fc.record({
    after: fc.oneof(
      fc.integer({ min: 0, max: 30 }),
      fc.integer({ min: 0, max: 7_200 }),
      fc.integer({ min: 0, max: 5 * DAY_S }),
    ),
    kind: fc.constantFrom('put' as const, 'get' as const, 'delete' as const),
    bytes: fc.integer({ min: 0, max: 2 ** 40 }),
    milliseconds: fc.integer({ min: 0, max: 900 }),
    then: fc.constantFrom('nothing' as const, 'write' as const, 'age' as const),
  });
  const interval = fc.oneof(fc.constantFrom(10, 60, 600, 3_600, DAY_S, 604_800), fc.integer({ min: 10, max: 604_800 }));
  const property = fc.asyncProperty(
    fc.array(work, { maxLength: 40 }),
    fc.array(interval, { minLength: 1, maxLength: 5 }),
    async (works, intervals) => {
      const clock = new ManualClock(START);
      const { store, metering } = open(null, clock);
      const expected = noFigures();
      for (const { after, kind, bytes, milliseconds, then } of works) {
        clock.advance(after * 1000);
        const at = clock.now() - milliseconds;
        const moved = { bytesIn: bytes, bytesOut: bytes, bytesDeleted: bytes };
        metering.record(controller, {
          requests: [dataRequest({ class: kind, at, milliseconds, ...moved })],
          drives: [],
        });
        expected[`${kind}s`] += 1;
        expected[`${kind}_bytes`] += bytes;
        expected[`${kind}_ms`] += milliseconds;
        if (then !== 'nothing') await metering.write();
        if (then === 'age') await metering.age();
      }
      const check = (when: string) => {
        for (const one of intervals) {
          const count = Math.ceil((clock.now() - START) / 1000 / one) + 2;
          if (count > POINTS_MAX) continue;
          const points = metering.points(account, { interval: one, count });
          assert.equal(points.length, count);
          assertClose(sumOf(points), expected, `${when}, every ${one} s`);
        }
      };
      check('at the end');
      await metering.finish();
      check('on disk');
      clock.advance(400 * DAY_S * 1000);
      await metering.age();
      check('old');
      const steps = store.read((db) => db.all<{ step: number }>('SELECT DISTINCT step FROM activity'));
      assert.ok(steps.every(({ step }) => step === DAY_S));
      store.close();
    },
  );
  await fc.assert(property, { numRuns: 200 });
});

test('figures that are old enough to be coarse are exact for every interval that is a multiple', async (t) => {
  const { clock, store, metering } = start(t);
  for (let minute = 0; minute < 24 * 60; minute += 1) {
    clock.set(START + minute * 60_000 + 30_000);
    metering.record(controller, { requests: [dataRequest({ at: clock.now(), bytesIn: minute })], drives: [] });
  }
  await metering.finish();
  clock.set(START + 20 * DAY_S * 1000);
  await metering.age();
  const { step } = store.read((db) => db.get<{ step: number }>('SELECT max(step) AS step FROM activity'))!;
  assert.equal(step, 3_600);
  const hours = metering.points(account, { interval: 3_600, count: 20 * 24 + 1 }).slice(0, 24);
  assert.deepEqual(
    hours.map(({ figures }) => figures.puts),
    Array.from({ length: 24 }, () => 60),
  );
  assert.equal(hours[1]!.figures.put_bytes, (60 * (60 + 119)) / 2);
});

test('points are there again after a restart', async (t) => {
  const folder = temporaryFolder(t);
  const clock = new ManualClock(START);
  const before = open(folder, clock);
  before.metering.record(controller, { requests: [dataRequest({ at: START, bytesIn: 77 })], drives: [] });
  await before.metering.finish();
  before.store.close();
  clock.advance(2_000);
  const { store, metering } = open(folder, clock);
  t.after(() => store.close());
  metering.record(controller, { requests: [dataRequest({ at: clock.now(), bytesIn: 23 })], drives: [] });
  assert.equal(metering.points(account, { interval: 10, count: 1 })[0]!.figures.put_bytes, 100);
  assert.equal((await metering.transferred(ACCOUNT, 0, 10 ** 6)).bytesIn, 100);
});

test('what cannot be written waits, and is written once', async (t) => {
  const { clock, store, metering } = start(t);
  const write = store.write.bind(store);
  metering.record(controller, { requests: [dataRequest({ at: START, bytesIn: 5 })], drives: [] });
  clock.advance(20_000);
  store.write = () => Promise.reject(new Error('the disk is full'));
  await assert.rejects(metering.write());
  metering.record(controller, { requests: [dataRequest({ at: clock.now(), bytesIn: 6 })], drives: [] });
  await assert.rejects(metering.write(true));
  assert.equal(sumOf(metering.points(account, { interval: 10, count: 5 })).put_bytes, 11);
  store.write = write;
  await metering.write(true);
  await metering.write(true);
  assert.equal(sumOf(metering.points(account, { interval: 10, count: 5 })).put_bytes, 11);
  assert.equal((await metering.transferred(ACCOUNT, 0, 10 ** 6)).bytesIn, 11);
});

test('an account that is forgotten has neither points nor transfers', async (t) => {
  const { clock, metering } = start(t);
  const other = 'c'.repeat(32);
  const note = () => {
    const requests = [dataRequest({ at: clock.now(), bytesIn: 5 }), dataRequest({ account: other, at: clock.now() })];
    metering.record(controller, { requests, drives: [] });
  };
  note();
  await metering.write(true);
  note();
  await metering.dropAccount(ACCOUNT);
  assert.equal(sumOf(metering.points(account, { interval: 10, count: 5 })).puts, 0);
  assert.equal((await metering.transferred(ACCOUNT, 0, 10 ** 6)).bytesIn, 0);
  assert.equal(sumOf(metering.points({ kind: 'account', name: other }, { interval: 10, count: 5 })).puts, 2);
});
