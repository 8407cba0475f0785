import type { Bytes } from '@granary/kernel';

/** An object in a bucket with the data of an archived file. */
export interface ArchivedObject {
  readonly key: string;
  /** It was archived from. */
  readonly volume: string;
  /** endpoint/bucket */
  readonly destination: string;
  readonly state: 'sending' | 'stub' | 'orphan';
  readonly sizeBytes: Bytes;
  readonly sha256: string | null;
  /** Of parts, as long as it is not complete. */
  readonly upload: string | null;
  readonly createdAt: number;
  /** The scan that last saw its stub. */
  readonly seenAt: number;
  /** The moment since which the share itself has no stub of it. */
  readonly unneededAt: number | null;
}
