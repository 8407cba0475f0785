import type { Operation, ScsiCommand } from '../command.ts';
import { SECTOR_BYTES, type LogicalUnit } from '../logical-unit.ts';
import {
  GOOD,
  INVALID_FIELD_IN_CDB,
  INVALID_FIELD_IN_PARAMETERS,
  failed,
  repliedUpTo,
  type Outcome,
} from '../outcome.ts';
import { Attention, Sense } from '../sense.ts';

const CURRENT = 0;
const CHANGEABLE = 1;
const SAVED = 3;
const ALL_PAGES = 0x3f;
const ALL_SUBPAGES = 0xff;

const DESCRIPTOR_SENSE = 0x04;
const SOFTWARE_WRITE_PROTECT = 0x08;
const WRITE_PROTECTED = 0x80;
const DPO_AND_FUA = 0x10;

type PageMaker = (unit: LogicalUnit, control: number) => Buffer;

function page(code: number, bytes: number): Buffer {
  const made = Buffer.alloc(bytes);
  made[0] = code;
  made[1] = bytes - 2;
  return made;
}

function errorRecovery(): Buffer {
  return page(0x01, 12);
}

/** The write cache is on; FUA and SYNCHRONIZE CACHE go through it. */
function caching(_unit: LogicalUnit, control: number): Buffer {
  const made = page(0x08, 20);
  if (control !== CHANGEABLE) made[2] = 0x04;
  return made;
}

/** Commands may be reordered; commands ended by others are answered with TASK ABORTED. */
function control(unit: LogicalUnit, wanted: number): Buffer {
  const made = page(0x0a, 12);
  const now = wanted === CURRENT;
  const changeable = wanted === CHANGEABLE;
  if ((now && unit.descriptorSense) || changeable) made[2] = DESCRIPTOR_SENSE;
  if (!changeable) made[3] = 0x10;
  if ((now && unit.softwareWriteProtected) || changeable) made[4] = SOFTWARE_WRITE_PROTECT;
  if (!changeable) made[5] = 0x40;
  return made;
}

function informationalExceptions(): Buffer {
  return page(0x1c, 12);
}

const PAGES = new Map<number, PageMaker>([
  [0x01, errorRecovery],
  [0x08, caching],
  [0x0a, control],
  [0x1c, informationalExceptions],
]);

function blockDescriptor(unit: LogicalUnit, long: boolean): Buffer {
  const descriptor = Buffer.alloc(long ? 16 : 8);
  if (long) {
    descriptor.writeBigUInt64BE(BigInt(unit.blocks), 0);
    descriptor.writeUInt32BE(SECTOR_BYTES, 12);
    return descriptor;
  }
  descriptor.writeUInt32BE(Math.min(unit.blocks, 0xffffffff), 0);
  descriptor.writeUIntBE(SECTOR_BYTES, 5, 3);
  return descriptor;
}

function modeSense(command: ScsiCommand, ten: boolean): Outcome {
  const { cdb, unit } = command;
  const wanted = (cdb[2] ?? 0) >> 6;
  const code = (cdb[2] ?? 0) & 0x3f;
  const subpage = cdb[3] ?? 0;
  if (wanted === SAVED) return failed({ ...Sense.invalidFieldInCdb, code: 0x39 });
  if (subpage !== 0 && subpage !== ALL_SUBPAGES) return INVALID_FIELD_IN_CDB;
  const makers = code === ALL_PAGES ? [...PAGES.values()] : [PAGES.get(code)];
  const pages = makers.map((maker) => maker?.(unit, wanted));
  if (pages.includes(undefined)) return INVALID_FIELD_IN_CDB;
  const withoutDescriptor = ((cdb[1] ?? 0) & 0x08) !== 0;
  const long = ten && ((cdb[1] ?? 0) & 0x10) !== 0;
  const descriptor = withoutDescriptor ? Buffer.alloc(0) : blockDescriptor(unit, long);
  const body = Buffer.concat([descriptor, ...pages.filter((made) => made !== undefined)]);
  const header = ten ? header10(command, body, descriptor, long) : header6(command, body, descriptor);
  const allocationLength = ten ? cdb.readUInt16BE(7) : (cdb[4] ?? 0);
  return repliedUpTo(Buffer.concat([header, body]), allocationLength);
}

