import {
  LAYOUT_10,
  LAYOUT_16,
  after,
  bytesOf,
  onRange,
  refuseRange,
  type MediumLayout,
  type Operation,
  type ScsiCommand,
} from '../command.ts';
import { SECTOR_BYTES } from '../logical-unit.ts';
import {
  GOOD,
  INVALID_FIELD_IN_CDB,
  INVALID_FIELD_IN_PARAMETERS,
  LBA_OUT_OF_RANGE,
  failed,
  repliedUpTo,
  type Answer,
  type Outcome,
} from '../outcome.ts';
import { Sense } from '../sense.ts';

export const UNMAP_BLOCKS_MAX = 0x100000;
export const UNMAP_DESCRIPTORS_MAX = 256;
export const WRITE_SAME_BLOCKS_MAX = 0x8000;

const PROTECT_MASK = 0xe0;
const ANCHOR = 0x10;
const UNMAP_BIT = 0x08;
const NO_DATA_OUT = 0x01;
const PIECE_BYTES = 1024 * 1024;
const ZERO_BLOCK = Buffer.alloc(SECTOR_BYTES);
const UNMAP_HEADER_BYTES = 8;
const DESCRIPTOR_BYTES = 16;

/** NDOB exists in the 16-byte form only. */
function hasNoDataOut(cdb: Buffer): boolean {
  return cdb[0] === 0x93 && ((cdb[1] ?? 0) & NO_DATA_OUT) !== 0;
}

function writeSame(command: ScsiCommand, layout: MediumLayout): Answer {
  const { cdb, unit } = command;
  const flags = cdb[1] ?? 0;
  const lba = layout.lba(cdb);
  const blocks = layout.blocks(cdb);
  if ((flags & (PROTECT_MASK | ANCHOR)) !== 0) return INVALID_FIELD_IN_CDB;
  const refusal = refuseRange(unit, lba, blocks, WRITE_SAME_BLOCKS_MAX);
  if (refusal !== undefined) return refusal;
  // "Up to the end" is not offered: the limits say so (WSNZ).
  if (blocks === 0) return INVALID_FIELD_IN_CDB;
  if (!hasNoDataOut(cdb) && command.announcedBytes !== SECTOR_BYTES) return INVALID_FIELD_IN_CDB;
  const block = hasNoDataOut(cdb) ? ZERO_BLOCK : command.data;
  if ((flags & UNMAP_BIT) !== 0 && block.equals(ZERO_BLOCK)) {
    const done = onRange(command, lba, blocks, false, () => discard(command, lba, blocks));
    return after(done, () => GOOD);
  }
  return onRange(command, lba, blocks, false, () => repeatWrite(command, lba, blocks, block));
}

function discard(command: ScsiCommand, lba: number, blocks: number): Promise<void> | undefined {
  return command.unit.device.discard(lba * SECTOR_BYTES, bytesOf(blocks));
}

async function repeatWrite(command: ScsiCommand, lba: number, blocks: number, block: Buffer): Promise<Outcome> {
  const total = bytesOf(blocks);
  const piece = Buffer.alloc(Math.min(total, PIECE_BYTES), block);
  for (let at = 0; at < total; at += piece.length) {
    await command.unit.device.write(lba * SECTOR_BYTES + at, piece.subarray(0, Math.min(piece.length, total - at)));
  }
  return GOOD;
}

interface BlockRange {
  readonly lba: number;
  readonly blocks: number;
}

async function unmap(command: ScsiCommand): Promise<Outcome> {
  const { cdb, data } = command;
  if (((cdb[1] ?? 0) & 1) !== 0) return INVALID_FIELD_IN_CDB;
  if (data.length === 0) return GOOD;
  if (data.length < UNMAP_HEADER_BYTES) return failed(Sense.parameterListLength);
  const ranges = readDescriptors(data);
  const blocks = ranges.reduce((sum, range) => sum + range.blocks, 0);
  if (ranges.length > UNMAP_DESCRIPTORS_MAX || blocks > UNMAP_BLOCKS_MAX) return INVALID_FIELD_IN_PARAMETERS;
  if (ranges.some((range) => range.lba + range.blocks > command.unit.blocks)) return LBA_OUT_OF_RANGE;
  for (const range of ranges) {
    if (range.blocks === 0) continue;
    await onRange(command, range.lba, range.blocks, false, () => discard(command, range.lba, range.blocks));
  }
  return GOOD;
}

