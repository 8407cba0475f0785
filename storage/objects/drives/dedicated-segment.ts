import * as fs from 'node:fs';
import { unlink } from 'node:fs/promises';
import type { Place } from '../records.ts';
import type { DriveSpace, NewSegment } from './drive-space.ts';
import { driveError, fdatasync, withinLimit, writeAll } from './files.ts';
import type { PieceBody } from './piece-body.ts';
import { encodeHeader, HEADER_BYTES, type PieceHeader } from './record.ts';

/** So much is left to the last sync at most, and waits in the machine's memory at most. */
const SYNC_EVERY_BYTES = 64 * 1024 * 1024;

/** A segment for one piece, written as its bytes come. The header is written last: without it there is no piece. */
export class DedicatedSegment {
  readonly number: number;
  readonly #space: DriveSpace;
  readonly #fd: number;
  readonly #onEnd: (pieceLength?: number) => void;
  #size = HEADER_BYTES;
  #unsynced = 0;
  #ended = false;
  #work: Promise<void> = Promise.resolve();

  /** Space for the header is reserved. `onEnd` gets the length of the piece, or undefined after a failure. */
  constructor(space: DriveSpace, segment: NewSegment, onEnd: (pieceLength?: number) => void) {
    this.#space = space;
    this.number = segment.number;
    this.#fd = segment.fd;
    this.#onEnd = onEnd;
  }

  /** The next blocks. One call at a time. */
  async write(body: PieceBody): Promise<void> {
    try {
      this.#space.reserve(body.bytes);
      const at = this.#size;
      this.#size += body.bytes;
      await this.#do(writeAll(this.#fd, body.buffers, at));
      this.#unsynced += body.bytes;
      if (this.#unsynced < SYNC_EVERY_BYTES) return;
      await this.#do(fdatasync(this.#fd));
      this.#unsynced = 0;
    } catch (error) {
      throw driveError(this.#space.drive, 'writing', error);
    }
  }

  /** Durable when it resolves. */
  async finish(header: PieceHeader): Promise<Place> {
    const place = { drive: this.#space.drive, segment: this.number, offset: 0 };
    try {
      await this.#do(writeAll(this.#fd, [encodeHeader(header, place)], 0));
      await this.#do(fdatasync(this.#fd));
      this.#space.assertLinked(this.#fd);
      await this.#space.syncFolder();
    } catch (error) {
      throw driveError(this.#space.drive, 'writing', error);
    }
    this.#end(header.pieceLength);
    return place;
  }

  /** Leaves nothing behind. After `finish` it does nothing. */
  async abort(): Promise<void> {
    if (this.#ended) return;
    this.#end();
    try {
      await withinLimit(this.#space.drive, unlink(this.#space.pathOf(this.number)));
    } catch {
      // A drive that failed keeps it; no index names it, so compaction removes it.
    }
    this.#space.giveBack(this.#size);
  }

  #do(work: Promise<void>): Promise<void> {
    this.#work = work;
    return withinLimit(this.#space.drive, work);
  }

  /** Closed too early, the file's number could come to mean another while a write is still under way. */
  #end(pieceLength?: number): void {
    this.#ended = true;
    void Promise.allSettled([this.#work]).then(() => fs.close(this.#fd, () => undefined));
    this.#onEnd(pieceLength);
  }
}
