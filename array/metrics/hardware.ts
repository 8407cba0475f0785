import { stateSamples, WHOLE, type Measure } from '@granary/kernel';
import { statusOf } from '../drives/drive.ts';
import type { ArrayDriveService } from '../drives/service.ts';
import type { GroupState } from '../engine/report.ts';
import type { RaidGroupFacts } from '../raid-groups/raid-group.ts';
import type { RaidGroupService } from '../raid-groups/service.ts';
import type { Readings } from '../readings/readings.ts';
import { counter, gauge } from './gauges.ts';
import { ioTimeMeasures, type Measured } from './io.ts';

const GROUP_STATES: readonly GroupState[] = ['normal', 'degraded', 'recovering', 'scrubbing', 'failed'];
const DRIVE_STATES = ['normal', 'available', 'rebuild', 'shredding', 'absent', 'failed'] as const;
const CONTROLLER_STATES = ['active', 'standby', 'failed'] as const;
const MICROSECONDS = 1e6;

export function raidGroupMeasures(groups: RaidGroupService, readings: Readings): Measure[] {
  const all = () => groups.list(WHOLE).groups;
  /** Where the value is known. */
  const figures = (valueOf: (facts: RaidGroupFacts) => number | undefined) =>
    function* read() {
      for (const facts of all()) {
        const value = valueOf(facts);
        if (value !== undefined) yield { labels: { raid_group: facts.group.name }, value };
      }
    };
  return [
    gauge('raid_group_info', 'Name, pool and protection of a RAID group, always 1', () =>
      all().map(({ group: { name, displayName, pool, protection } }) => ({
        labels: { raid_group: name, name: displayName, pool: pool ?? '', protection },
        value: 1,
      })),
    ),
    gauge('raid_group_state', 'State of a RAID group: 1 for the present one', function* read() {
      for (const { group, report } of all())
        yield* stateSamples({ raid_group: group.name }, GROUP_STATES, report?.state ?? 'failed');
    }),
    gauge(
      'raid_group_rebuild_progress_ratio',
      'How far a rebuild or resync is; absent when there is none',
      figures(({ report }) => (report?.state === 'recovering' ? (report.progress ?? 0) : undefined)),
    ),
    gauge(
      'raid_group_scrub_progress_ratio',
      'How far a scrub is; absent when there is none',
      figures(({ scrubbed }) => (scrubbed === undefined ? undefined : scrubbed / 100)),
    ),
    gauge(
      'raid_group_resync_bytes_per_second',
      'How fast a RAID group rebuilds, resyncs or scrubs',
      figures(({ report }) => report?.resyncSpeed),
    ),
    counter(
      'raid_group_mismatches_total',
      'Blocks that differed between drives when they were scrubbed',
      figures(({ group }) => group.mismatches),
    ),
    ...ioTimeMeasures('raid_group', 'RAID group', () => readings.groups),
  ];
}

export function driveMeasures(drives: ArrayDriveService, readings: Readings): Measure[] {
  const all = () => drives.list(WHOLE).drives;
  return [
    gauge('drive_info', 'Name, type and RAID group of a drive, always 1', () =>
      all().map(({ record: { name, displayName, raidGroup }, placed }) => ({
        labels: { drive: name, name: displayName, type: placed.type, raid_group: raidGroup ?? '' },
        value: 1,
      })),
    ),
    gauge('drive_state', 'State of a drive: 1 for the present one', function* read() {
      for (const drive of all()) {
        // Of a drive that is being shredded, the status says how far.
        const [status = ''] = statusOf(drive).toLowerCase().split(' ');
        const present = DRIVE_STATES.find((state) => state === status) ?? 'failed';
        yield* stateSamples({ drive: drive.record.name }, DRIVE_STATES, present);
      }
    }),
    ...ioTimeMeasures('drive', 'drive', function* named(): Generator<Measured> {
      for (const { record } of all()) {
        const report = readings.drive(record.uuid);
        if (report) yield { id: record.name, io: report.io };
      }
    }),
  ];
}

export function controllerMeasures(readings: Readings): Measure[] {
  return [
    gauge('controller_state', 'State of a controller: 1 for the present one', function* read() {
      for (const { name, state } of readings.controllers)
        yield* stateSamples({ controller: name }, CONTROLLER_STATES, state);
    }),
    counter('controller_cpu_seconds_total', 'Processor time of a controller since it started', function* read() {
      for (const { name, cpuUserMicroseconds, cpuSystemMicroseconds } of readings.controllers) {
        const labels = { controller: name };
        yield { labels: { ...labels, mode: 'user' }, value: cpuUserMicroseconds / MICROSECONDS };
        yield { labels: { ...labels, mode: 'system' }, value: cpuSystemMicroseconds / MICROSECONDS };
      }
    }),
    gauge('controller_memory_bytes', 'Memory of a controller, its cache included', () =>
      readings.controllers.map(({ name, memoryBytes }) => ({ labels: { controller: name }, value: memoryBytes })),
    ),
  ];
}
