import * as fs from 'node:fs';
import { open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { StorageError } from '../../errors.ts';
import { SharedFlush } from '../../drive/shared-flush.ts';
import { driveError, isRemoved, syncFolder, withinLimit } from './files.ts';
import { SEGMENTS_FOLDER } from './identity.ts';

const SUFFIX = '.segment';
const NAME = /^[0-9]{1,10}\.segment$/;
/** As much as a segment holds: so much is there twice until the old one is dropped. */
const REPLACEMENT_BYTES_MAX = 256 * 1024 * 1024;
/** Files looked at together when a drive is measured. */
const STAT_TOGETHER = 32;

export interface SegmentInfo {
  readonly number: number;
  readonly bytes: number;
  /** Milliseconds since 1970. */
  readonly modifiedAt: number;
}

export interface NewSegment {
  readonly number: number;
  readonly fd: number;
}

/** The segments of a drive as files, and how much space they leave. */
export class DriveSpace {
  readonly drive: number;
  capacity: number;
  /** Shared by all threads that have the drive open. */
  counter: BigInt64Array;
  readonly #folder: string;
  readonly #nextSegment: () => Promise<number>;
  readonly #folderSync: SharedFlush;

  constructor(options: {
    readonly drive: number;
    readonly folder: string;
    readonly capacity: number;
    readonly counter: BigInt64Array;
    readonly nextSegment: () => Promise<number>;
  }) {
    this.drive = options.drive;
    this.capacity = options.capacity;
    this.counter = options.counter;
    this.#folder = join(options.folder, SEGMENTS_FOLDER);
    this.#nextSegment = options.nextSegment;
    this.#folderSync = new SharedFlush(() => syncFolder(this.#folder));
  }

  get usedBytes(): number {
    return Number(Atomics.load(this.counter, 0));
  }

  pathOf(segment: number): string {
    return join(this.#folder, `${segment}${SUFFIX}`);
  }

  /**
   * Reserves space for bytes about to be written; what was not written after all goes back with `giveBack`. What replaces
   * bytes of the same drive may go a little beyond the capacity: a full drive could never be tidied up otherwise.
   */
  reserve(bytes: number, isReplacement = false): void {
    if (this.tryTake(bytes, isReplacement ? REPLACEMENT_BYTES_MAX : 0)) return;
    throw new StorageError('no-space', `Drive ${this.drive} has no space for ${bytes} bytes more.`);
  }

  tryTake(bytes: number, beyond = 0): boolean {
    const before = Number(Atomics.add(this.counter, 0, BigInt(bytes)));
    if (before + bytes <= this.capacity + beyond) return true;
    this.giveBack(bytes);
    return false;
  }

  giveBack(bytes: number): void {
    Atomics.sub(this.counter, 0, BigInt(bytes));
  }

  /**
   * A number that is in use is an error: the file may hold pieces that the index names. Writes to a durable one are on
   * disk when they end; with others that takes a sync.
   */
  async create(kind: 'durable' | 'plain' = 'plain'): Promise<NewSegment> {
    const number = await this.#nextSegment();
    const { O_CREAT, O_DSYNC, O_EXCL, O_WRONLY } = fs.constants;
    const flags = O_CREAT | O_EXCL | O_WRONLY | (kind === 'durable' ? O_DSYNC : 0);
    try {
      return { number, fd: await this.#open(number, flags) };
    } catch (error) {
      throw driveError(this.drive, 'making a segment', error);
    }
  }

  /** A second descriptor of a durable segment. */
  openToFill(segment: number): Promise<number> {
    return this.#open(segment, fs.constants.O_WRONLY | fs.constants.O_DSYNC);
  }

  /** Until then a crash may lose the file, whatever was synced in it. */
  syncFolder(): Promise<void> {
    return withinLimit(this.drive, this.#folderSync.run());
  }

  assertLinked(fd: number): void {
    if (!isRemoved(fd)) return;
    throw new StorageError('drive-failed', `A segment of drive ${this.drive} was removed while it was written.`);
  }

  async list(): Promise<SegmentInfo[]> {
    const names = (await readdir(this.#folder)).filter((name) => NAME.test(name));
    const found: SegmentInfo[] = [];
    for (let done = 0; done < names.length; done += STAT_TOGETHER) {
      const some = await Promise.all(names.slice(done, done + STAT_TOGETHER).map((name) => this.#inspect(name)));
      found.push(...some.filter((info) => info !== undefined));
    }
    return found;
  }

  /** Counts what is there, for all threads. */
  async measure(): Promise<void> {
    const segments = await this.list();
    Atomics.store(this.counter, 0, BigInt(segments.reduce((sum, segment) => sum + segment.bytes, 0)));
  }

  async openToRead(segment: number): Promise<fs.promises.FileHandle> {
    try {
      return await open(this.pathOf(segment), fs.constants.O_RDONLY);
    } catch (error) {
      throw this.openError(segment, error);
    }
  }

  openError(segment: number, error: unknown): StorageError {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      return new StorageError('not-found', `Drive ${this.drive} has no segment ${segment}.`, { cause: error });
    }
    return driveError(this.drive, 'opening a segment', error);
  }

  async #open(segment: number, flags: number): Promise<number> {
    const opening = new Promise<number>((resolve, reject) =>
      fs.open(this.pathOf(segment), flags, 0o600, (error, fd) => (error ? reject(error) : resolve(fd))),
    );
    try {
      return await withinLimit(this.drive, opening);
    } catch (error) {
      // The caller of an open that ended too late is gone; an error of its close is ignored.
      opening.then(
        (fd) => fs.close(fd, () => undefined),
        () => undefined,
      );
      throw error;
    }
  }

  async #inspect(name: string): Promise<SegmentInfo | undefined> {
    const number = Number.parseInt(name, 10);
    try {
      const { size, mtimeMs } = await stat(this.pathOf(number));
      return { number, bytes: size, modifiedAt: mtimeMs };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }
}
