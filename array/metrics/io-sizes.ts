import type { HistogramMeasure } from '@granary/kernel';
import { IO_SIZE_ENDS } from '../engine/report.ts';
import type { Readings } from '../readings/readings.ts';

/** How large the reads and writes of volumes are, of those where it is counted (`mtr_histograms`). */
export function sizeMeasure(readings: Readings): HistogramMeasure {
  return {
    name: 'granary_volume_io_size_bytes',
    help: 'Reads and writes of a volume by size, where they are counted',
    type: 'histogram',
    *read() {
      for (const { id: volume, sizes } of readings.volumes) {
        if (!sizes) continue;
        yield { labels: { volume, direction: 'read' }, ends: IO_SIZE_ENDS, counts: sizes.reads };
        yield { labels: { volume, direction: 'write' }, ends: IO_SIZE_ENDS, counts: sizes.writes };
      }
    },
  };
}
