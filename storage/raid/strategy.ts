import type { Done } from '../units.ts';
import type { Member } from './members/member.ts';

export interface Examination {
  /** Blocks that differ from their checksum, from the other copies or from the parity. */
  mismatches: number;
  repaired: number;
  /** Blocks without a good copy. */
  lost: number;
}

/** How a group stores its data redundantly: by copies or by parity. */
export interface Strategy {
  read(offset: number, into: Buffer): Done;
  write(offset: number, from: Buffer): Done;
  discard(offset: number, length: number): Promise<void>;

  /** Resyncs rows after a crash. The caller holds them exclusively. */
  resync(row: number, count: number): Promise<void>;

  /** Writes to a member its blocks of these rows. The caller holds them. */
  fill(target: Member, row: number, count: number): Promise<void>;

  /** Compares all members in these rows, and repairs them on request. The caller holds them. */
  examine(row: number, count: number, repair: boolean): Promise<Examination>;
}
