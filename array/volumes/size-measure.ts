import type { Measure } from '@granary/kernel';
import { IO_SIZE_ENDS } from '../engine/report.ts';
import type { Readings } from '../readings/readings.ts';

/** How large the reads and writes of volumes are, of those where it is counted (`mtr_histograms`). */
export function sizeMeasure(readings: Readings): Measure {
  return {
    name: 'granary_volume_io_sizes',
    help: 'Reads and writes of a volume by size: those of at most `le` bytes, and above the size before',
    labels: ['volume', 'direction', 'le'],
    *read() {
      for (const { id: volume, sizes } of readings.volumes) {
        if (!sizes) continue;
        for (const direction of ['reads', 'writes'] as const) {
          for (const [index, value] of sizes[direction].entries())
            yield { labels: { volume, direction, le: String(IO_SIZE_ENDS[index] ?? '+Inf') }, value };
        }
      }
    },
  };
}
