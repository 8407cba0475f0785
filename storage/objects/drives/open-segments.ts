import * as fs from 'node:fs';
import type { DriveSpace } from './drive-space.ts';
import { isRemoved } from './files.ts';

const OPEN_MAX = 256;
const SEGMENTS_PER_DRIVE = 2 ** 32;

/** A file open for reading. It stays open while a read uses it, also after it was dropped. */
interface OpenSegment {
  readonly fd: number;
  readers: number;
  isWanted: boolean;
}

/** Files that one thread has open for reading, of all drives; the one unused for longest is closed first. */
export class OpenSegments {
  readonly #open = new Map<number, OpenSegment>();

  /** Found only if it is open already. Say `done` to what is returned. */
  acquire(space: DriveSpace, segment: number): OpenSegment | undefined {
    const key = keyOf(space.drive, segment);
    const found = this.#open.get(key);
    if (!found) return undefined;
    this.#open.delete(key);
    this.#open.set(key, found);
    found.readers += 1;
    return found;
  }

  openNow(space: DriveSpace, segment: number): OpenSegment {
    try {
      return this.#keep(space.drive, segment, fs.openSync(space.pathOf(segment), fs.constants.O_RDONLY));
    } catch (error) {
      throw space.openError(segment, error);
    }
  }

  async open(space: DriveSpace, segment: number): Promise<OpenSegment> {
    const fd = await new Promise<number>((resolve, reject) =>
      fs.open(space.pathOf(segment), fs.constants.O_RDONLY, (error, opened) =>
        error ? reject(space.openError(segment, error)) : resolve(opened),
      ),
    );
    const other = this.acquire(space, segment);
    if (!other) return this.#keep(space.drive, segment, fd);
    fs.close(fd, () => undefined);
    return other;
  }

  done(entry: OpenSegment): void {
    entry.readers -= 1;
    if (!entry.isWanted && entry.readers === 0) fs.close(entry.fd, () => undefined);
  }

  drop(drive: number, segment: number): void {
    this.#drop(keyOf(drive, segment));
  }

  dropDrive(drive: number): void {
    for (const key of [...this.#open.keys()]) if (Math.floor(key / SEGMENTS_PER_DRIVE) === drive) this.#drop(key);
  }

  /** Closes files that were removed: their space is freed only when no descriptor is open. */
  closeIdle(): void {
    for (const [key, entry] of [...this.#open]) if (isRemoved(entry.fd)) this.#drop(key);
  }

  #keep(drive: number, segment: number, fd: number): OpenSegment {
    const entry = { fd, readers: 1, isWanted: true };
    this.#open.set(keyOf(drive, segment), entry);
    if (this.#open.size > OPEN_MAX) {
      const [oldest] = this.#open.keys();
      if (oldest !== undefined) this.#drop(oldest);
    }
    return entry;
  }

  #drop(key: number): void {
    const entry = this.#open.get(key);
    if (!entry) return;
    this.#open.delete(key);
    entry.isWanted = false;
    if (entry.readers === 0) fs.close(entry.fd, () => undefined);
  }
}

/** Drives and segments have 32 bits and less, so both fit into one exact number. */
function keyOf(drive: number, segment: number): number {
  return drive * SEGMENTS_PER_DRIVE + segment;
}
