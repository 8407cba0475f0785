import assert from 'node:assert/strict';
import { test } from 'node:test';
import { linesOf, rowsOf } from '../src/objects/metering/points.ts';
import { byFullness, concernsOf, type ObjectFacts } from '../src/objects/overview/standing.ts';
import { protectionOf, untilFull, withoutCopies } from '../src/objects/policies/words.ts';
import type { Drive, Policy } from '../src/objects/records.ts';
import { amountOf, monthsUntil, nameOf, reportCsv, type Report } from '../src/objects/usage/report.ts';

/** Goal: what the pages of an object storage array work out without a browser. */

function policy(fields: Partial<Policy>): Policy {
  const normal = { name: 'policy-00000001', display_name: 'copies', state: 'initialized', health_status: 'normal' };
  const sizes = { capacity: 100, used_capacity: 10, capacity_mode: 'normal', full_in_min: null };
  return { ...normal, ...sizes, rebalance_status: 'done', ...fields } as Policy;
}

function facts(fields: Partial<ObjectFacts>): ObjectFacts {
  const settings = { encryption: 'none', smtp_host: null } as const;
  return { policies: [], drives: [], controllers: [], accounts: [], requests: [], settings, ...fields };
}

test('an array whose parts are all normal has nothing that needs attention', () => {
  assert.deepEqual(concernsOf(facts({ policies: [policy({})] })), []);
});

test('what is lost or full comes before what can wait, with a page for each', () => {
  const drive = { name: 'volume-1', display_name: 'volume-1', status: 'Failed', storage_policy: 'copies' } as Drive;
  const concerns = concernsOf(
    facts({
      policies: [policy({ used_capacity: 90 }), policy({ name: 'policy-2', health_status: 'degraded' })],
      drives: [drive],
      settings: { encryption: 'locked', smtp_host: null },
    }),
  );
  assert.deepEqual(
    concerns.map(({ isSevere, to }) => [isSevere, to]),
    [
      [true, '/policies/policy-2'],
      [true, '/drives/volume-1'],
      [true, '/settings'],
      [false, '/policies/policy-00000001'],
    ],
  );
});

test('policies are in the order in which they fill up, those that do not grow by how full they are', () => {
  const all = [
    policy({ name: 'full', used_capacity: 80 }),
    policy({ name: 'empty', used_capacity: 1 }),
    policy({ name: 'later', full_in_min: 900 }),
    policy({ name: 'soon', full_in_min: 90 }),
  ];
  assert.deepEqual(
    byFullness(all).map(({ name }) => name),
    ['soon', 'later', 'full', 'empty'],
  );
});

test('a policy says in words when it is full and what it survives', () => {
  assert.equal(untilFull(null), 'no growth measured');
  assert.equal(untilFull(0), 'full');
  assert.equal(untilFull(119), 'full in 119 minutes at the pace of the last hour');
  assert.equal(untilFull(300), 'full in 5 hours at the pace of the last hour');
  assert.equal(untilFull(3 * 24 * 60), 'full in 3 days at the pace of the last hour');
  assert.equal(untilFull(10_000_000), 'grows slowly');
  const copies = { number_of_mirrors: 2, data_fragments: 0, parity_fragments: 0 };
  assert.equal(protectionOf(copies), '2 copies; survives the loss of one drive');
  const fragments = { number_of_mirrors: 0, data_fragments: 4, parity_fragments: 2 };
  assert.equal(protectionOf(fragments), '4 data and 2 parity fragments; survives the loss of 2 drives');
});

test('a latency of no request is a gap, not a time of nothing', () => {
  const iops = [{ time: 10, iops_get: 1, iops_put: 0, iops_delete: 0 }];
  const latency = [{ time: 10, latency_get: 4, latency_put: 0, latency_delete: 0 }];
  const throughput = [{ time: 10, throughput_get: 512, throughput_put: 0, throughput_delete: 0 }];
  assert.deepEqual(
    linesOf('latency', latency).map(({ values }) => values),
    [[4], [null], [null]],
  );
  assert.deepEqual(rowsOf({ iops, latency, throughput }), [{ time: 10, values: [1, 0, 0, 512, 0, 0, 4, null, null] }]);
});

test('figures of one row are of one moment, although each measure is asked for on its own', () => {
  const iops = [10, 20].map((time) => ({ time, iops_get: time, iops_put: 0, iops_delete: 0 }));
  const throughput = [20, 30].map((time) => ({ time, throughput_get: time, throughput_put: 0, throughput_delete: 0 }));
  const latency: never[] = [];
  assert.deepEqual(rowsOf({ iops, latency, throughput }), [
    { time: 20, values: [20, 0, 0, 20, 0, 0, null, null, null] },
    { time: 10, values: [10, 0, 0, null, null, null, null, null, null] },
  ]);
});

const line = { category: 'capacity', subcategory: 'policy-00000001', type: 'used_capacity', unit: 'GBMONTH' };

test('a usage report as CSV has exact figures, and no name in it is a formula', () => {
  const report = {
    account_usage_summary: [
      {
        account_header: { id: 'ab', name: '=1+1,"x"', email: null, total_usage_charges: 0.25 },
        usage_summary: [
          { ...line, billed_units: 1e-7, billed_amount: 0.25 },
          { ...line, category: 'objects', subcategory: 'total', unit: 'count', billed_units: 18_070, billed_amount: 0 },
        ],
      },
    ],
    report_header: {
      billing_unit: 'eur',
      reporting_interval: { start_time: '2026-11-01 00:00:00 UTC', end_time: '2026-11-19 00:00:00 UTC' },
    },
  } as unknown as Report;
  const [head, ...rows] = reportCsv(report).split('\r\n');
  assert.equal(
    head,
    'Account,Account ID,From,To,Category,Subcategory,Quantity (count),Quantity (GiB),Quantity (GiB months),Charge (EUR)',
  );
  const account = `"'=1+1,""x""",ab,2026-11-01 00:00:00 UTC,2026-11-19 00:00:00 UTC`;
  assert.deepEqual(rows, [
    `${account},capacity,policy-00000001,,,0.0000001,0.25`,
    `${account},objects,total,18070,,,0`,
    '',
  ]);
});

test('lines of a report are in words, and little is not shown as nothing', () => {
  assert.equal(nameOf({ ...line, subcategory: 'total' }), 'Capacity');
  assert.equal(nameOf({ category: 'data_transfer', subcategory: 'upload' }), 'Transfer, upload');
  assert.equal(amountOf({ billed_units: 0.000125, unit: 'GBMONTH' }), 'less than 0.001 GiB months');
  assert.equal(amountOf({ billed_units: 1807, unit: 'count' }), '1,807');
});

test('months go back over the turn of the year', () => {
  assert.deepEqual(monthsUntil(new Date('2026-01-31T23:00:00Z'), 3), ['2026-01', '2025-12', '2025-11']);
});

test('what further copies and parity take is not usable', () => {
  const copies = { number_of_mirrors: 2, data_fragments: 0, parity_fragments: 0 };
  const fragments = { number_of_mirrors: 0, data_fragments: 4, parity_fragments: 2 };
  assert.deepEqual([withoutCopies(copies, 20), withoutCopies(fragments, 60)], [10, 40]);
});
