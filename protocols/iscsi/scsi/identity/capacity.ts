import type { Operation, ScsiCommand } from '../command.ts';
import { SECTOR_BYTES } from '../logical-unit.ts';
import { INVALID_FIELD_IN_CDB, replied, repliedUpTo, type Outcome } from '../outcome.ts';

/** LBPME and LBPRZ: thin, and what is not mapped reads as zeros. */
const THIN_AND_ZEROED = 0xc0;

function readCapacity10({ cdb, unit }: ScsiCommand): Outcome {
  const partial = ((cdb[8] ?? 0) & 1) !== 0;
  if (!partial && cdb.readUInt32BE(2) !== 0) return INVALID_FIELD_IN_CDB;
  const reply = Buffer.alloc(8);
  reply.writeUInt32BE(Math.min(unit.blocks - 1, 0xffffffff), 0);
  reply.writeUInt32BE(SECTOR_BYTES, 4);
  return replied(reply);
}

function readCapacity16({ cdb, unit }: ScsiCommand): Outcome {
  const reply = Buffer.alloc(32);
  reply.writeBigUInt64BE(BigInt(unit.blocks - 1), 0);
  reply.writeUInt32BE(SECTOR_BYTES, 8);
  // Two to this power are the sectors of a physical block.
  reply[13] = Math.log2(unit.identity.physicalBlockBytes / SECTOR_BYTES);
  reply[14] = THIN_AND_ZEROED;
  return repliedUpTo(reply, cdb.readUInt32BE(10));
}

export const CAPACITY: Operation[] = [
  { opcode: 0x25, usage: '25 00 ff ff ff ff 00 00 01 00', sharing: 'free', run: readCapacity10 },
  {
    opcode: 0x9e,
    serviceAction: 0x10,
    usage: '9e 10 ff ff ff ff ff ff ff ff ff ff ff ff 01 00',
    sharing: 'free',
    run: readCapacity16,
  },
];
