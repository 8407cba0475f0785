import type { Operation } from './command.ts';
import { inquiryOfNothing } from './identity/inquiry.ts';
import type { LogicalUnit } from './logical-unit.ts';
import type { Attachment, Nexus } from './nexus.ts';
import { findOperation } from './operations.ts';
import { INVALID_FIELD_IN_CDB, RESERVATION_CONFLICT, failed, repliedUpTo, type Outcome } from './outcome.ts';
import { Sense, encodeSense } from './sense.ts';
import { listLuns } from './unit-control.ts';

const INQUIRY = 0x12;
const REPORT_LUNS = 0xa0;
const REQUEST_SENSE = 0x03;
/** What the holder of a RESERVE(6) cannot keep others from. */
const ALLOWED_UNDER_LEGACY_RESERVATION: ReadonlySet<number> = new Set([
  INQUIRY,
  REPORT_LUNS,
  REQUEST_SENSE,
  0x17,
  0x57,
]);

/** What becomes of a command before any of its data is moved: an operation to run, or its outcome already. */
export function admit(cdb: Buffer, attachment: Attachment): Operation | Outcome {
  const operation = findOperation(cdb);
  if (operation === undefined) return failed(Sense.invalidOpcode);
  if (operation === 'unknown-action') return INVALID_FIELD_IN_CDB;
  const { unit } = attachment;
  if (attachment.attentions.length > 0 && operation.ignoresAttention !== true) {
    return failed(attachment.attentions.shift() ?? Sense.none);
  }
  if (isReservedAgainst(operation, unit, attachment)) return RESERVATION_CONFLICT;
  if (operation.writes === true) {
    if (unit.readOnly || attachment.readOnly) return failed(Sense.writeProtected);
    if (unit.softwareWriteProtected) return failed(Sense.softwareWriteProtected);
  }
  return operation;
}

function isReservedAgainst(operation: Operation, unit: LogicalUnit, attachment: Attachment): boolean {
  if (unit.legacyHolder !== undefined && unit.legacyHolder !== attachment) {
    return !ALLOWED_UNDER_LEGACY_RESERVATION.has(operation.opcode);
  }
  return unit.reservations.conflicts(attachment.key, operation.sharing);
}

export function isOutcome(admitted: Operation | Outcome): admitted is Outcome {
  return 'status' in admitted;
}

/** The few commands that are answered where there is no unit. */
export function answerWithoutUnit(cdb: Buffer, nexus: Nexus): Outcome {
  switch (cdb[0]) {
    case INQUIRY:
      return inquiryOfNothing(cdb);
    case REPORT_LUNS:
      return listLuns(cdb, nexus.lunNumbers());
    case REQUEST_SENSE:
      return repliedUpTo(encodeSense(Sense.unitNotSupported, ((cdb[1] ?? 0) & 1) !== 0), cdb[4] ?? 0);
    default:
      return failed(Sense.unitNotSupported);
  }
}
