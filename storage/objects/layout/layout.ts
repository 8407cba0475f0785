import type { PolicyLayout } from '../records.ts';

/** `leaving`: its data is being moved away. `absent`: it does not answer, its pieces count as missing. */
export type DriveState = 'normal' | 'leaving' | 'absent';

export interface LayoutDrive {
  /** Given once: a drive that comes back empty gets a new one, because the places that name the old one are gone. */
  readonly number: number;
  readonly uuid: string;
  readonly folder: string;
  readonly node: string;
  readonly zone: string;
  readonly capacity: number;
  readonly policy: number;
  readonly state: DriveState;
  /** One number in shared memory: bytes in the drive's segments, kept by all threads that write to it. */
  readonly usedBytes?: BigInt64Array;
}

/** Which drives the pieces of a policy's partitions belong on. */
export interface Ring {
  readonly policy: PolicyLayout;
  /** Grows with each new placement of partitions. */
  readonly version: number;
  /** A power of two. */
  readonly partitions: number;
  readonly slots: number;
  /** Drive number of `partition * slots + slot`; 0 where there is no drive for it. */
  readonly drives: Uint32Array;
}

/** Everything a thread needs to read and write blobs. Sent whole whenever it changes. */
export interface Layout {
  readonly version: number;
  readonly drives: readonly LayoutDrive[];
  readonly rings: readonly Ring[];
  /** Policy of new buckets; null while the array has none. */
  readonly defaultPolicy: number | null;
  readonly encryption: EncryptionState;
}

export interface EncryptionState {
  /** Key that new blobs are encrypted with; 0 for none. */
  readonly writeKey: number;
  /** And those with that ask for encryption while it is 0. */
  readonly serviceKey?: number;
  /** Keys at hand by number, 32 bytes each. A key that is missing here is locked. */
  readonly keys: readonly { readonly number: number; readonly key: Uint8Array }[];
}
