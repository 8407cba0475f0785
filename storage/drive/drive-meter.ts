import type { DriveStatistics, OperationStatistics } from './drive.ts';

class OperationMeter implements OperationStatistics {
  count = 0;
  bytes = 0;
  errors = 0;
  microseconds = 0;
  microsecondsMax = 0;

  add(bytes: number, milliseconds: number): void {
    const microseconds = milliseconds * 1000;
    this.count += 1;
    this.bytes += bytes;
    this.microseconds += microseconds;
    if (microseconds > this.microsecondsMax) this.microsecondsMax = microseconds;
  }

  snapshot(): OperationStatistics {
    const { count, bytes, errors, microseconds, microsecondsMax } = this;
    return { count, bytes, errors, microseconds, microsecondsMax };
  }
}

/** Counts the operations of a drive; latencies are measured, never estimated. */
export class DriveMeter {
  readonly reads = new OperationMeter();
  readonly writes = new OperationMeter();
  readonly flushes = new OperationMeter();
  readonly discards = new OperationMeter();

  snapshot(): DriveStatistics {
    return {
      reads: this.reads.snapshot(),
      writes: this.writes.snapshot(),
      flushes: this.flushes.snapshot(),
      discards: this.discards.snapshot(),
    };
  }
}
