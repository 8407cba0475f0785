import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { createLog, GranaryError, ManualClock, Store } from '@granary/kernel';
import type { StoredUsage } from '@granary/storage/object-store';
import fc from 'fast-check';
import { temporaryFolder } from '../../testing/folders.ts';
import { testConfiguration } from '../../kernel/process/testing/configuration.ts';
import { insertAccount, setState } from '../accounts/repository.ts';
import type { ObjectsActor } from '../actor.ts';
import { meteringMigrations } from '../metering/migrations.ts';
import { Metering } from '../metering/service.ts';
import { migrations } from '../migrations.ts';
import { recordPrice } from '../prices/repository.ts';
import { dataRequest } from '../testing/requests.ts';
import { amountShown, movedShares, nanosOf, storedShares, unitsShown } from './amount.ts';
import { monthsOf, periodOf } from './period.ts';
import { UsageReports, type ReportAsked } from './service.ts';

const GB = 2 ** 30;
const DAY_MS = 86_400_000;
const WEB = 'a'.repeat(32);
const BACKUP = 'b'.repeat(32);
const dana: ObjectsActor = { id: 'user:1', role: 'objs_admin', username: 'dana', accountId: WEB };
const portal: ObjectsActor = { id: 'portal', role: 'objs_admin', username: 'portal', accountId: null };
const monthly: ReportAsked = { report_time: 'monthly', report_type: 'detailed' };
const detailed = (fromdate: string, todate: string): ReportAsked => ({
  report_time: 'custom',
  report_type: 'detailed',
  fromdate,
  todate,
});

/** Bytes that an account keeps under a policy from a moment on, whatever is asked. */
interface Kept {
  readonly account: string;
  readonly policy: number;
  readonly bytes: number;
  readonly since: number;
}

async function start(t: TestContext) {
  const clock = new ManualClock('2026-02-11T00:00:00Z');
  const store = new Store(':memory:', migrations);
  const meteringStore = new Store(':memory:', meteringMigrations);
  t.after(() => {
    store.close();
    meteringStore.close();
  });
  const kept: Kept[] = [];
  const metering = new Metering({
    store: meteringStore,
    clock,
    log: createLog('test', 'silent'),
    driveUuid: () => undefined,
  });
  const settings = { billingUnit: 'eur' as const };
  const configuration = testConfiguration(temporaryFolder(t));
  const stored = (account: string, from: number, to: number): StoredUsage[] =>
    kept
      .filter((one) => one.account === account && one.since < to)
      .map(({ policy, bytes, since }) => ({
        account,
        policy,
        byteMilliseconds: BigInt(bytes) * BigInt(to - Math.max(since, from)),
        bytes,
        objects: 3,
        buckets: 1,
      }));
  await store.write((tx) => {
    insertAccount(tx, { id: WEB, name: 'webhosting', isSystem: false }, 0);
    insertAccount(tx, { id: BACKUP, name: 'backup', isSystem: false }, 0);
    recordPrice(tx, 'upload', 0.01, 0);
    recordPrice(tx, 'download', 0.09, 0);
    recordPrice(tx, 'policy:hot', '0.1', 0);
    recordPrice(tx, 'policy:cold', '0.025', 0);
  });
  const reports = new UsageReports({
    store,
    clock,
    metering,
    stored,
    configuration: () => configuration,
    settings: () => settings,
    policies: () => [
      { index: 0, name: 'policy-00000001', displayName: 'hot' },
      { index: 1, name: 'policy-00000002', displayName: 'cold' },
    ],
    flush: () => Promise.resolve(),
  });
  const move = (account: string | null, day: string, bytesIn: number, bytesOut: number) => {
    const at = Date.parse(day);
    metering.record('vc', { requests: [dataRequest({ account, at, bytesIn, bytesOut })], drives: [] });
  };
  return { clock, store, kept, reports, move, settings };
}

