import {
  LAYOUT_10,
  LAYOUT_12,
  LAYOUT_16,
  bytesOf,
  onRange,
  refuseRange,
  type MediumLayout,
  type Operation,
  type ScsiCommand,
} from '../command.ts';
import { SECTOR_BYTES } from '../logical-unit.ts';
import { GOOD, INVALID_FIELD_IN_CDB, failed, type Outcome } from '../outcome.ts';
import { Sense } from '../sense.ts';

const PROTECT_MASK = 0xe0;
const PIECE_BYTES = 1024 * 1024;

/** Without BYTCHK any length may be checked, for nothing is sent; the standard sets no limit, so we set one. */
const VERIFY_BLOCKS_MAX = 0x200000;

/** 0: only read the medium; 1: compare with as many blocks; 3: compare every block with the one that was sent. */
function byteCheckOf(cdb: Buffer): number {
  return ((cdb[1] ?? 0) >> 1) & 3;
}

async function verify(command: ScsiCommand, layout: MediumLayout): Promise<Outcome> {
  const { cdb, unit } = command;
  const byteCheck = byteCheckOf(cdb);
  if (((cdb[1] ?? 0) & PROTECT_MASK) !== 0 || byteCheck === 2) return INVALID_FIELD_IN_CDB;
  const lba = layout.lba(cdb);
  const blocks = layout.blocks(cdb);
  const refusal = refuseRange(unit, lba, blocks, byteCheck === 1 ? unit.transferBlocksMax : VERIFY_BLOCKS_MAX);
  if (refusal !== undefined) return refusal;
  if (byteCheck !== 0 && command.data.length < expectedBytes(cdb, layout)) return INVALID_FIELD_IN_CDB;
  return onRange(command, lba, blocks, false, () => compare(command, lba, blocks, byteCheck));
}

async function compare(command: ScsiCommand, lba: number, blocks: number, byteCheck: number): Promise<Outcome> {
  const total = bytesOf(blocks);
  const piece = Buffer.allocUnsafe(Math.min(total, PIECE_BYTES));
  const repeated = byteCheck === 3 ? repeatBlock(command.data, piece.length) : undefined;
  for (let at = 0; at < total; at += piece.length) {
    const view = piece.subarray(0, Math.min(piece.length, total - at));
    await command.unit.device.read(lba * SECTOR_BYTES + at, view);
    if (byteCheck === 0) continue;
    const wanted = repeated?.subarray(0, view.length) ?? command.data.subarray(at, at + view.length);
    if (!view.equals(wanted)) return failed({ ...Sense.miscompare, information: at + firstDifference(view, wanted) });
  }
  return GOOD;
}

function repeatBlock(block: Buffer, bytes: number): Buffer {
  return Buffer.alloc(bytes, block.subarray(0, SECTOR_BYTES));
}

export function firstDifference(one: Buffer, other: Buffer): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at++;
  return at;
}

function expectedBytes(cdb: Buffer, layout: MediumLayout): number {
  switch (byteCheckOf(cdb)) {
    case 1:
      return bytesOf(layout.blocks(cdb));
    case 3:
      return SECTOR_BYTES;
    default:
      return 0;
  }
}

function verifyOperation(opcode: number, usage: string, layout: MediumLayout): Operation {
  return {
    opcode,
    usage,
    sharing: 'read',
    dataOutBytes: (cdb) => expectedBytes(cdb, layout),
    run: (command) => verify(command, layout),
  };
}

/** PRE-FETCH: the range is checked; what to keep in memory is the pool's own business. */
function prefetchOperation(opcode: number, usage: string, layout: MediumLayout): Operation {
  return {
    opcode,
    usage,
    sharing: 'read',
    run: ({ cdb, unit }) => refuseRange(unit, layout.lba(cdb), layout.blocks(cdb), Infinity) ?? GOOD,
  };
}

/** SYNCHRONIZE CACHE: all of it whatever range is given, for that is how the device flushes. */
function synchronizeOperation(opcode: number, usage: string, layout: MediumLayout): Operation {
  return {
    opcode,
    usage,
    sharing: 'write',
    run: ({ cdb, unit }) => {
      const refusal = refuseRange(unit, layout.lba(cdb), layout.blocks(cdb), Infinity);
      return refusal ?? unit.device.flush().then(() => GOOD);
    },
  };
}

export const VERIFY: Operation[] = [
  verifyOperation(0x2f, '2f 16 ff ff ff ff 00 ff ff 00', LAYOUT_10),
  verifyOperation(0xaf, 'af 16 ff ff ff ff ff ff ff ff 00 00', LAYOUT_12),
  verifyOperation(0x8f, '8f 16 ff ff ff ff ff ff ff ff ff ff ff ff 00 00', LAYOUT_16),
  prefetchOperation(0x34, '34 02 ff ff ff ff 00 ff ff 00', LAYOUT_10),
  prefetchOperation(0x90, '90 02 ff ff ff ff ff ff ff ff ff ff ff ff 00 00', LAYOUT_16),
  synchronizeOperation(0x35, '35 02 ff ff ff ff 00 ff ff 00', LAYOUT_10),
  synchronizeOperation(0x91, '91 02 ff ff ff ff ff ff ff ff ff ff ff ff 00 00', LAYOUT_16),
];
