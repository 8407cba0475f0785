import type { Operation, ScsiCommand } from '../command.ts';
import { INVALID_FIELD_IN_CDB, repliedUpTo, type Outcome } from '../outcome.ts';

const TIMEOUTS_WANTED = 0x80;
const TIMEOUT_BYTES = 12;
const SUPPORTED = 3;
const NOT_SUPPORTED = 1;

export function usageMap(operation: Operation): Buffer {
  return Buffer.from(operation.usage.replaceAll(' ', ''), 'hex');
}

/** A descriptor that gives no timeouts: how long a volume takes depends on what else runs. */
function timeouts(): Buffer {
  const descriptor = Buffer.alloc(TIMEOUT_BYTES);
  descriptor.writeUInt16BE(TIMEOUT_BYTES - 2, 0);
  return descriptor;
}

function listAll(operations: readonly Operation[], withTimeouts: boolean): Buffer {
  const descriptors = operations.map((operation) => {
    const descriptor = Buffer.alloc(8);
    descriptor[0] = operation.opcode;
    descriptor.writeUInt16BE(operation.serviceAction ?? 0, 2);
    descriptor[5] = (operation.serviceAction === undefined ? 0 : 1) | (withTimeouts ? 2 : 0);
    descriptor.writeUInt16BE(usageMap(operation).length, 6);
    return withTimeouts ? Buffer.concat([descriptor, timeouts()]) : descriptor;
  });
  const length = Buffer.alloc(4);
  length.writeUInt32BE(descriptors.reduce((sum, descriptor) => sum + descriptor.length, 0));
  return Buffer.concat([length, ...descriptors]);
}

function describeOne(operation: Operation | undefined, withTimeouts: boolean): Buffer {
  if (operation === undefined) return Buffer.of(0, NOT_SUPPORTED, 0, 0);
  const usage = usageMap(operation);
  const head = Buffer.of(0, SUPPORTED | (withTimeouts ? 0x80 : 0), 0, usage.length);
  return withTimeouts ? Buffer.concat([head, usage, timeouts()]) : Buffer.concat([head, usage]);
}

/** REPORT SUPPORTED OPERATION CODES, from the very table commands are dispatched by. */
export function reportOpcodes(operations: readonly Operation[]): Operation {
  const run = ({ cdb }: ScsiCommand): Outcome => {
    const options = (cdb[2] ?? 0) & 7;
    const withTimeouts = ((cdb[2] ?? 0) & TIMEOUTS_WANTED) !== 0;
    const opcode = cdb[3] ?? 0;
    const action = cdb.readUInt16BE(4);
    const allocationLength = cdb.readUInt32BE(6);
    if (options === 0) return repliedUpTo(listAll(operations, withTimeouts), allocationLength);
    if (options > 3) return INVALID_FIELD_IN_CDB;
    const known = operations.filter((operation) => operation.opcode === opcode);
    const hasActions = known.some((operation) => operation.serviceAction !== undefined);
    // Asking for a command with service actions as if it had none, or the other way round, is an error.
    if ((options === 1 && hasActions) || (options === 2 && known.length > 0 && !hasActions))
      return INVALID_FIELD_IN_CDB;
    const wanted = hasActions ? known.find((operation) => operation.serviceAction === action) : known[0];
    return repliedUpTo(describeOne(wanted, withTimeouts), allocationLength);
  };
  return {
    opcode: 0xa3,
    serviceAction: 0x0c,
    usage: 'a3 0c 87 ff ff ff ff ff ff ff 00 00',
    sharing: 'free',
    run,
  };
}