test('a report is exactly what was moved and stored, at the prices of the array', async (t) => {
  const { clock, kept, reports, move } = await start(t);
  const january = Date.parse('2026-01-01T00:00:00Z');
  kept.push({ account: WEB, policy: 0, bytes: 62 * GB, since: january + 15.5 * DAY_MS });
  kept.push({ account: WEB, policy: 1, bytes: 7, since: january + 30 * DAY_MS });
  kept.push({ account: BACKUP, policy: 1, bytes: 40 * GB, since: january - 90 * DAY_MS });
  move(WEB, '2025-12-31T23:59:59Z', GB, GB);
  move(WEB, '2026-01-01T00:00:00Z', GB, 0);
  for (let part = 0; part < 1_000; part += 1) move(WEB, '2026-01-20T10:00:00Z', 1_000_003, 0);
  move(WEB, '2026-01-31T23:59:59Z', 0, GB / 4);
  move(WEB, '2026-02-01T00:00:00Z', GB, GB);
  move(BACKUP, '2026-01-10T10:00:00Z', 0, 10 * GB);
  move(null, '2026-01-10T10:00:00Z', GB, GB);
  clock.set('2026-02-11T10:00:00Z');
  const usage = await reports.generate({ ...monthly, month: '2026-01' }, dana);
  const up = GB + 1_000_003_000;
  assert.deepEqual(usage.account_usage_summary, [
    {
      account_header: { email: null, total_usage_charges: 3.141813254, id: WEB, name: 'webhosting' },
      usage_summary: [
        item('data_transfer', 'upload', 'streaming-bytes', 'GB', Number((up / GB).toFixed(9)), 0.019313254),
        item('data_transfer', 'download', 'streaming-bytes', 'GB', 0.25, 0.0225),
        item('objects', 'total', 'object_count', 'count', 6, 0),
        item('containers', 'total', 'container_count', 'count', 2, 0),
        item('capacity', 'policy-00000001', 'used_capacity', 'GBMONTH', 31, 3.1),
        item('capacity', 'policy-00000002', 'used_capacity', 'GBMONTH', 0, 0),
      ],
    },
  ]);
  assert.deepEqual(usage.report_header.policy_capacity_usage_cost_gbmonth, {
    'policy-00000001': 0.1,
    'policy-00000002': 0.025,
  });
  assert.deepEqual(usage.report_header.reporting_interval, {
    report_time: '2026-02-11 10:00:00 UTC',
    duration_sec: 31 * 86_400,
    start_time: '2026-01-01 00:00:00 UTC',
    end_time: '2026-02-01 00:00:00 UTC',
  });
  assert.equal(usage.report_header.total_usage_charges, 3.141813254);
  assert.equal(usage.report_header.billing_unit, 'eur');
});

function item(category: string, subcategory: string, type: string, unit: string, units: number, amount: number) {
  return { category, subcategory, type, unit, billed_units: units, billed_amount: amount };
}

test('a price that is set later changes no report of the past, and holds for the whole day it is set on', async (t) => {
  const { clock, store, kept, reports, move } = await start(t);
  kept.push({ account: WEB, policy: 0, bytes: 31 * GB, since: Date.parse('2025-01-01T00:00:00Z') });
  for (const day of ['2026-01-09', '2026-01-10', '2026-01-20']) move(WEB, `${day}T10:00:00Z`, GB, 0);
  const january = { ...monthly, month: '2026-01' };
  const charges = async (asked: ReportAsked) => {
    const { account_usage_summary: summary, report_header: header } = await reports.generate(asked, dana);
    const lines = summary[0]!.usage_summary.map((one) => [one.subcategory, one.billed_units, one.billed_amount]);
    return { up: lines[0], hot: lines[4], rate: header.upload_rate_per_gb, objects: lines[2]?.[1] };
  };
  const before = await charges(january);
  assert.deepEqual(before, { up: ['upload', 3, 0.03], hot: ['policy-00000001', 31, 3.1], rate: 0.01, objects: 3 });
  clock.set('2026-02-11T10:00:00Z');
  const setAt = (at: string) =>
    store.write((tx) => {
      recordPrice(tx, 'upload', 1, Date.parse(at));
      recordPrice(tx, 'policy:hot', '9', Date.parse(at));
    });
  await setAt('2026-02-11T10:00:00Z');
  assert.deepEqual(await charges(january), before);
  await setAt('2026-01-10T23:00:00Z');
  const { up, hot, rate } = await charges(january);
  assert.deepEqual([up, rate], [['upload', 3, 2.01], 1]);
  assert.deepEqual(hot, ['policy-00000001', 31, 0.9 + 22 * 9]);
  assert.deepEqual((await charges(detailed('2026-01-01', '2026-01-09'))).up, ['upload', 1, 0.01]);
});

