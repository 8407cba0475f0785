import type { Done } from './units.ts';

/**
 * A device that a protocol exports: a volume or a snapshot. Offsets and lengths are whole sectors of 512 bytes inside
 * `sizeBytes`; the device handles partial blocks.
 */
export interface BlockDevice {
  readonly sizeBytes: number;
  readonly readOnly: boolean;

  read(offset: number, into: Buffer): Done;
  write(offset: number, from: Buffer): Done;

  /** Resolves when every write that was acknowledged before the call survives a crash. */
  flush(): Promise<void>;

  /** The range reads as zeros afterwards. */
  discard(offset: number, length: number): Done;

  /**
   * The mapped and unmapped parts of the range, in order and without gaps; unmapped parts read as zeros. May cover only
   * the beginning of the range, where all of it would take long or have more than `runsMax` parts.
   */
  mapped(offset: number, length: number, runsMax?: number): { readonly length: number; readonly mapped: boolean }[];
}
