import { stateSamples, WHOLE, type Measure } from '@granary/kernel';
import type { CapacityMode } from '@granary/storage';
import type { PoolReport } from '../engine/report.ts';
import type { PoolFacts } from '../pools/pool.ts';
import type { PoolService } from '../pools/service.ts';
import type { Readings } from '../readings/readings.ts';
import { counter, gauge } from './gauges.ts';
import { ioMeasures } from './io.ts';

const MODES: readonly CapacityMode[] = ['normal', 'alert', 'protected', 'emergency'];
const SECONDS_PER_MINUTE = 60;

export function poolMeasures(pools: PoolService, readings: Readings): Measure[] {
  const all = () => pools.list(WHOLE).pools;
  /** What the engine reports of the pools that are open. */
  const reported = (figure: (report: PoolReport) => number) =>
    function* read() {
      for (const { pool, report } of all())
        if (report?.isOpen === true) yield { labels: { pool: pool.name }, value: figure(report) };
    };
  const known = (figure: (facts: PoolFacts) => number) => () =>
    all().map((facts) => ({ labels: { pool: facts.pool.name }, value: figure(facts) }));
  return [
    gauge('pool_info', 'Name of a pool, always 1', () =>
      all().map(({ pool }) => ({ labels: { pool: pool.name, name: pool.displayName }, value: 1 })),
    ),
    gauge(
      'pool_capacity_bytes',
      'What a pool may use of its RAID groups',
      known(({ pool }) => pool.capacityBytes),
    ),
    gauge(
      'pool_provisioned_bytes',
      'Sizes of the volumes of a pool together',
      known(({ provisionedBytes }) => provisionedBytes),
    ),
    gauge(
      'pool_failed',
      '1 when a pool lacks a RAID group or its metadata',
      known(({ isFailed }) => Number(isFailed)),
    ),
    gauge(
      'pool_used_bytes',
      'What a pool uses',
      reported(({ usedBytes }) => usedBytes),
    ),
    gauge(
      'pool_saved_bytes',
      'What compression and deduplication spare',
      reported(({ savedBytes }) => savedBytes),
    ),
    gauge(
      'pool_full_in_seconds',
      'When a pool will be full at the rate of its history; absent while it does not fill',
      function* read() {
        for (const { pool } of all()) {
          const minutes = pools.capacityState(pool)?.minutesLeft ?? Infinity;
          if (minutes !== Infinity) yield { labels: { pool: pool.name }, value: minutes * SECONDS_PER_MINUTE };
        }
      },
    ),
    gauge('pool_capacity_mode', 'Capacity mode of a pool: 1 for the present one', function* read() {
      for (const { pool } of all()) yield* stateSamples({ pool: pool.name }, MODES, pool.capacityMode);
    }),
    gauge(
      'pool_cache_capacity_bytes',
      'Memory that a pool may cache in',
      reported(({ cache }) => cache.capacityBytes),
    ),
    gauge(
      'pool_cache_used_bytes',
      'Memory that a pool caches in',
      reported(({ cache }) => cache.usedBytes),
    ),
    counter(
      'pool_cache_hits_total',
      'Reads of blocks that were in the cache',
      reported(({ cache }) => cache.hits),
    ),
    counter(
      'pool_cache_misses_total',
      'Reads of blocks that were not',
      reported(({ cache }) => cache.misses),
    ),
    ...ioMeasures('pool', 'pool', () => readings.pools),
  ];
}