function deviceSpecific({ unit, attachment }: ScsiCommand): number {
  const protectedNow = unit.readOnly || attachment.readOnly || unit.softwareWriteProtected;
  return (protectedNow ? WRITE_PROTECTED : 0) | DPO_AND_FUA;
}

function header6(command: ScsiCommand, body: Buffer, descriptor: Buffer): Buffer {
  return Buffer.of(3 + body.length, 0, deviceSpecific(command), descriptor.length);
}

function header10(command: ScsiCommand, body: Buffer, descriptor: Buffer, long: boolean): Buffer {
  const header = Buffer.alloc(8);
  header.writeUInt16BE(6 + body.length, 0);
  header[3] = deviceSpecific(command);
  header[4] = long ? 1 : 0;
  header.writeUInt16BE(descriptor.length, 6);
  return header;
}

function modeSelect(command: ScsiCommand, ten: boolean): Outcome {
  const { cdb, data, unit } = command;
  const savePages = ((cdb[1] ?? 0) & 0x01) !== 0;
  const pageFormat = ((cdb[1] ?? 0) & 0x10) !== 0;
  if (savePages || !pageFormat) return INVALID_FIELD_IN_CDB;
  if (data.length === 0) return GOOD;
  const headerBytes = ten ? 8 : 4;
  if (data.length < headerBytes) return failed(Sense.parameterListLength);
  const descriptorBytes = ten ? data.readUInt16BE(6) : (data[3] ?? 0);
  const pages = data.subarray(headerBytes + descriptorBytes);
  const refusal = checkPages(unit, pages);
  if (refusal !== undefined) return refusal;
  applyPages(command, pages);
  return GOOD;
}

/** Everything is checked before anything is changed. */
function checkPages(unit: LogicalUnit, pages: Buffer): Outcome | undefined {
  for (let at = 0; at < pages.length;) {
    const maker = PAGES.get((pages[at] ?? 0) & 0x7f);
    const current = maker?.(unit, CURRENT);
    const changeable = maker?.(unit, CHANGEABLE);
    if (current === undefined || changeable === undefined) return INVALID_FIELD_IN_PARAMETERS;
    const given = pages.subarray(at, at + current.length);
    if (given.length < current.length) return failed(Sense.parameterListLength);
    if (given[1] !== current[1]) return INVALID_FIELD_IN_PARAMETERS;
    for (let byte = 2; byte < current.length; byte++) {
      const differs = (given[byte] ?? 0) ^ (current[byte] ?? 0);
      if ((differs & ~(changeable[byte] ?? 0)) !== 0) return INVALID_FIELD_IN_PARAMETERS;
    }
    at += current.length;
  }
  return undefined;
}

function applyPages({ unit, attachment }: ScsiCommand, pages: Buffer): void {
  for (let at = 0; at < pages.length; at += 2 + (pages[at + 1] ?? 0)) {
    if (((pages[at] ?? 0) & 0x7f) !== 0x0a) continue;
    unit.descriptorSense = ((pages[at + 2] ?? 0) & DESCRIPTOR_SENSE) !== 0;
    unit.softwareWriteProtected = ((pages[at + 4] ?? 0) & SOFTWARE_WRITE_PROTECT) !== 0;
  }
  unit.raise(Attention.modeParametersChanged, attachment);
}

export const MODE: Operation[] = [
  { opcode: 0x1a, usage: '1a 08 ff ff ff 00', sharing: 'read', run: (command) => modeSense(command, false) },
  {
    opcode: 0x5a,
    usage: '5a 18 ff ff 00 00 00 ff ff 00',
    sharing: 'read',
    run: (command) => modeSense(command, true),
  },
  {
    opcode: 0x15,
    usage: '15 11 00 00 ff 00',
    sharing: 'write',
    dataOutBytes: (cdb) => cdb[4] ?? 0,
    run: (command) => modeSelect(command, false),
  },
  {
    opcode: 0x55,
    usage: '55 11 00 00 00 00 00 ff ff 00',
    sharing: 'write',
    dataOutBytes: (cdb) => cdb.readUInt16BE(7),
    run: (command) => modeSelect(command, true),
  },
];