test('a summary has one line for each kind of thing and the same total', async (t) => {
  const { kept, reports, move } = await start(t);
  kept.push({ account: BACKUP, policy: 0, bytes: 28 * GB, since: Date.parse('2026-02-01T00:00:00Z') });
  kept.push({ account: BACKUP, policy: 1, bytes: 28 * GB, since: Date.parse('2026-02-01T00:00:00Z') });
  move(BACKUP, '2026-02-03T00:00:00Z', 2 * GB, GB);
  const asked = { ...monthly, account_id: BACKUP };
  const long = await reports.generate(asked, dana);
  const { account_usage_summary: short } = await reports.generate({ ...asked, report_type: 'summary' }, dana);
  assert.deepEqual(short[0]!.usage_summary, [
    item('data_transfer', 'total', 'streaming-bytes', 'GB', 3, 0.11),
    item('objects', 'total', 'object_count', 'count', 6, 0),
    item('containers', 'total', 'container_count', 'count', 2, 0),
    item('capacity', 'total', 'used_capacity', 'GBMONTH', 20, 1.25),
  ]);
  assert.deepEqual(short[0]!.account_header, long.account_usage_summary[0]!.account_header);
  assert.equal(short[0]!.account_header.total_usage_charges, 1.36);
});

test('the present month is reported so far, and days of two months by the length of each', async (t) => {
  const { clock, kept, reports } = await start(t);
  kept.push({ account: WEB, policy: 0, bytes: 28 * 31 * GB, since: 0 });
  clock.set('2026-02-03T12:00:00Z');
  const unitsOf = async (asked: ReportAsked) => {
    const { account_usage_summary: summaries, report_header: header } = await reports.generate(asked, dana);
    const { end_time: end, duration_sec: seconds } = header.reporting_interval;
    return [summaries[0]!.usage_summary.find(({ unit }) => unit === 'GBMONTH')!.billed_units, end, seconds];
  };
  const now = '2026-02-03 12:00:00 UTC';
  assert.deepEqual(await unitsOf(monthly), [2.5 * 31, now, 2.5 * 86_400]);
  assert.deepEqual(await unitsOf({ ...monthly, month: '2' }), [2.5 * 31, now, 2.5 * 86_400]);
  assert.deepEqual(await unitsOf(detailed('2026-01-31', '2026-02-01')), [
    28 + 31,
    '2026-02-02 00:00:00 UTC',
    2 * 86_400,
  ]);
  assert.deepEqual(await unitsOf(detailed('2026-02-03', '2026-12-31')), [0.5 * 31, now, 43_200]);
});

test("without an account it is the caller's own; the portal, which has none, sees all, and so does who says so", async (t) => {
  const { store, reports } = await start(t);
  const names = async (actor: ObjectsActor, id?: string) =>
    (await reports.generate({ ...monthly, account_id: id }, actor)).account_usage_summary.map(
      ({ account_header: { name } }) => name,
    );
  assert.deepEqual(await names(dana), ['webhosting']);
  assert.deepEqual(await names(dana, BACKUP), ['backup']);
  assert.deepEqual(await names(dana, 'all'), ['backup', 'webhosting']);
  assert.deepEqual(await names(portal), ['backup', 'webhosting']);
  await store.write((tx) => setState(tx, BACKUP, 'deleted', 0));
  assert.deepEqual(await names(dana, BACKUP), ['backup'], 'a deleted account is billed until it is cleaned up');
  await assert.rejects(names(dana, 'c'.repeat(32)), isError('account_not_found', /c{32}/));
});

