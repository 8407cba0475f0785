import { blockChecksum, CHECKSUM_BYTES, HEADER_BYTES, PIECE_BLOCK_BYTES, recordBytes } from './record.ts';

/** What stands behind the header of a piece: its blocks with a checksum after each, ready to be written. */
export interface PieceBody {
  readonly buffers: readonly Uint8Array[];
  readonly bytes: number;
}

/** Blocks of a piece from number `first` on; all but a piece's last are whole. */
export function checkedBlocks(blocks: readonly Buffer[], seed: number, first: number): PieceBody {
  return interleave(blocks, seed, first, 0);
}

/** All blocks of a piece, with the zeros that bring the next record to its place. */
export function wholePiece(blocks: readonly Buffer[], seed: number, pieceLength: number): PieceBody {
  return interleave(blocks, seed, 0, paddingOf(pieceLength));
}

export function paddingOf(pieceLength: number): number {
  const blocks = Math.ceil(pieceLength / PIECE_BLOCK_BYTES);
  return recordBytes(pieceLength) - HEADER_BYTES - pieceLength - blocks * CHECKSUM_BYTES;
}

/** Cuts bytes that lie in a row into blocks. */
export function cutIntoBlocks(data: Buffer): Buffer[] {
  if (data.length <= PIECE_BLOCK_BYTES) return data.length === 0 ? [] : [data];
  const blocks: Buffer[] = [];
  for (let at = 0; at < data.length; at += PIECE_BLOCK_BYTES) blocks.push(data.subarray(at, at + PIECE_BLOCK_BYTES));
  return blocks;
}

function interleave(blocks: readonly Buffer[], seed: number, first: number, padding: number): PieceBody {
  const checksums = Buffer.alloc(blocks.length * CHECKSUM_BYTES + padding);
  const buffers: Uint8Array[] = [];
  let bytes = checksums.length;
  blocks.forEach((block, index) => {
    const at = index * CHECKSUM_BYTES;
    checksums.writeUInt32LE(blockChecksum(seed, first + index, block, 0, block.length), at);
    const isLast = index === blocks.length - 1;
    buffers.push(block, isLast ? checksums.subarray(at) : checksums.subarray(at, at + CHECKSUM_BYTES));
    bytes += block.length;
  });
  return { buffers, bytes };
}
