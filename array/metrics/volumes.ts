import type { Measure, Store } from '@granary/kernel';
import type { VolumeReport } from '../engine/report.ts';
import type { Readings } from '../readings/readings.ts';
import { countSnapshots } from '../snapshots/repository.ts';
import { listNamedVolumes } from '../volumes/repository.ts';
import { gauge } from './gauges.ts';
import { ioMeasures } from './io.ts';

/**
 * Limit of volumes with series of their own, the oldest first: each has about forty. Those of the pool count all of them,
 * and `granary_volumes_without_series` says how many are left out.
 */
const VOLUMES_MAX = 200;

export function volumeMeasures(store: Store, readings: Readings): Measure[] {
  const named = () => store.read((db) => listNamedVolumes(db, VOLUMES_MAX));
  function* reports(): Generator<VolumeReport> {
    for (const { name } of named().volumes) {
      const report = readings.volume(name);
      if (report) yield report;
    }
  }
  const reported = (valueOf: (report: VolumeReport) => number) =>
    function* read() {
      for (const report of reports()) yield { labels: { volume: report.id }, value: valueOf(report) };
    };
  return [
    gauge('volumes', 'Volumes by kind: blocks, or files for shares', () => {
      const { counts } = named();
      return (['block', 'file'] as const).map((kind) => ({ labels: { kind }, value: counts[kind] }));
    }),
    gauge('volumes_without_series', 'Volumes beyond the limit of series', () => {
      const { counts, volumes } = named();
      return [{ labels: {}, value: counts.block + counts.file - volumes.length }];
    }),
    gauge('volume_info', 'Name, pool and kind of a volume, always 1', () =>
      named().volumes.map(({ name, displayName, pool, kind }) => ({
        labels: { volume: name, name: displayName, pool, kind },
        value: 1,
      })),
    ),
    gauge(
      'volume_size_bytes',
      'Size of a volume',
      reported(({ sizeBytes }) => sizeBytes),
    ),
    gauge(
      'volume_used_bytes',
      'What a volume and its snapshots hold of their pool',
      reported(({ ownBytes, snapshotBytes }) => ownBytes + snapshotBytes),
    ),
    gauge(
      'volume_unreduced_bytes',
      'What a volume stored before its data reduction was switched on, and is still to be reduced',
      reported(({ unreducedBytes = 0 }) => unreducedBytes),
    ),
    gauge('snapshots', 'Snapshots of all volumes', () => [
      { labels: {}, value: store.read((db) => countSnapshots(db)) },
    ]),
    ...ioMeasures('volume', 'volume', reports),
  ];
}
