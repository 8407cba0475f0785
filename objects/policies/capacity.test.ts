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

/** A forecast that looked once a minute at what `usedAt` says, for so many minutes. */
function watched(minutes: number, usedAt: (minute: number) => number): CapacityForecast {
  const forecast = new CapacityForecast();
  for (let minute = 0; minute <= minutes; minute++) forecast.sample([holding(usedAt(minute))], START + minute * MINUTE);
  return forecast;
}

test('a policy that grows says in how many minutes it will be full, and alerts six hours before', () => {
  const forecast = watched(90, (minute) => 1_000 + 10 * minute);
  const now = START + 90 * MINUTE;
  assert.equal(forecast.fullInMin(holding(1_900), now), 810);
  assert.equal(forecast.modeOf(holding(1_900), now), 'normal');
  assert.equal(forecast.fullInMin(holding(7_300), now), 27);
  assert.equal(forecast.modeOf(holding(7_300), now), 'alert');
});

test('a first upload is no forecast: it takes a whole hour to know the pace', () => {
  const forecast = watched(59, (minute) => (minute === 0 ? 0 : 3_000));
  assert.equal(forecast.fullInMin(holding(3_000), START + MINUTE), null);
  assert.equal(forecast.fullInMin(holding(3_000), START + 59 * MINUTE), null);
  assert.equal(forecast.modeOf(holding(3_000), START + 59 * MINUTE), 'normal');
  assert.equal(forecast.fullInMin(holding(3_000), START + 60 * MINUTE), 140);
});

test('the hour goes on by itself, also where samples come late', () => {
  const forecast = new CapacityForecast();
  for (let at = 0; at <= 10; at++) forecast.sample([holding(1_000 + 100 * at)], START + at * 7 * MINUTE);
  assert.equal(forecast.fullInMin(holding(2_000), START + 70 * MINUTE), 560);
});

test('a policy that does not grow, or has no drives, has no time by which it is full', () => {
  const forecast = watched(60, () => 1_000);
  const now = START + 60 * MINUTE;
  assert.equal(forecast.fullInMin(holding(1_000), now), null);
  assert.equal(forecast.fullInMin(holding(900), now), null);
  assert.equal(forecast.fullInMin(holding(1_100, 0), now), null);
  assert.equal(new CapacityForecast().fullInMin(holding(10_001), now), 0, 'one that is full is full now');
});
