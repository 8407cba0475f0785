import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { isDiskFull } from '@granary/kernel/sqlite';
import type { DriveSpace, NewSegment } from './drive-space.ts';
import { isRemoved, withinLimit, writeAll } from './files.ts';
import { RECORD_ALIGNMENT } from './record.ts';

const SEGMENT_BYTES_MAX = 256 * 1024 * 1024;
const ZEROS = Buffer.alloc(1024 * 1024);
/** A segment that has got so far will go on for a while. */
const FILLED_FROM_BYTES = 64 * 1024;

/**
 * A segment that many records are packed into. Where they are small, zeros are written ahead of them: to sync bytes in
 * a file that keeps its length is cheaper than to sync the length as well. A walk passes over the zeros.
 */
export class PackedSegment {
  readonly number: number;
  readonly fd: number;
  readonly #space: DriveSpace;
  #size = 0;
  /** The length of the file; space on the drive is reserved for all of it. */
  #length = 0;
  #filling: Promise<void> | undefined;
  #isFillable = true;
  /**
   * Zeros are written by a descriptor of their own: the system reports a failed write to each descriptor once. A failure
   * that was reported for zeros would not be reported to the writer of a record.
   */
  #fillFd: number | undefined;
  #failure: Error | undefined;

  constructor(space: DriveSpace, { number, fd }: NewSegment) {
    this.#space = space;
    this.number = number;
    this.fd = fd;
  }

  /** Where the next record begins. */
  get size(): number {
    return this.#size;
  }

  hasRoomFor(bytes: number): boolean {
    return this.#size + bytes <= SEGMENT_BYTES_MAX;
  }

  /** What these bytes would add to the length of the file, once no zeros are on their way to the same place. */
  async growthBy(bytes: number): Promise<number> {
    if (this.#failure) throw this.#failure;
    if (this.#filling && this.#size + bytes > this.#length) await withinLimit(this.#space.drive, this.#filling);
    return Math.max(0, this.#size + bytes - this.#length);
  }

  /** These were written, and are durable. */
  wrote(bytes: number): void {
    assert.ok(bytes % RECORD_ALIGNMENT === 0, 'records begin where a walk looks for them');
    this.#size += bytes;
    this.#length = Math.max(this.#length, this.#size);
  }

  /** Goes on beside writes to what was filled before. */
  fillAhead(): void {
    if (this.#filling || !this.#isFillable || this.#size < FILLED_FROM_BYTES) return;
    if (this.#length - this.#size > ZEROS.length / 2 || this.#length + ZEROS.length > SEGMENT_BYTES_MAX) return;
    if (this.#space.tryTake(ZEROS.length)) this.#filling = this.#fill();
  }

  async #fill(): Promise<void> {
    try {
      this.#fillFd ??= await this.#space.openToFill(this.number);
      await this.#fillWith(this.#fillFd);
    } catch {
      // It is written to without zeros ahead from now on.
      this.#isFillable = false;
      this.#space.giveBack(ZEROS.length);
    }
    this.#filling = undefined;
  }

  /** No caller waits for zeros: the next write reports a failed drive or a full disk. */
  async #fillWith(fd: number): Promise<void> {
    try {
      await writeAll(fd, [ZEROS], this.#length);
      this.#length += ZEROS.length;
    } catch (error) {
      if (!isDiskFull(error)) this.#failure = error as Error;
      throw error;
    }
  }

  /**
   * Cuts it to what is in it and closes it: not before `work` has ended, or its number could come to mean another file
   * while that still writes to it.
   */
  async retire(work?: Promise<void>): Promise<void> {
    await Promise.allSettled([work, this.#filling]);
    await new Promise<void>((resolve) => {
      fs.ftruncate(this.fd, this.#size, (error) => {
        // The space of a removed file was freed with it.
        if (!error && !isRemoved(this.fd)) this.#space.giveBack(this.#length - this.#size);
        fs.close(this.fd, () => resolve());
      });
    });
    if (this.#fillFd !== undefined) fs.close(this.#fillFd, () => undefined);
  }
}
