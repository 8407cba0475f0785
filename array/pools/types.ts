import type { InputOf } from '@granary/contract';
import type { arrayApi } from '@granary/contract/array';

type PoolType = InputOf<typeof arrayApi.groups.pools.create>['pooltype'];

interface Tuning {
  readonly mode: 'simple' | 'stripe';
  readonly cache: boolean;
  /** Whether what is read through snapshots and clones is kept in the cache. */
  readonly cowCache: boolean;
}

type Wanted = { readonly [K in keyof Tuning]?: Tuning[K] | undefined };

/**
 * Small random requests gain by many drives and by the cache. Long sequential ones gain by many drives, but would only
 * push other pools' data out of the cache. What is written once and seldom read needs neither: filled one after the
 * other, RAID groups that are not reached yet stay idle.
 */
const TUNINGS: Readonly<Record<PoolType, Tuning>> = {
  'Repository Storage': { mode: 'simple', cache: false, cowCache: true },
  'Transactional Workloads': { mode: 'stripe', cache: true, cowCache: true },
  'Archival Storage': { mode: 'simple', cache: false, cowCache: false },
  'Depot Storage': { mode: 'simple', cache: false, cowCache: false },
  'IOPs-Optimized': { mode: 'stripe', cache: true, cowCache: true },
  Balanced: { mode: 'stripe', cache: false, cowCache: true },
  'Throughput-Optimized': { mode: 'stripe', cache: false, cowCache: false },
};

/** What is sent counts; the type of the pool decides the rest. */
export function tuningOf(type: PoolType, wanted: Wanted): Tuning {
  const tuning = TUNINGS[type];
  return {
    mode: wanted.mode ?? tuning.mode,
    cache: wanted.cache ?? tuning.cache,
    cowCache: wanted.cowCache ?? tuning.cowCache,
  };
}
