import { randomFillSync } from 'node:crypto';
import { statSync, truncateSync } from 'node:fs';
import { open, rename, rm, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Room for what SQLite needs at most until deletions are on disk: as much log as it writes before it brings the log into
 * the file (1,000 pages), and the growth of the file by what is in the log.
 */
const RESERVE_BYTES = 8 * 2 ** 20;
const PIECE_BYTES = 256 * 1024;
/** It is not made of the last room there is. */
const FREE_FACTOR_MIN = 4;
/** Room is scarce below this part of the disk, or below twice what the reserve is made of. */
const SCARCE_PART = 0.05;

/**
 * A file beside a database that holds room on its disk. When the disk is full, changes that make room get it, a piece at a
 * time: others write to the same disk, and take what is not used at once. A file that is shorter than it was made is also
 * the sign that only such changes may be written, until there is room to fill it again.
 */
export class Reserve {
  readonly #file: string;
  readonly #bytes: number;
  /** Undefined: it was never made. */
  #size: number | undefined;
  readonly #closing = new AbortController();

  constructor(file: string, bytes = RESERVE_BYTES) {
    this.#file = file;
    this.#bytes = bytes;
    this.#size = statSync(file, { throwIfNoEntry: false })?.size;
  }

  /** Some of its room was given away, and there has been none to take it back. */
  get isReleased(): boolean {
    return this.#size !== undefined && this.#size < this.#bytes;
  }

  /** Gives a piece of its room away; false when there was nothing to give. */
  release(): boolean {
    if (this.#size === undefined || this.#size === 0) return false;
    const size = Math.max(0, this.#size - PIECE_BYTES);
    truncateSync(this.#file, size);
    this.#size = size;
    return true;
  }

  /** Ends a filling that is under way; the next start makes it anew. */
  close(): void {
    this.#closing.abort();
  }

  /** Whether it holds all its room afterwards. */
  async fill(): Promise<boolean> {
    if (this.#size === this.#bytes) return true;
    const fresh = `${this.#file}.new`;
    try {
      this.#closing.signal.throwIfAborted();
      if ((await this.#diskSpace()).free < this.#bytes * FREE_FACTOR_MIN) return false;
      await this.#write(fresh);
      this.#closing.signal.throwIfAborted();
      await rename(fresh, this.#file);
      this.#size = this.#bytes;
      return true;
    } catch {
      await rm(fresh, { force: true }).catch(() => undefined);
      return false;
    }
  }

  /** The disk has so little room that what is free should go back to it. */
  async isScarce(): Promise<boolean> {
    if (this.isReleased) return true;
    const { free, size } = await this.#diskSpace();
    return free < Math.max(size * SCARCE_PART, 2 * this.#bytes * FREE_FACTOR_MIN);
  }

  async #diskSpace(): Promise<{ free: number; size: number }> {
    const { bavail, blocks, bsize } = await statfs(dirname(this.#file));
    return { free: bavail * bsize, size: blocks * bsize };
  }

  /** Random bytes: a disk that compresses must not keep less than that. */
  async #write(file: string): Promise<void> {
    const piece = Buffer.alloc(PIECE_BYTES);
    const handle = await open(file, 'w', 0o600);
    try {
      for (let done = 0; done < this.#bytes; done += PIECE_BYTES) {
        this.#closing.signal.throwIfAborted();
        await handle.write(randomFillSync(piece), 0, Math.min(PIECE_BYTES, this.#bytes - done), done);
      }
      await handle.datasync();
    } finally {
      await handle.close();
    }
  }
}
