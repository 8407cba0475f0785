import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { DAY_MS, fitRate, type CapacityPoint } from './fit.ts';
import { forecastOf, growthOf, type Forecast } from './forecast.ts';

const GB = 2 ** 30;
const NOW = 2_000 * DAY_MS;
const HOUR_MS = DAY_MS / 24;

/** Hourly points up to now of a use that is known at each hour before it. */
function history(hours: number, usedAgo: (hoursAgo: number) => number): CapacityPoint[] {
  return Array.from({ length: hours + 1 }, (_, index) => {
    const ago = hours - index;
    return { at: NOW - ago * HOUR_MS, usedBytes: usedAgo(ago) };
  });
}

function forecast(points: readonly CapacityPoint[], capacityBytes: number): Forecast {
  const usedBytes = points.at(-1)?.usedBytes ?? 0;
  return forecastOf({ usedBytes, capacityBytes }, growthOf(points, NOW), NOW);
}

const near = (one: number, other: number) => Math.abs(one - other) <= 1e-6 * Math.max(1, Math.abs(other));
const hours = fc.integer({ min: 24, max: 40 * 24 });
const usedGb = fc.integer({ min: 0, max: 1_000 });
const freeGb = fc.integer({ min: 1, max: 10_000 });
const dailyGb = fc.integer({ min: 1, max: 500 });
/** Deviations of a use from a line, by hour. */
const noise = fc.array(fc.integer({ min: -100, max: 100 }), { minLength: 48, maxLength: 48 });
const wave = (deviations: readonly number[], ago: number) => (deviations[ago % deviations.length] ?? 0) * (GB / 100);

test('steady growth gives the exact day, and no range', () =>
  fc.assert(
    fc.property(hours, usedGb, freeGb, dailyGb, (length, used, free, daily) => {
      const points = history(length, (ago) => (used + 1_000_000 - (daily * ago) / 24) * GB);
      const { state, days } = forecast(points, (used + 1_000_000 + free) * GB);
      assert.equal(state, 'growing');
      assert.ok(days?.high !== undefined);
      for (const found of [days.low, days.likely, days.high]) assert.ok(near(found, free / daily), String(found));
    }),
  ));

test('the range holds the likely day, and a faster rate fills it sooner', () =>
  fc.assert(
    fc.property(hours, dailyGb, freeGb, noise, (length, daily, free, deviations) => {
      const points = history(length, (ago) => (1_000_000 - (daily * ago) / 24) * GB + wave(deviations, ago));
      const { days, growth } = forecast(points, (points.at(-1)?.usedBytes ?? 0) + free * GB);
      if (!days || !growth.rate) return;
      assert.ok(days.low <= days.likely && days.likely <= (days.high ?? Infinity));
      assert.ok(growth.rate.low <= growth.rate.likely && growth.rate.likely <= growth.rate.high);
    }),
  ));

test('with more room it is full later, and with more use sooner', () =>
  fc.assert(
    fc.property(hours, dailyGb, freeGb, freeGb, noise, (length, daily, free, more, deviations) => {
      const points = history(length, (ago) => (1_000_000 - (daily * ago) / 24) * GB + wave(deviations, ago));
      const used = points.at(-1)?.usedBytes ?? 0;
      const [small, large] = [free, free + more].map((room) => forecast(points, used + room * GB).days);
      if (!small || !large) return;
      assert.ok(small.likely < large.likely && small.low < large.low);
      const fuller = forecastOf(
        { usedBytes: used + GB / 2, capacityBytes: used + free * GB },
        growthOf(points, NOW),
        NOW,
      );
      assert.ok((fuller.days?.likely ?? 0) < small.likely);
    }),
  ));

test('more noise widens the range of the rate', () =>
  fc.assert(
    fc.property(hours, dailyGb, noise, fc.integer({ min: 2, max: 10 }), (length, daily, deviations, times) => {
      const width = (strength: number) => {
        const points = history(
          length,
          (ago) => (1_000_000 - (daily * ago) / 24) * GB + strength * wave(deviations, ago),
        );
        const { low, high } = fitRate(points, NOW);
        return high - low;
      };
      if (width(1) < 1) return;
      assert.ok(width(times) > width(1) * 1.5, `${width(times)} and ${width(1)}`);
    }),
  ));

test('noise around a line makes the days uncertain to both sides', () => {
  const shaken = history(10 * 24, (ago) => (1_000 - ago) * GB + (ago % 7 === 0 ? 40 * GB : 0));
  const { days } = forecast(shaken, 2_000 * GB);
  assert.ok(days?.high !== undefined);
  assert.ok(days.low < days.likely * 0.999 && days.high > days.likely * 1.001, JSON.stringify(days));
});

test('what shrinks or stands still has no day', () =>
  fc.assert(
    fc.property(hours, freeGb, fc.integer({ min: 0, max: 500 }), (length, free, daily) => {
      const points = history(length, (ago) => (1_000 + (daily * ago) / 24) * GB);
      const { state, days, note } = forecast(points, (1_000 + free) * GB);
      assert.deepEqual([state, days, note], [daily === 0 ? 'steady' : 'shrinking', undefined, undefined]);
    }),
  ));

test('with less than a day of history it says how much there is', () => {
  const some = (length: number) =>
    forecast(
      history(length, (ago) => (100 - ago) * GB),
      1_000 * GB,
    );
  assert.deepEqual(
    [some(2).state, some(2).days, some(2).note],
    ['no_history', undefined, 'Not enough history: 2 hours of 1 day.'],
  );
  assert.equal(some(1).note, 'Not enough history: 1 hour of 1 day.');
  assert.equal(some(24).state, 'growing');
});

test('what is full is full now, whatever is known of it', () => {
  const { state, days } = forecast([{ at: NOW, usedBytes: GB }], GB);
  assert.deepEqual([state, days], ['full', { low: 0, likely: 0, high: 0 }]);
});

test('growth by day, week and month is the change of use, where the history reaches back', () => {
  const { growth } = forecast(
    history(8 * 24, (ago) => (1_000_000 - ago) * GB),
    2_000_000 * GB,
  );
  assert.deepEqual([growth.day, growth.week, growth.month], [24 * GB, 7 * 24 * GB, undefined]);
});

test('only the last month counts for the rate', () => {
  const points = history(60 * 24, (ago) => (ago > 30 * 24 ? 10_000 : 10_000 + (30 * 24 - ago)) * GB);
  assert.ok(near(fitRate(points, NOW).likely, 24 * GB));
});