/** Descriptors cut off by the end of the list are left out, as the standard wants. */
function readDescriptors(data: Buffer): BlockRange[] {
  const listed = Math.min(data.readUInt16BE(2), data.length - UNMAP_HEADER_BYTES);
  const ranges: BlockRange[] = [];
  for (let index = 0; index < Math.floor(listed / DESCRIPTOR_BYTES); index++) {
    const at = UNMAP_HEADER_BYTES + index * DESCRIPTOR_BYTES;
    const lba = data.readUInt32BE(at) * 0x1_0000_0000 + data.readUInt32BE(at + 4);
    ranges.push({ lba, blocks: data.readUInt32BE(at + 8) });
  }
  return ranges;
}

/** One answer tells of at most so much of the unit: a descriptor counts blocks in 32 bits. Initiators ask on. */
const STATUS_BLOCKS_MAX = 0xffff_fff8;
const STATUS_DESCRIPTORS_MAX = 256;

function getLbaStatus({ cdb, unit }: ScsiCommand): Outcome {
  const start = LAYOUT_16.lba(cdb);
  const allocationLength = cdb.readUInt32BE(10);
  if (start >= unit.blocks) return LBA_OUT_OF_RANGE;
  const window = bytesOf(Math.min(unit.blocks - start, STATUS_BLOCKS_MAX));
  const asked = Math.max(1, Math.floor((allocationLength - UNMAP_HEADER_BYTES) / DESCRIPTOR_BYTES));
  const wanted = Math.min(asked, STATUS_DESCRIPTORS_MAX);
  const parts = mergedParts(unit.device.mapped(start * SECTOR_BYTES, window, wanted));
  const shown = parts.slice(0, wanted);
  const reply = Buffer.alloc(UNMAP_HEADER_BYTES + shown.length * DESCRIPTOR_BYTES);
  reply.writeUInt32BE(reply.length - 4, 0);
  let lba = start;
  for (const [index, part] of shown.entries()) {
    const at = UNMAP_HEADER_BYTES + index * DESCRIPTOR_BYTES;
    const blocks = part.length / SECTOR_BYTES;
    reply.writeBigUInt64BE(BigInt(lba), at);
    reply.writeUInt32BE(blocks, at + 8);
    reply[at + 12] = part.mapped ? 0 : 1;
    lba += blocks;
  }
  return repliedUpTo(reply, allocationLength);
}

function mergedParts(parts: readonly { length: number; mapped: boolean }[]): { length: number; mapped: boolean }[] {
  const merged: { length: number; mapped: boolean }[] = [];
  for (const part of parts) {
    const last = merged.at(-1);
    if (last?.mapped === part.mapped) last.length += part.length;
    else merged.push({ length: part.length, mapped: part.mapped });
  }
  return merged;
}

export const PROVISIONING: Operation[] = [
  {
    opcode: 0x41,
    usage: '41 08 ff ff ff ff 00 ff ff 00',
    sharing: 'write',
    writes: true,
    dataOutBytes: () => SECTOR_BYTES,
    run: (command) => writeSame(command, LAYOUT_10),
  },
  {
    opcode: 0x93,
    usage: '93 09 ff ff ff ff ff ff ff ff ff ff ff ff 00 00',
    sharing: 'write',
    writes: true,
    dataOutBytes: (cdb) => (hasNoDataOut(cdb) ? 0 : SECTOR_BYTES),
    run: (command) => writeSame(command, LAYOUT_16),
  },
  {
    opcode: 0x42,
    usage: '42 00 00 00 00 00 00 ff ff 00',
    sharing: 'write',
    writes: true,
    dataOutBytes: (cdb) => cdb.readUInt16BE(7),
    run: unmap,
  },
  {
    opcode: 0x9e,
    serviceAction: 0x12,
    usage: '9e 12 ff ff ff ff ff ff ff ff ff ff ff ff 00 00',
    sharing: 'read',
    run: getLbaStatus,
  },
];
