import type { Operation, ScsiCommand } from '../command.ts';
import { INVALID_FIELD_IN_CDB, repliedUpTo, type Outcome } from '../outcome.ts';
import { VITAL_PAGES } from './vital-product-data.ts';

const STANDARD_BYTES = 96;
/** SAM-5, iSCSI, SPC-4 and SBC-3, none with a version claimed. */
const VERSION_DESCRIPTORS = [0x00a0, 0x0960, 0x0460, 0x04c0];
/** "No unit here, and none can be": the answer for LUNs that do not exist. */
const NO_UNIT = 0x7f;

function padded(text: string, bytes: number): Buffer {
  return Buffer.from(text.slice(0, bytes).padEnd(bytes), 'latin1');
}

function standardInquiry({ unit }: ScsiCommand): Buffer {
  const reply = Buffer.alloc(STANDARD_BYTES);
  reply[2] = 0x06;
  reply[3] = 0x12;
  reply[4] = STANDARD_BYTES - 5;
  reply[7] = 0x02;
  padded(unit.identity.vendor, 8).copy(reply, 8);
  padded(unit.identity.product, 16).copy(reply, 16);
  padded(unit.identity.revision, 4).copy(reply, 32);
  for (const [index, descriptor] of VERSION_DESCRIPTORS.entries()) reply.writeUInt16BE(descriptor, 58 + 2 * index);
  return reply;
}

function inquiry(command: ScsiCommand): Outcome {
  const { cdb } = command;
  const allocationLength = cdb.readUInt16BE(3);
  const vital = ((cdb[1] ?? 0) & 1) !== 0;
  const page = cdb[2] ?? 0;
  if (((cdb[1] ?? 0) & 2) !== 0 || (!vital && page !== 0)) return INVALID_FIELD_IN_CDB;
  if (!vital) return repliedUpTo(standardInquiry(command), allocationLength);
  const body = VITAL_PAGES.get(page)?.(command);
  if (body === undefined) return INVALID_FIELD_IN_CDB;
  const reply = Buffer.alloc(4 + body.length);
  reply[1] = page;
  reply.writeUInt16BE(body.length, 2);
  body.copy(reply, 4);
  return repliedUpTo(reply, allocationLength);
}

/** INQUIRY where there is no unit. */
export function inquiryOfNothing(cdb: Buffer): Outcome {
  if (((cdb[1] ?? 0) & 3) !== 0) return INVALID_FIELD_IN_CDB;
  const reply = Buffer.alloc(STANDARD_BYTES);
  reply[0] = NO_UNIT;
  reply[2] = 0x06;
  reply[3] = 0x12;
  reply[4] = STANDARD_BYTES - 5;
  return repliedUpTo(reply, cdb.readUInt16BE(3));
}

export const INQUIRY: Operation[] = [
  { opcode: 0x12, usage: '12 01 ff ff ff 00', sharing: 'free', ignoresAttention: true, run: inquiry },
];
