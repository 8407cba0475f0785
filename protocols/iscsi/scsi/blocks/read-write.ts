import {
  LAYOUT_10,
  LAYOUT_12,
  LAYOUT_16,
  LAYOUT_6,
  after,
  bytesOf,
  onRange,
  refuseRange,
  type MediumLayout,
  type Operation,
  type ScsiCommand,
} from '../command.ts';
import { SECTOR_BYTES } from '../logical-unit.ts';
import { GOOD, INVALID_FIELD_IN_CDB, failed, replied, type Answer, type Outcome } from '../outcome.ts';
import { Sense } from '../sense.ts';

const PROTECT_MASK = 0xe0;
const FORCE_UNIT_ACCESS = 0x08;
const BYTE_CHECK_MASK = 0x06;
const BYTE_CHECK = 0x02;

/** READ(6) and WRITE(6) have neither protection information nor flags. */
function flagsOf(cdb: Buffer): number {
  return cdb[0] === 0x08 || cdb[0] === 0x0a ? 0 : (cdb[1] ?? 0);
}

function read(command: ScsiCommand, layout: MediumLayout): Answer {
  const { cdb, unit } = command;
  if ((flagsOf(cdb) & PROTECT_MASK) !== 0) return INVALID_FIELD_IN_CDB;
  const lba = layout.lba(cdb);
  const blocks = layout.blocks(cdb);
  const refusal = refuseRange(unit, lba, blocks, unit.transferBlocksMax);
  if (refusal !== undefined) return refusal;
  if (blocks === 0) return GOOD;
  const into = command.allocate(bytesOf(blocks));
  const done = onRange(command, lba, blocks, false, () => unit.device.read(lba * SECTOR_BYTES, into));
  return after(done, () => replied(into));
}

function write(command: ScsiCommand, layout: MediumLayout): Answer {
  const { cdb, unit } = command;
  const flags = flagsOf(cdb);
  if ((flags & PROTECT_MASK) !== 0) return INVALID_FIELD_IN_CDB;
  const lba = layout.lba(cdb);
  const refusal = refuseRange(unit, lba, layout.blocks(cdb), unit.transferBlocksMax);
  if (refusal !== undefined) return refusal;
  const done = writeBlocks(command, lba, wholeBlocks(command.data));
  if ((flags & FORCE_UNIT_ACCESS) === 0) return after(done, () => GOOD);
  return after(done, () => unit.device.flush().then(() => GOOD));
}

/** What the initiator really sent: it may have announced less than the command says. */
function wholeBlocks(data: Buffer): Buffer {
  const excess = data.length % SECTOR_BYTES;
  return excess === 0 ? data : data.subarray(0, data.length - excess);
}

function writeBlocks(command: ScsiCommand, lba: number, data: Buffer): Promise<void> | undefined {
  if (data.length === 0) return undefined;
  const blocks = data.length / SECTOR_BYTES;
  return onRange(command, lba, blocks, false, () => command.unit.device.write(lba * SECTOR_BYTES, data));
}

async function writeAndVerify(command: ScsiCommand, layout: MediumLayout): Promise<Outcome> {
  const { cdb, unit } = command;
  const flags = flagsOf(cdb);
  const byteCheck = flags & BYTE_CHECK_MASK;
  if ((flags & PROTECT_MASK) !== 0 || byteCheck > BYTE_CHECK) return INVALID_FIELD_IN_CDB;
  const lba = layout.lba(cdb);
  const refusal = refuseRange(unit, lba, layout.blocks(cdb), unit.transferBlocksMax);
  if (refusal !== undefined) return refusal;
  const data = wholeBlocks(command.data);
  if (data.length === 0) return GOOD;
  const back = Buffer.allocUnsafe(data.length);
  await onRange(command, lba, data.length / SECTOR_BYTES, true, async () => {
    await unit.device.write(lba * SECTOR_BYTES, data);
    await unit.device.flush();
    // Still under the lock: what another wrote meanwhile would pass for a failed write.
    await unit.device.read(lba * SECTOR_BYTES, back);
  });
  return byteCheck === 0 || back.equals(data) ? GOOD : failed(Sense.miscompare);
}

function outBytes(layout: MediumLayout): (cdb: Buffer) => number {
  return (cdb) => bytesOf(layout.blocks(cdb));
}

function readOperation(opcode: number, usage: string, layout: MediumLayout): Operation {
  return { opcode, usage, sharing: 'read', readsMedium: true, run: (command) => read(command, layout) };
}

function writeOperation(opcode: number, usage: string, layout: MediumLayout): Operation {
  return {
    opcode,
    usage,
    sharing: 'write',
    writes: true,
    dataOutBytes: outBytes(layout),
    run: (command) => write(command, layout),
  };
}

function verifiedWriteOperation(opcode: number, usage: string, layout: MediumLayout): Operation {
  return { ...writeOperation(opcode, usage, layout), run: (command) => writeAndVerify(command, layout) };
}

export const READ_WRITE: Operation[] = [
  readOperation(0x08, '08 1f ff ff ff 00', LAYOUT_6),
  readOperation(0x28, '28 18 ff ff ff ff 00 ff ff 00', LAYOUT_10),
  readOperation(0xa8, 'a8 18 ff ff ff ff ff ff ff ff 00 00', LAYOUT_12),
  readOperation(0x88, '88 18 ff ff ff ff ff ff ff ff ff ff ff ff 00 00', LAYOUT_16),
  writeOperation(0x0a, '0a 1f ff ff ff 00', LAYOUT_6),
  writeOperation(0x2a, '2a 18 ff ff ff ff 00 ff ff 00', LAYOUT_10),
  writeOperation(0xaa, 'aa 18 ff ff ff ff ff ff ff ff 00 00', LAYOUT_12),
  writeOperation(0x8a, '8a 18 ff ff ff ff ff ff ff ff ff ff ff ff 00 00', LAYOUT_16),
  verifiedWriteOperation(0x2e, '2e 16 ff ff ff ff 00 ff ff 00', LAYOUT_10),
  verifiedWriteOperation(0xae, 'ae 16 ff ff ff ff ff ff ff ff 00 00', LAYOUT_12),
  verifiedWriteOperation(0x8e, '8e 16 ff ff ff ff ff ff ff ff ff ff ff ff 00 00', LAYOUT_16),
];
