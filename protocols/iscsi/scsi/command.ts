import { SECTOR_BYTES, type LogicalUnit } from './logical-unit.ts';
import type { Attachment, Nexus } from './nexus.ts';
import { INVALID_FIELD_IN_CDB, LBA_OUT_OF_RANGE, type Answer, type Outcome } from './outcome.ts';
import type { Sharing } from './sharing.ts';

/** A command as those who carry it out see it. */
export interface ScsiCommand {
  readonly cdb: Buffer;
  readonly unit: LogicalUnit;
  readonly attachment: Attachment;
  readonly nexus: Nexus;
  /** What came from the initiator: as much as the command calls for, or less if the initiator has less. */
  readonly data: Buffer;
  /** How much the initiator said it would send. */
  readonly announcedBytes: number;
  /** The whole unit is held for this command already. */
  readonly ordered: boolean;
  /** Room for what goes to the initiator. */
  allocate(bytes: number): Buffer;
}

/** A command we know: from these follow dispatch and REPORT SUPPORTED OPERATION CODES. */
export interface Operation {
  readonly opcode: number;
  readonly serviceAction?: number;
  /** The CDB with ones where we look at it, in hexadecimal: SPC-4's usage map. */
  readonly usage: string;
  readonly sharing: Sharing;
  /** Changes the medium, so that write protection forbids it. */
  readonly writes?: boolean;
  /** Moves data from the medium to the initiator. */
  readonly readsMedium?: boolean;
  /** Runs even with a unit attention pending. */
  readonly ignoresAttention?: boolean;
  /** Bytes the initiator is to send. */
  dataOutBytes?(cdb: Buffer): number;
  run(command: ScsiCommand): Answer;
}

/** Where the address and the length stand in the four sizes of CDBs. */
export interface MediumLayout {
  readonly lba: (cdb: Buffer) => number;
  readonly blocks: (cdb: Buffer) => number;
}

export const LAYOUT_6: MediumLayout = {
  lba: (cdb) => cdb.readUIntBE(1, 3) & 0x1fffff,
  // Zero stands for 256 in these oldest of commands.
  blocks: (cdb) => cdb[4] || 256,
};
export const LAYOUT_10: MediumLayout = {
  lba: (cdb) => cdb.readUInt32BE(2),
  blocks: (cdb) => cdb.readUInt16BE(7),
};
export const LAYOUT_12: MediumLayout = {
  lba: (cdb) => cdb.readUInt32BE(2),
  blocks: (cdb) => cdb.readUInt32BE(6),
};
export const LAYOUT_16: MediumLayout = {
  lba: lba64,
  blocks: (cdb) => cdb.readUInt32BE(10),
};

/** Exact up to 2⁵³, and above that still larger than any unit. */
function lba64(cdb: Buffer): number {
  return cdb.readUInt32BE(2) * 0x1_0000_0000 + cdb.readUInt32BE(6);
}

/** The refusal of a range that is not on the unit or too long for one command. */
export function refuseRange(unit: LogicalUnit, lba: number, blocks: number, blocksMax: number): Outcome | undefined {
  const capacity = unit.blocks;
  if (lba + blocks > capacity || lba >= capacity) return LBA_OUT_OF_RANGE;
  return blocks > blocksMax ? INVALID_FIELD_IN_CDB : undefined;
}

/** Runs `action` on a range; no other command runs there when `exclusive`. */
export function onRange<R extends Promise<unknown> | undefined>(
  command: ScsiCommand,
  lba: number,
  blocks: number,
  exclusive: boolean,
  action: () => R,
): R | Promise<Awaited<R>> {
  if (command.ordered) return action();
  return command.unit.lock.run(lba, lba + blocks, exclusive, action);
}

/** The answer `then` gives once `done` is; in the same turn when it is already. */
export function after(done: Promise<void> | undefined, then: () => Answer): Answer {
  return done === undefined ? then() : done.then(then);
}

export function bytesOf(blocks: number): number {
  return blocks * SECTOR_BYTES;
}
