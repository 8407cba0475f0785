import assert from 'node:assert/strict';
import { test } from 'node:test';
import { itemsOf, presentPrices, steps, utcMinute } from '../src/portal/prices/history.ts';
import { dayAfter, dayOr, monthStart, perOf, presets, today } from '../src/portal/billing-window.ts';
import { browserName } from '../src/parts/browser-name.ts';
import { itemNames } from '../src/portal/item-names.ts';
import { reasonOfDenial, stateWords } from '../src/portal/arrays/record.ts';
import { priceWords } from '../src/portal/request-price.ts';
import { askedFor, kindWords } from '../src/portal/request-words.ts';

/** Goal: what pages of the portal work out of records without a browser. */

const now = Date.parse('2026-03-31T23:30:00Z');

test('an order that was denied is not shown as one that waits, nor as an array that failed', () => {
  const denied = { status: 'failed', status_message: 'Request 7 was denied: out of budget' } as const;
  assert.deepEqual([stateWords(denied), reasonOfDenial(denied)], ['denied', 'out of budget']);
  const broken = { status: 'failed', status_message: 'It crashed.' } as const;
  assert.deepEqual([stateWords(broken), reasonOfDenial(broken)], ['failed', undefined]);
  const waiting = { status: 'creating', status_message: 'Waiting for an administrator to approve request 7' } as const;
  assert.equal(stateWords(waiting), 'waiting for approval');
});

test('the days of a bill are those of UTC, and months have their own lengths', () => {
  assert.deepEqual([today(now), monthStart(now)], ['2026-03-31', '2026-03-01']);
  assert.equal(dayAfter('2026-02-28'), '2026-03-01');
  assert.deepEqual(presets(now), [
    { label: 'This month', from: '2026-03-01', to: '2026-03-31' },
    { label: 'Last month', from: '2026-02-01', to: '2026-02-28' },
    { label: 'Twelve months', from: '2025-04-01', to: '2026-03-31' },
  ]);
  assert.deepEqual([perOf('2026-01-01', '2026-02-28'), perOf('2026-01-01', '2026-12-31')], ['day', 'month']);
});

test('prices of an item are one row with what it cost, costs and will cost', () => {
  const drive = { kind: 'drive', key: 'SSD', hourly_price_usd: '0.1' };
  const all = [
    { ...drive, effective_from: '2026-01-01 00:00:00 UTC', state: 'past' },
    { ...drive, hourly_price_usd: '0.2', effective_from: '2026-02-01 00:00:00 UTC', state: 'present' },
    { ...drive, hourly_price_usd: '0.3', effective_from: '2027-01-01 00:00:00 UTC', state: 'planned' },
    { ...drive, kind: 'engine', key: 'small', effective_from: '2026-01-01 00:00:00 UTC', state: 'present' },
  ] as const;
  const [engine, item] = itemsOf(all);
  assert.deepEqual([engine?.key, item?.key], ['small', 'SSD'], 'engines come first');
  assert.equal(item?.present?.hourly_price_usd, '0.2');
  assert.deepEqual(
    item.planned.map((one) => one.hourly_price_usd),
    ['0.3'],
  );
  assert.equal(presentPrices(all).get('drive:SSD'), 0.2);
});

test('a price holds until the next one, and the last one until now', () => {
  const points = [
    { at: 100, price: 1 },
    { at: 200, price: 2 },
  ];
  assert.deepEqual(steps(points, 300), { times: [100, 199, 200, 300], values: [1, 1, 2, 2] });
  assert.deepEqual(steps(points, 150), { times: [100, 199, 200], values: [1, 1, 2] });
  assert.deepEqual(steps([], 300), { times: [], values: [] });
});

test('a moment of the viewer is sent to the minute in UTC; what is no moment is not sent', () => {
  assert.match(utcMinute('2027-01-01T09:30') ?? '', /^202[67]-\d\d-\d\d \d\d:\d\d$/);
  assert.equal(utcMinute(''), undefined);
});

const cloud = {
  engine_types: [{ key: 'engine_small', name: 'Small' }],
  drive_types: [{ key: 'SSD_10GB', name: '10 GB SSD' }],
  app_engines: [{ name: 'app_small' }],
  zones: [{ allocation_zone_name: 'zone_0', allocation_zone_disp_name: 'Zone 0' }],
};

