import type { ScsiCommand } from '../command.ts';
import { COMPARE_BLOCKS_MAX } from '../blocks/compare-and-write.ts';
import { SECTOR_BYTES } from '../logical-unit.ts';
import { UNMAP_BLOCKS_MAX, UNMAP_DESCRIPTORS_MAX, WRITE_SAME_BLOCKS_MAX } from '../blocks/provisioning.ts';

/** A page without its header of four bytes. */
type PageBody = (command: ScsiCommand) => Buffer;

const BINARY = 1;
const ASCII = 2;
const UTF8 = 3;
const OF_UNIT = 0x00;
/** With the protocol (iSCSI) and the bit that says it is given. */
const OF_PORT = 0x90;
const OF_DEVICE = 0xa0;
const ISCSI_PROTOCOL = 0x50;

const EXTENT_BYTES = 256 * 1024;
const OPTIMAL_TRANSFER_BYTES = 1024 * 1024;

function supportedPages(): Buffer {
  return Buffer.from([...VITAL_PAGES.keys()].sort((one, other) => one - other));
}

function unitSerialNumber({ unit }: ScsiCommand): Buffer {
  return Buffer.from(unit.identity.serial, 'latin1');
}

function designator(codeSet: number, association: number, type: number, value: Buffer): Buffer {
  const protocol = association === OF_UNIT ? 0 : ISCSI_PROTOCOL;
  return Buffer.concat([Buffer.of(protocol | codeSet, association | type, 0, value.length), value]);
}

/** iSCSI names end with a zero byte and fill whole words. */
function scsiName(name: string): Buffer {
  const bytes = Buffer.from(name, 'utf8');
  return Buffer.concat([bytes, Buffer.alloc(4 - (bytes.length % 4))]);
}

function deviceIdentification({ unit, nexus }: ScsiCommand): Buffer {
  const { naa, vendor, serial } = unit.identity;
  return Buffer.concat([
    designator(BINARY, OF_UNIT, 3, Buffer.from(naa, 'hex')),
    designator(ASCII, OF_UNIT, 1, Buffer.from(vendor.slice(0, 8).padEnd(8) + serial, 'latin1')),
    designator(BINARY, OF_PORT, 4, Buffer.of(0, 0, 0, 1)),
    designator(UTF8, OF_PORT, 8, scsiName(`${nexus.targetName},t,0x0001`)),
    designator(UTF8, OF_DEVICE, 8, scsiName(nexus.targetName)),
  ]);
}

/** Simple, ordered and head-of-queue tasks; what is written may sit in a volatile cache until it is flushed. */
function extendedInquiry(): Buffer {
  const body = Buffer.alloc(60);
  body[1] = 0x07;
  body[2] = 0x01;
  return body;
}

function blockLimits({ unit }: ScsiCommand): Buffer {
  const body = Buffer.alloc(60);
  const granularity = EXTENT_BYTES / SECTOR_BYTES;
  // WSNZ: WRITE SAME wants a length.
  body[0] = 0x01;
  body[1] = COMPARE_BLOCKS_MAX;
  body.writeUInt16BE(unit.identity.physicalBlockBytes / SECTOR_BYTES, 2);
  body.writeUInt32BE(unit.transferBlocksMax, 4);
  body.writeUInt32BE(Math.min(OPTIMAL_TRANSFER_BYTES / SECTOR_BYTES, unit.transferBlocksMax), 8);
  body.writeUInt32BE(UNMAP_BLOCKS_MAX, 16);
  body.writeUInt32BE(UNMAP_DESCRIPTORS_MAX, 20);
  body.writeUInt32BE(granularity, 24);
  // UGAVALID with alignment 0: extents begin at block 0.
  body.writeUInt32BE(0x80000000, 28);
  body.writeBigUInt64BE(BigInt(WRITE_SAME_BLOCKS_MAX), 32);
  return body;
}

/** Not rotating; no particular form factor. */
function blockCharacteristics(): Buffer {
  const body = Buffer.alloc(60);
  body.writeUInt16BE(1, 0);
  return body;
}

/** UNMAP and both kinds of WRITE SAME give space back, and what was given back reads as zeros; thin. */
function logicalBlockProvisioning(): Buffer {
  return Buffer.of(0, 0xe4, 0x02, 0);
}

export const VITAL_PAGES = new Map<number, PageBody>([
  [0x00, supportedPages],
  [0x80, unitSerialNumber],
  [0x83, deviceIdentification],
  [0x86, extendedInquiry],
  [0xb0, blockLimits],
  [0xb1, blockCharacteristics],
  [0xb2, logicalBlockProvisioning],
]);
