import type { Done } from './units.ts';

/**
 * What a protocol exports: a volume, a snapshot, or anything else of fixed-size sectors. Offsets and lengths are whole
 * sectors of 512 bytes inside `sizeBytes`; the device takes care of everything smaller than its own blocks.
 */
export interface BlockDevice {
  readonly sizeBytes: number;
  readonly readOnly: boolean;

  read(offset: number, into: Buffer): Done;
  write(offset: number, from: Buffer): Done;

  /** Resolves when every write that was answered before the call survives a crash. */
  flush(): Promise<void>;

  /** The range reads as zeros afterwards. */
  discard(offset: number, length: number): Done;

  /**
   * Which parts of the range hold data, in order and without gaps between them; the rest reads as zeros. May tell of the
   * beginning of the range alone, where all of it would take long or have more than `runsMax` parts.
   */
  mapped(offset: number, length: number, runsMax?: number): { readonly length: number; readonly mapped: boolean }[];
}
