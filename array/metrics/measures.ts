import { stateSamples, type Clock, type HostedConfiguration, type Measure, type Store } from '@granary/kernel';
import type { ArrayDriveService } from '../drives/service.ts';
import type { MirrorStanding } from '../mirror-jobs/mirror.ts';
import type { MirrorService } from '../mirror-jobs/service.ts';
import type { PoolService } from '../pools/service.ts';
import type { RaidGroupService } from '../raid-groups/service.ts';
import type { Readings } from '../readings/readings.ts';
import { gauge } from './gauges.ts';
import { controllerMeasures, driveMeasures, raidGroupMeasures } from './hardware.ts';
import { sizeMeasure } from './io-sizes.ts';
import { poolMeasures } from './pools.ts';
import { volumeMeasures } from './volumes.ts';

interface MeasuredArray {
  readonly store: Store;
  readonly clock: Clock;
  readonly readings: Readings;
  readonly configuration: () => HostedConfiguration;
  readonly pools: PoolService;
  readonly raidGroups: RaidGroupService;
  readonly drives: ArrayDriveService;
  readonly mirrors: MirrorService;
}

/** The measures of an array beside its requests and its process. */
export function arrayMeasures(array: MeasuredArray, version: string): Measure[] {
  const { store, readings, configuration } = array;
  return [
    gauge('array_info', 'Name and version of the array, always 1', () => {
      const { internalName, displayName } = configuration();
      return [{ labels: { array: internalName, name: displayName, version }, value: 1 }];
    }),
    ...poolMeasures(array.pools, readings),
    ...raidGroupMeasures(array.raidGroups, readings),
    ...driveMeasures(array.drives, readings),
    ...volumeMeasures(store, readings),
    ...controllerMeasures(readings),
    sizeMeasure(readings),
    gauge('sessions', 'Sessions of servers by protocol', () =>
      (['ISCSI', 'NFS'] as const).map((protocol) => ({
        labels: { protocol: protocol.toLowerCase() },
        value: readings.sessions.filter((session) => session.protocol === protocol).length,
      })),
    ),
    ...mirrorMeasures(array.mirrors, array.clock),
  ];
}

const MIRROR_STATES: readonly MirrorStanding['state'][] = [
  'creating',
  'active',
  'paused',
  'broken',
  'abandoned',
  'breaking',
  'deleting',
];
const MILLISECONDS = 1000;

function mirrorMeasures(mirrors: MirrorService, clock: Clock): Measure[] {
  return [
    gauge('mirror_info', 'Name of a mirror and which end is here, always 1', () =>
      mirrors.standings().map(({ name, displayName, role }) => ({
        labels: { mirror: name, name: displayName, role },
        value: 1,
      })),
    ),
    gauge('mirror_state', 'State of a mirror: 1 for the present one', function* read() {
      for (const { name, state } of mirrors.standings()) yield* stateSamples({ mirror: name }, MIRROR_STATES, state);
    }),
    gauge(
      'mirror_lag_seconds',
      'Age of the newest snapshot that both sides have; absent before the first, and once a mirror is broken',
      function* read() {
        for (const { name, state, baseTakenAt } of mirrors.standings()) {
          if (baseTakenAt === null || (state !== 'active' && state !== 'paused')) continue;
          yield { labels: { mirror: name }, value: Math.max(0, clock.now() - baseTakenAt) / MILLISECONDS };
        }
      },
    ),
  ];
}
