import { randomFillSync } from 'node:crypto';
import { statSync, truncateSync } from 'node:fs';
import { open, rename, rm, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * The maximum space that SQLite needs until deletions are durable: the log before a checkpoint (1,000 pages), and the
 * growth of the file by that log.
 */
const RESERVE_BYTES = 8 * 2 ** 20;
const PIECE_BYTES = 256 * 1024;
/** The reserve is not created from the last free space. */
const FREE_FACTOR_MIN = 4;
/** Space is scarce below this fraction of the disk, or below twice the space that the reserve requires. */
const SCARCE_PART = 0.05;

/**
 * A file beside a database that reserves disk space. On a full disk, changes that free space use it, a piece at a time:
 * other writers of the disk take what is not used at once. A file shorter than its full size also records that only
 * such changes may be written, until it can be filled again.
 */
export class Reserve {
  readonly #file: string;
  readonly #bytes: number;
  /** Undefined: it was never created. */
  #size: number | undefined;
  readonly #closing = new AbortController();

  constructor(file: string, bytes = RESERVE_BYTES) {
    this.#file = file;
    this.#bytes = bytes;
    this.#size = statSync(file, { throwIfNoEntry: false })?.size;
  }

  /** Part of its space was released and could not be filled again yet. */
  get isReleased(): boolean {
    return this.#size !== undefined && this.#size < this.#bytes;
  }

  /** Releases a piece of its space; false when there is none left. */
  release(): boolean {
    if (this.#size === undefined || this.#size === 0) return false;
    const size = Math.max(0, this.#size - PIECE_BYTES);
    truncateSync(this.#file, size);
    this.#size = size;
    return true;
  }

  /** Aborts a filling in progress; the next start begins again. */
  close(): void {
    this.#closing.abort();
  }

  /** Whether it has its full size afterwards. */
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

  /** The disk has so little free space that unused extents should be deallocated. */
  async isScarce(): Promise<boolean> {
    if (this.isReleased) return true;
    const { free, size } = await this.#diskSpace();
    return free < Math.max(size * SCARCE_PART, 2 * this.#bytes * FREE_FACTOR_MIN);
  }

  async #diskSpace(): Promise<{ free: number; size: number }> {
    const { bavail, blocks, bsize } = await statfs(dirname(this.#file));
    return { free: bavail * bsize, size: blocks * bsize };
  }

  /** Random bytes: a disk that compresses must not reserve less. */
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
