import { crc32 } from 'node:zlib';
import { checksum } from '../../kernels/index.ts';
import type { Place } from '../records.ts';

/** What a piece is cut into: each block has a checksum, so a range is verified without reading the rest. */
export const PIECE_BLOCK_BYTES = 64 * 1024;
export const HEADER_BYTES = 64;
export const CHECKSUM_BYTES = 4;

/** Records begin at multiples of this, so that a walk finds the next one behind a damaged one. */
export const RECORD_ALIGNMENT = 64;

const MAGIC = 0x63_65_69_70;
const VERSION = 1;
const CHECKSUM_AT = HEADER_BYTES - 4;

/** The header of a piece on its drive: enough to know what it is without the index. */
export interface PieceHeader {
  readonly id: Uint8Array;
  readonly partition: number;
  readonly slot: number;
  readonly slots: number;
  /** 0 for a copy. */
  readonly dataFragments: number;
  readonly key: number;
  readonly pieceLength: number;
  readonly blobSize: number;
}

/** Bytes a record takes in its segment. */
export function recordBytes(pieceLength: number): number {
  const bytes = HEADER_BYTES + pieceLength + blockCount(pieceLength) * CHECKSUM_BYTES;
  return Math.ceil(bytes / RECORD_ALIGNMENT) * RECORD_ALIGNMENT;
}

export function blockCount(pieceLength: number): number {
  return Math.ceil(pieceLength / PIECE_BLOCK_BYTES);
}

/** From the beginning of the record. */
export function blockOffset(block: number): number {
  return HEADER_BYTES + block * (PIECE_BLOCK_BYTES + CHECKSUM_BYTES);
}

/** A header says where it is: one that says otherwise was misplaced. */
export function encodeHeader(header: PieceHeader, place: Place): Buffer {
  // Each byte is written, so it may come from memory that small buffers share.
  const bytes = Buffer.allocUnsafe(HEADER_BYTES);
  bytes.writeUInt32LE(MAGIC, 0);
  bytes[4] = VERSION;
  bytes[5] = header.slot;
  bytes[6] = header.slots;
  bytes[7] = header.dataFragments;
  bytes.set(header.id, 8);
  bytes.writeUInt32LE(header.partition, 24);
  bytes.writeUInt32LE(header.key, 28);
  bytes.writeUIntLE(header.pieceLength, 32, 6);
  bytes.writeUIntLE(header.blobSize, 38, 6);
  bytes.writeUInt32LE(place.drive, 44);
  bytes.writeUInt32LE(place.segment, 48);
  bytes.writeUIntLE(place.offset, 52, 6);
  bytes.writeUInt16LE(0, 58);
  bytes.writeUInt32LE(crc32(bytes.subarray(0, CHECKSUM_AT)), CHECKSUM_AT);
  return bytes;
}

/** Undefined when there is no header, a damaged one, or one of another place. */
export function decodeHeader(bytes: Buffer, at: number, place: Place): PieceHeader | undefined {
  if (bytes.length < at + HEADER_BYTES || bytes.readUInt32LE(at) !== MAGIC || bytes[at + 4] !== VERSION)
    return undefined;
  if (crc32(bytes.subarray(at, at + CHECKSUM_AT)) !== bytes.readUInt32LE(at + CHECKSUM_AT)) return undefined;
  if (bytes.readUInt32LE(at + 44) !== place.drive || bytes.readUInt32LE(at + 48) !== place.segment) return undefined;
  if (bytes.readUIntLE(at + 52, 6) !== place.offset) return undefined;
  return {
    slot: bytes[at + 5] ?? 0,
    slots: bytes[at + 6] ?? 0,
    dataFragments: bytes[at + 7] ?? 0,
    id: Uint8Array.from(bytes.subarray(at + 8, at + 24)),
    partition: bytes.readUInt32LE(at + 24),
    key: bytes.readUInt32LE(at + 28),
    pieceLength: bytes.readUIntLE(at + 32, 6),
    blobSize: bytes.readUIntLE(at + 38, 6),
  };
}

/**
 * What the checksums of a piece's blocks start from: its blob, and for fragments its slot, so that a block of another
 * piece is noticed. Copies share theirs: the same bytes, with the same checksums, go to every drive.
 */
export function pieceSeed(id: Uint8Array, slot: number, dataFragments: number): number {
  return crc32(id, dataFragments === 0 ? 0 : slot + 1);
}

export function blockChecksum(seed: number, block: number, data: Buffer, from: number, until: number): number {
  return checksum(data, from, until, (seed + Math.imul(block + 1, 0x9e3779b1)) | 0);
}
