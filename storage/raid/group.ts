import type { Done } from '../units.ts';

/** The device under a pool: redundant, checksummed bytes. Offsets and lengths are whole blocks. */
export interface BlockGroup {
  readonly id: string;
  /** Usable capacity, after redundancy and the group's own metadata. A multiple of an extent. */
  readonly capacityBytes: number;

  /** Blocks never written read as zeros. Never returns bytes that fail their checksum: repairs them or throws. */
  read(offset: number, into: Buffer): Done;
  write(offset: number, from: Buffer): Done;
  discard(offset: number, length: number): Done;
  /** Discards durably, and deallocates the blocks on the drives as far as they support it. */
  trim(offset: number, length: number): Promise<void>;
  flush(): Promise<void>;
}
