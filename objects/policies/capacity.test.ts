import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CapacityForecast } from './capacity.ts';
import type { PolicyReport } from '../engine/report.ts';

const MINUTE = 60_000;
const START = 1_000 * MINUTE;

function holding(usedBytes: number, capacity = 10_000): PolicyReport {
  const policy = { index: 0, name: 'copies', copies: 2, dataFragments: 0, parityFragments: 0 };
  return { policy, isUsable: true, health: 'normal', usedBytes, capacity };
}

test('a policy that grows says in how many minutes it will be full, and alerts six hours before', () => {
  const forecast = new CapacityForecast();
  forecast.sample([holding(1_000)], START);
  assert.equal(forecast.fullInMin(holding(1_000), START), null, 'one sample shows no growth');
  assert.equal(forecast.fullInMin(holding(1_100), START + 10 * MINUTE), 890);
  assert.equal(forecast.modeOf(holding(1_100), START + 10 * MINUTE), 'normal');
  assert.equal(forecast.fullInMin(holding(6_000), START + 10 * MINUTE), 8);
  assert.equal(forecast.modeOf(holding(6_000), START + 10 * MINUTE), 'alert');
});

test('a policy that does not grow, or has no drives, has no time by which it is full', () => {
  const forecast = new CapacityForecast();
  forecast.sample([holding(1_000)], START);
  assert.equal(forecast.fullInMin(holding(1_000), START + MINUTE), null);
  assert.equal(forecast.fullInMin(holding(900), START + MINUTE), null);
  assert.equal(forecast.fullInMin(holding(1_100, 0), START + MINUTE), null);
  assert.equal(forecast.fullInMin(holding(10_001), START + MINUTE), 0, 'one that is full is full now');
});
