import type { Done } from '../units.ts';
import type { SharedFile } from './shared-file.ts';

/** A drive: so many bytes at given places, and what it has done so far. Offsets and lengths are whole blocks. */
export interface Drive {
  readonly id: string;
  readonly sizeBytes: number;

  read(offset: number, into: Buffer): Done;
  write(offset: number, from: Buffer): Done;

  /** Resolves when everything written before the call survives a power cut. */
  flush(): Promise<void>;

  /** Resolves when these bytes, though perhaps nothing else that was written, survive a power cut. */
  writeDurably(offset: number, from: Buffer): Promise<void>;

  /** The range may be given back to the machine; it reads as anything until it is written again. */
  discard(offset: number, length: number): Promise<void>;

  statistics(): DriveStatistics;
  close(): Promise<void>;

  /** Undefined: large requests go the way of small ones. */
  readonly large?: LargeRequests | undefined;
}

/** What a drive may offer for large requests: they are shared with a helper thread (docs/decisions/large-requests.md). */
export interface LargeRequests {
  /** Reads, and puts the checksum of each block into `sums`: whoever reads it has the bytes at hand. */
  readSummed(offset: number, into: Buffer, sums: Uint32Array): Done;
  /** The file beneath, where a write goes to several drives at once; nothing if the drive has to be asked. */
  fileToWrite(offset: number, from: Buffer): SharedFile | undefined;
}

/** Totals since the drive was opened. A latency is the sum of what each operation took, in microseconds. */
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
