import type { Done } from '../units.ts';
import type { SharedFile } from './shared-file.ts';

/** A drive: reads and writes of blocks, durability and statistics. Offsets and lengths are whole blocks. */
export interface Drive {
  readonly id: string;
  readonly sizeBytes: number;

  read(offset: number, into: Buffer): Done;
  write(offset: number, from: Buffer): Done;

  /** Resolves when everything written before the call survives a power cut. */
  flush(): Promise<void>;

  /** Resolves when these bytes survive a power cut; other writes may not. */
  writeDurably(offset: number, from: Buffer): Promise<void>;

  /** The range may be deallocated; its content is undefined until it is written again. */
  discard(offset: number, length: number): Promise<void>;

  statistics(): DriveStatistics;
  close(): Promise<void>;

  /** Undefined: large requests are handled like small ones. */
  readonly large?: LargeRequests | undefined;
}

/**
 * What a drive may offer for large requests: they are split with a helper thread (docs/decisions/large-requests.md).
 */
export interface LargeRequests {
  /**
   * Reads, and stores the checksum of each block in `sums`: the thread that reads a piece has its bytes in the
   * processor's cache.
   */
  readSummed(offset: number, into: Buffer, sums: Uint32Array): Done;
  /**
   * The underlying file, for a write that goes to several drives at once; undefined when the drive has to write itself.
   */
  fileToWrite(offset: number, from: Buffer): SharedFile | undefined;
}

/** Totals since the drive was opened. Latencies are summed over all operations, in microseconds. */
export interface DriveStatistics {
  readonly reads: OperationStatistics;
  readonly writes: OperationStatistics;
  readonly flushes: OperationStatistics;
  readonly discards: OperationStatistics;
}

export interface OperationStatistics {
  readonly count: number;
  readonly bytes: number;
  readonly errors: number;
  readonly microseconds: number;
  readonly microsecondsMax: number;
}
