import {
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
import { firstDifference } from './verify.ts';

const PROTECT_MASK = 0xe0;
const FORCE_UNIT_ACCESS = 0x08;

/** The most blocks COMPARE AND WRITE takes; its length is one byte. */
export const COMPARE_BLOCKS_MAX = 255;

const COMPARE_LAYOUT: MediumLayout = { lba: LAYOUT_16.lba, blocks: (cdb) => cdb[13] ?? 0 };

/** The first half of the data is what must be there, the second what then replaces it, atomically. */
async function compareAndWrite(command: ScsiCommand): Promise<Outcome> {
  const { cdb, unit, data } = command;
  if (((cdb[1] ?? 0) & PROTECT_MASK) !== 0) return INVALID_FIELD_IN_CDB;
  const lba = COMPARE_LAYOUT.lba(cdb);
  const blocks = COMPARE_LAYOUT.blocks(cdb);
  const refusal = refuseRange(unit, lba, blocks, COMPARE_BLOCKS_MAX);
  if (refusal !== undefined) return refusal;
  const half = bytesOf(blocks);
  // Data of another size than the length in the CDB means that one of the two is a mistake.
  if (command.announcedBytes !== 2 * half) return INVALID_FIELD_IN_CDB;
  if (blocks === 0) return GOOD;
  const expected = data.subarray(0, half);
  const outcome = await onRange(command, lba, blocks, true, async (): Promise<Outcome> => {
    const found = Buffer.allocUnsafe(half);
    await unit.device.read(lba * SECTOR_BYTES, found);
    if (!found.equals(expected)) {
      return failed({ ...Sense.miscompare, information: firstDifference(found, expected) });
    }
    await unit.device.write(lba * SECTOR_BYTES, data.subarray(half));
    return GOOD;
  });
  if (outcome === GOOD && ((cdb[1] ?? 0) & FORCE_UNIT_ACCESS) !== 0) await unit.device.flush();
  return outcome;
}

async function orWrite(command: ScsiCommand): Promise<Outcome> {
  const { cdb, unit, data } = command;
  if (((cdb[1] ?? 0) & PROTECT_MASK) !== 0) return INVALID_FIELD_IN_CDB;
  const lba = LAYOUT_16.lba(cdb);
  const blocks = LAYOUT_16.blocks(cdb);
  const refusal = refuseRange(unit, lba, blocks, unit.transferBlocksMax);
  if (refusal !== undefined) return refusal;
  if (data.length !== bytesOf(blocks)) return INVALID_FIELD_IN_CDB;
  if (blocks === 0) return GOOD;
  await onRange(command, lba, blocks, true, async () => {
    const found = Buffer.allocUnsafe(data.length);
    await unit.device.read(lba * SECTOR_BYTES, found);
    for (let at = 0; at < found.length; at++) found[at] = (found[at] ?? 0) | (data[at] ?? 0);
    await unit.device.write(lba * SECTOR_BYTES, found);
  });
  if (((cdb[1] ?? 0) & FORCE_UNIT_ACCESS) !== 0) await unit.device.flush();
  return GOOD;
}

export const COMPARE_AND_WRITE: Operation[] = [
  {
    opcode: 0x89,
    usage: '89 18 ff ff ff ff ff ff ff ff 00 00 00 ff 00 00',
    sharing: 'write',
    writes: true,
    dataOutBytes: (cdb) => 2 * bytesOf(COMPARE_LAYOUT.blocks(cdb)),
    run: compareAndWrite,
  },
  {
    opcode: 0x8b,
    usage: '8b 18 ff ff ff ff ff ff ff ff ff ff ff ff 00 00',
    sharing: 'write',
    writes: true,
    dataOutBytes: (cdb) => bytesOf(LAYOUT_16.blocks(cdb)),
    run: orWrite,
  },
];
