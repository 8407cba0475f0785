import type { Operation, ScsiCommand } from './command.ts';
import { GOOD, INVALID_FIELD_IN_CDB, RESERVATION_CONFLICT, repliedUpTo, type Answer, type Outcome } from './outcome.ts';
import { Attention, Sense, encodeSense } from './sense.ts';

/** REQUEST SENSE tells a pending unit attention; sense of failed commands went with their status already. */
function requestSense({ cdb, attachment }: ScsiCommand): Outcome {
  const attention = attachment.attentions.shift() ?? Sense.none;
  return repliedUpTo(encodeSense(attention, ((cdb[1] ?? 0) & 1) !== 0), cdb[4] ?? 0);
}

const SELECT_WELL_KNOWN = 0x01;
const SELECT_EVERYTHING = 0x02;

function reportLuns({ cdb, nexus, attachment }: ScsiCommand): Outcome {
  attachment.clear(Attention.reportedLunsChanged);
  return listLuns(cdb, nexus.lunNumbers());
}

/** REPORT LUNS also answers where there is no unit. */
export function listLuns(cdb: Buffer, luns: readonly number[]): Outcome {
  const selection = cdb[2] ?? 0;
  if (selection > SELECT_EVERYTHING) return INVALID_FIELD_IN_CDB;
  const shown = selection === SELECT_WELL_KNOWN ? [] : luns;
  const reply = Buffer.alloc(8 + 8 * shown.length);
  reply.writeUInt32BE(8 * shown.length, 0);
  for (const [index, lun] of shown.entries()) encodeLun(lun, reply, 8 + 8 * index);
  return repliedUpTo(reply, cdb.readUInt32BE(6));
}

/** Peripheral addressing below 256, flat addressing above. */
export function encodeLun(lun: number, into: Buffer, at: number): void {
  into.writeUInt16BE(lun < 256 ? lun : 0x4000 | lun, at);
}

/** The number in the first two bytes of a LUN field, or -1 when it uses a form that names no unit of ours. */
export function decodeLun(field: Buffer, at: number): number {
  if (field.readUInt32BE(at + 4) !== 0 || field.readUInt16BE(at + 2) !== 0) return -1;
  const first = field.readUInt16BE(at);
  if (first < 256) return first;
  return first >> 14 === 1 ? first & 0x3fff : -1;
}

const START = 0x01;
const LOAD_OR_EJECT = 0x02;

/** A volume neither spins nor ejects; stopping it makes what is written safe. */
function startStop({ cdb, unit }: ScsiCommand): Answer {
  const flags = cdb[4] ?? 0;
  if ((flags & LOAD_OR_EJECT) !== 0) return INVALID_FIELD_IN_CDB;
  const stops = (flags & START) === 0 && flags >> 4 === 0;
  return stops ? unit.device.flush().then(() => GOOD) : GOOD;
}

/** Drives under a volume have their own defects; a volume has none. */
function readDefectData10({ cdb }: ScsiCommand): Outcome {
  return repliedUpTo(Buffer.of(0, (cdb[2] ?? 0) & 0x1f, 0, 0), cdb.readUInt16BE(7));
}

function readDefectData12({ cdb }: ScsiCommand): Outcome {
  return repliedUpTo(Buffer.of(0, (cdb[1] ?? 0) & 0x1f, 0, 0, 0, 0, 0, 0), cdb.readUInt32BE(6));
}

/** Only the default self-test; it passes as long as commands are answered at all. */
function sendDiagnostic({ cdb }: ScsiCommand): Outcome {
  const selfTest = ((cdb[1] ?? 0) & 0x04) !== 0;
  return selfTest ? GOOD : INVALID_FIELD_IN_CDB;
}

function reserve({ unit, attachment }: ScsiCommand): Outcome {
  if (unit.reservations.hasRegistrations()) {
    return unit.reservations.isRegistered(attachment.key) ? GOOD : RESERVATION_CONFLICT;
  }
  unit.legacyHolder = attachment;
  return GOOD;
}

/** By someone else it has no effect and is no error. */
function release({ unit, attachment }: ScsiCommand): Outcome {
  if (unit.legacyHolder === attachment) unit.legacyHolder = undefined;
  return GOOD;
}

export const UNIT_CONTROL: Operation[] = [
  { opcode: 0x00, usage: '00 00 00 00 00 00', sharing: 'free', run: () => GOOD },
  { opcode: 0x03, usage: '03 01 00 00 ff 00', sharing: 'free', ignoresAttention: true, run: requestSense },
  {
    opcode: 0xa0,
    usage: 'a0 00 ff 00 00 00 ff ff ff ff 00 00',
    sharing: 'free',
    ignoresAttention: true,
    run: reportLuns,
  },
  { opcode: 0x1b, usage: '1b 01 00 00 f3 00', sharing: 'free', run: startStop },
  { opcode: 0x1e, usage: '1e 00 00 00 03 00', sharing: 'free', run: () => GOOD },
  { opcode: 0x1d, usage: '1d 04 00 00 00 00', sharing: 'write', run: sendDiagnostic },
  { opcode: 0x37, usage: '37 00 1f 00 00 00 00 ff ff 00', sharing: 'read', run: readDefectData10 },
  { opcode: 0xb7, usage: 'b7 1f ff ff ff ff ff ff ff ff 00 00', sharing: 'read', run: readDefectData12 },
  { opcode: 0x16, usage: '16 00 00 00 00 00', sharing: 'free', run: reserve },
  { opcode: 0x56, usage: '56 00 00 00 00 00 00 00 00 00', sharing: 'free', run: reserve },
  { opcode: 0x17, usage: '17 00 00 00 00 00', sharing: 'free', run: release },
  { opcode: 0x57, usage: '57 00 00 00 00 00 00 00 00 00', sharing: 'free', run: release },
];