test('an administrator of an account sees the figures of that account alone', async (t) => {
  const { reports } = await start(t);
  const ana: ObjectsActor = { ...dana, role: 'account_admin', accountId: BACKUP };
  const names = async (id?: string) =>
    (await reports.generate({ ...monthly, account_id: id }, ana)).account_usage_summary.map(
      ({ account_header: { name } }) => name,
    );
  assert.deepEqual([await names(), await names(BACKUP)], [['backup'], ['backup']]);
  for (const id of [dana.accountId ?? '', 'all', 'c'.repeat(32)]) {
    await assert.rejects(names(id), isError('account_not_found', /./), id);
  }
});

test('a period that is not one is refused by the name of what is wrong with it', () => {
  const now = Date.parse('2026-02-11T10:00:00Z');
  const refused = (asked: Omit<Parameters<typeof periodOf>[0], 'report_time'>, problem: RegExp, custom = true) =>
    assert.throws(
      () => periodOf({ report_time: custom ? 'custom' : 'monthly', ...asked }, now),
      isError('bad_parameter', problem),
    );
  refused({ todate: '2026-01-01' }, /^fromdate is required/);
  refused({ fromdate: '2026-01-01' }, /^todate is required/);
  refused({ fromdate: '2026-02-30', todate: '2026-03-01' }, /^fromdate must be a day of the calendar/);
  refused({ fromdate: '2026-01-02', todate: '2026-01-01' }, /^todate must not lie before/);
  refused({ fromdate: '2026-02-12', todate: '2026-02-13' }, /^fromdate must not lie in the future/);
  refused({ fromdate: '2000-01-01', todate: '2026-01-01' }, /^todate must lie within/);
  refused({ month: '2026-03' }, /^month must not lie in the future/, false);
  refused({ month: '12' }, /^month must not lie in the future/, false);
});

function isError(entry: string, problem: RegExp) {
  return (error: unknown) => error instanceof GranaryError && error.entry === entry && problem.test(error.message);
}

test('the report of a time is the sum of those of its days, to the last share', () => {
  const days = fc.integer({ min: 0, max: 20_000 });
  fc.assert(
    fc.property(
      days,
      fc.integer({ min: 1, max: 800 }),
      fc.bigInt({ min: 0n, max: 2n ** 60n }),
      (first, count, bytes) => {
        const from = first * DAY_MS;
        const sharesOf = (begin: number, end: number) =>
          monthsOf({ from: begin, to: end }).reduce(
            (sum, part) => sum + storedShares(bytes * BigInt(part.to - part.from), part.daysOfMonth),
            0n,
          );
        let byDay = 0n;
        for (let day = 0; day < count; day += 1) byDay += sharesOf(from + day * DAY_MS, from + (day + 1) * DAY_MS);
        assert.equal(sharesOf(from, from + count * DAY_MS), byDay);
      },
    ),
    { numRuns: 50 },
  );
});

test('numbers are rounded once, half up, at the ninth decimal', () => {
  assert.equal(nanosOf('0.123456789'), 123_456_789n);
  assert.equal(nanosOf(0.1), 100_000_000n);
  assert.equal(nanosOf('12'), 12_000_000_000n);
  assert.equal(unitsShown(movedShares(GB + GB / 2)), 1.5);
  assert.equal(unitsShown(movedShares(1)), 0.000000001);
  assert.equal(amountShown(movedShares(GB / 2) * 1n), 0.000000001);
  assert.equal(amountShown(movedShares(GB / 2 - 1) * 1n), 0);
  assert.equal(amountShown(movedShares(2 ** 50) * nanosOf('0.09')), 94371.84);
});
