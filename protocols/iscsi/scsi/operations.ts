import { CAPACITY } from './identity/capacity.ts';
import type { Operation } from './command.ts';
import { COMPARE_AND_WRITE } from './blocks/compare-and-write.ts';
import { INQUIRY } from './identity/inquiry.ts';
import { MODE } from './identity/mode.ts';
import { PERSISTENT_RESERVE } from './reservations/persistent-reserve.ts';
import { PROVISIONING } from './blocks/provisioning.ts';
import { READ_WRITE } from './blocks/read-write.ts';
import { reportOpcodes } from './identity/report-opcodes.ts';
import { UNIT_CONTROL } from './unit-control.ts';
import { VERIFY } from './blocks/verify.ts';

/** Everything a unit can do. */
export const OPERATIONS: Operation[] = [
  ...UNIT_CONTROL,
  ...INQUIRY,
  ...CAPACITY,
  ...READ_WRITE,
  ...VERIFY,
  ...COMPARE_AND_WRITE,
  ...PROVISIONING,
  ...MODE,
  ...PERSISTENT_RESERVE,
];
OPERATIONS.push(reportOpcodes(OPERATIONS));

const byOpcode: (Operation | Map<number, Operation> | undefined)[] = new Array<undefined>(256).fill(undefined);
for (const operation of OPERATIONS) {
  const { opcode, serviceAction } = operation;
  if (serviceAction === undefined) {
    byOpcode[opcode] = operation;
    continue;
  }
  const actions = byOpcode[opcode];
  if (actions instanceof Map) actions.set(serviceAction, operation);
  else byOpcode[opcode] = new Map([[serviceAction, operation]]);
}

/** The operation a CDB asks for; `'unknown-action'` when only its service action is not ours. */
export function findOperation(cdb: Buffer): Operation | 'unknown-action' | undefined {
  const found = byOpcode[cdb[0] ?? 0];
  if (!(found instanceof Map)) return found;
  return found.get((cdb[1] ?? 0) & 0x1f) ?? 'unknown-action';
}
