import type { Done } from '../units.ts';

/** What a pool stands on: redundant, checksummed bytes. Offsets and lengths are whole blocks. */
export interface BlockGroup {
  readonly id: string;
  /** What can be stored, after mirroring or parity and after what the group keeps for itself. A multiple of an extent. */
  readonly capacityBytes: number;

  /** Blocks never written read as zeros. Never returns bytes that fail their checksum: repairs them or throws. */
  read(offset: number, into: Buffer): Done;
  write(offset: number, from: Buffer): Done;
  discard(offset: number, length: number): Done;
  /** Discards, durably, and gives the places back to the machine as far as it can take them. */
  trim(offset: number, length: number): Promise<void>;
  flush(): Promise<void>;
}
