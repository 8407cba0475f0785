import * as fs from 'node:fs';
import { StorageError } from '../../errors.ts';
import type { Place } from '../records.ts';
import { blockChecksum, blockOffset, CHECKSUM_BYTES, PIECE_BLOCK_BYTES } from './record.ts';

/** What a reader knows of a piece from the index: enough to verify every block without the header. */
export interface PieceKey {
  /** See `pieceSeed`. */
  readonly seed: number;
  /** Data bytes of the whole piece. */
  readonly length: number;
}

/**
 * Blocks of a piece on their way from the file, each in a buffer of its own with its checksum behind it. Memory in small
 * pieces is used again and again; a large buffer comes from the system each time, and costs more than what is read.
 */
export class BlockRead {
  readonly #place: Place;
  readonly #piece: PieceKey;
  readonly #first: number;
  readonly #buffers: readonly Buffer[];
  readonly position: number;
  readonly bytes: number;

  constructor(place: Place, piece: PieceKey, first: number, end: number) {
    this.#place = place;
    this.#piece = piece;
    this.#first = first;
    this.position = place.offset + blockOffset(first);
    const buffers: Buffer[] = [];
    const until = Math.min(end * PIECE_BLOCK_BYTES, piece.length);
    let bytes = 0;
    for (let at = first * PIECE_BLOCK_BYTES; at < until; at += PIECE_BLOCK_BYTES) {
      const length = Math.min(PIECE_BLOCK_BYTES, until - at) + CHECKSUM_BYTES;
      buffers.push(Buffer.allocUnsafe(length));
      bytes += length;
    }
    this.#buffers = buffers;
    this.bytes = bytes;
  }

  runNow(fd: number): void {
    const [first] = this.#buffers;
    const count =
      first && this.#buffers.length === 1
        ? fs.readSync(fd, first, 0, this.bytes, this.position)
        : fs.readvSync(fd, this.#buffers, this.position);
    if (count !== this.bytes) throw this.#cut();
  }

  run(fd: number): Promise<void> {
    return new Promise((resolve, reject) =>
      fs.readv(fd, this.#buffers, this.position, (error, count) => {
        if (error) reject(error);
        else if (count === this.bytes) resolve();
        else reject(this.#cut());
      }),
    );
  }

  /** The data of each block, once every checksum was compared. */
  verified(): Buffer[] {
    return this.#buffers.map((buffer, index) => {
      const block = this.#first + index;
      const length = buffer.length - CHECKSUM_BYTES;
      if (blockChecksum(this.#piece.seed, block, buffer, 0, length) !== buffer.readUInt32LE(length)) {
        throw this.#damaged(block);
      }
      return buffer.subarray(0, length);
    });
  }

  #damaged(block: number): StorageError {
    const { drive, segment, offset } = this.#place;
    return new StorageError(
      'unreadable',
      `Block ${block} at ${offset} in segment ${segment} of drive ${drive} is bad.`,
    );
  }

  #cut(): StorageError {
    const { drive, segment, offset } = this.#place;
    return new StorageError('unreadable', `Segment ${segment} of drive ${drive} ends in the record at ${offset}.`);
  }
}
