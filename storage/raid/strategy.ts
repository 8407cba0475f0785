import type { Done } from '../units.ts';
import type { Member } from './members/member.ts';

export interface Examination {
  /** Blocks that were not what they should be: damaged, or different from the other copies or from the parity. */
  mismatches: number;
  repaired: number;
  /** Blocks no good copy is left of. */
  lost: number;
}

/** How a group keeps its data more than once: by copies or by parity. */
export interface Strategy {
  read(offset: number, into: Buffer): Done;
  write(offset: number, from: Buffer): Done;
  discard(offset: number, length: number): Promise<void>;

  /** Brings members in line after a crash. Nobody else is in these rows. */
  resync(row: number, count: number): Promise<void>;

  /** Writes to a member what it should have in these rows. The caller holds them. */
  fill(target: Member, row: number, count: number): Promise<void>;

  /** Compares what all members have in these rows, and mends it on request. The caller holds them. */
  examine(row: number, count: number, repair: boolean): Promise<Examination>;
}