test('keys are shown by their names, unless clouds name them differently', () => {
  const nameOf = itemNames([cloud]);
  assert.deepEqual(['engine_small', 'SSD_10GB', 'app_small', 'zone_0', 'object_storage', 'engine_gone'].map(nameOf), [
    'Small',
    '10 GB SSD',
    'Small',
    'Zone 0',
    'Object storage',
    'engine_gone',
  ]);
  const other = { ...cloud, engine_types: [{ key: 'engine_small', name: 'Tiny' }] };
  assert.deepEqual(['engine_small', 'SSD_10GB'].map(itemNames([cloud, other])), ['engine_small', '10 GB SSD']);
});

test('what a request asks for is one line in words', () => {
  const said = (given: Readonly<Record<string, unknown>>) => askedFor({ arguments: given }, itemNames([cloud]));
  const order = { provider: 'local', product: 'storage_array', drives: { SSD_10GB: 8 }, engine: 'engine_small' };
  assert.equal(
    said({ ...order, name: 'tank', moderate: true, flash_cache_capacity: 200, create_raid_10_pools: true }),
    'at local, disks and file shares, 8 × 10 GB SSD, engine Small, 200 GiB of cache, pools made at once',
  );
  assert.equal(
    said({ change: { type: 'engine', engine: 'engine_small', appEngine: 'app_small' } }),
    'engine Small, app engine Small',
  );
  assert.equal(said({ change: { type: 'cache', extraCacheGb: 0 } }), '0 GiB of cache beyond the engine’s own');
  assert.equal(said({ change: { type: 'drives', drives: { SSD_10GB: 2 } } }), '2 × 10 GB SSD');
  assert.equal(said({ display_name: 'farm', cores: 64, flc_enabled: null }), 'display name farm, cores 64');
  assert.deepEqual([kindWords('create_array'), kindWords('of_tomorrow')], ['New array', 'Of tomorrow']);
});

test('a browser is named by what it says of itself', () => {
  const on = (system: string, rest: string) =>
    browserName(`Mozilla/5.0 (${system}) AppleWebKit/537.36 (KHTML, like Gecko) ${rest}`);
  const chrome = 'Chrome/156.0.0.0 Safari/537.36';
  assert.equal(on('X11; Linux x86_64', chrome), 'Chrome 156 on Linux');
  assert.equal(on('Windows NT 10.0; Win64; x64', `${chrome} Edg/156.0.0.0`), 'Edge 156 on Windows');
  assert.equal(
    on('iPhone; CPU iPhone OS 19_0 like Mac OS X', 'Version/19.0 Mobile/15E148 Safari/604.1'),
    'Safari 19 on iOS',
  );
  assert.equal(
    browserName('Mozilla/5.0 (Macintosh; Intel Mac OS X 14.0; rv:140.0) Gecko/20100101 Firefox/140.0'),
    'Firefox 140 on macOS',
  );
  assert.equal(browserName('curl/8.5.0'), 'curl/8.5.0');
});

test('an address names a day of a bill, or the page shows its own', () => {
  assert.equal(dayOr('2026-02-28', 'own'), '2026-02-28');
  for (const wrong of ['', '2026-13-40', 'yesterday', '1', '0000-00-00', '20260228'])
    assert.equal(dayOr(wrong, 'own'), 'own');
});

test('a request says what is billed for what it asks for', () => {
  const prices = new Map([
    ['engine:engine_small', 0.1],
    ['app_engine:app_small', 0.02],
    ['drive:SSD', 0.01],
    ['cache_gb:cache_gb', 0.001],
  ]);
  const order = { engine: 'engine_small', app_engine: 'app_small', drives: { SSD: 4 }, flash_cache_capacity: 200 };
  const words = (kind: string, given: Record<string, unknown>) => priceWords({ kind, arguments: given }, prices);
  assert.equal(words('create_array', order), '0.36 USD per hour, about 262.80 USD a month');
  assert.equal(
    words('create_array', { engine: null, drives: { SSD: 3 } }),
    '0.03 USD per hour, about 21.90 USD a month',
  );
  const more = { change: { type: 'drives', drives: { SSD: 2 } } };
  assert.equal(words('add_drives', more), '0.02 USD per hour more, about 14.60 USD a month');
  assert.equal(words('delete_array', {}), undefined);
  assert.equal(words('add_drives', { change: { drives: { HDD: 1 } } }), undefined, 'half a price is none');
});
