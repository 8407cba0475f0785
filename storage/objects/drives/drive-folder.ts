import { stat, unlink } from 'node:fs/promises';
import { InlineGate } from '../../drive/inline-gate.ts';
import { StorageError } from '../../errors.ts';
import type { Place } from '../records.ts';
import { ActivityMeter, type DriveActivity } from './activity.ts';
import { Appender } from './appender.ts';
import { DedicatedSegment } from './dedicated-segment.ts';
import { DriveSpace, type SegmentInfo } from './drive-space.ts';
import { driveError, withinLimit } from './files.ts';
import { readIdentity } from './identity.ts';
import { OpenSegments } from './open-segments.ts';
import type { PieceBody } from './piece-body.ts';
import { BlockRead, type PieceKey } from './piece-reading.ts';
import { CHECKSUM_BYTES, decodeHeader, HEADER_BYTES, type PieceHeader } from './record.ts';
import { type WalkedRecord, walkSegment } from './walk.ts';

const INLINE_READ_BYTES_MAX = 1024 * 1024 + 1024;

export interface DriveOptions {
  readonly number: number;
  readonly uuid: string;
  readonly folder: string;
  /** In bytes; writes beyond it are refused with `no-space`. */
  readonly capacity: number;
  /** Gives each segment a number that this drive never had before, whichever thread asks. */
  readonly nextSegment: () => Promise<number>;
  /** `usedCounter` of the drive as another thread has it open. Without it the segments are measured here. */
  readonly usedBytes?: BigInt64Array | undefined;
  /** Files open for reading, shared with other drives of the thread. */
  readonly open?: OpenSegments;
}

/** One drive: a folder with an identity and segments. Each thread that uses it has its own, and segments of its own. */
export class DriveFolder {
  readonly number: number;
  readonly uuid: string;
  readonly folder: string;
  readonly #space: DriveSpace;
  readonly #appender: Appender;
  readonly #open: OpenSegments;
  readonly #meter = new ActivityMeter();
  readonly #gate = new InlineGate(0.2);
  readonly #dedicated = new Set<number>();
  #closed = false;

  private constructor(options: DriveOptions, space: DriveSpace) {
    this.number = options.number;
    this.uuid = options.uuid;
    this.folder = options.folder;
    this.#space = space;
    this.#appender = new Appender(space, this.#meter.put);
    this.#open = options.open ?? new OpenSegments();
  }

  /** Rejects with `drive-failed` when the folder is another drive, or none. */
  static async open(options: DriveOptions): Promise<DriveFolder> {
    const { number: drive, folder, capacity, nextSegment } = options;
    const counter = options.usedBytes ?? new BigInt64Array(new SharedArrayBuffer(8));
    const space = new DriveSpace({ drive, folder, capacity, nextSegment, counter });
    const opened = new DriveFolder(options, space);
    await opened.check();
    try {
      if (!options.usedBytes) await space.measure();
    } catch (error) {
      throw driveError(drive, 'being opened', error);
    }
    return opened;
  }

  /** Whether the folder still is this drive; rejects with `drive-failed` if not. */
  async check(): Promise<void> {
    const found = await readIdentity(this.folder);
    if (found?.uuid === this.uuid && found.number === this.number) return;
    const what = found ? `is drive ${found.number} (${found.uuid})` : 'is no drive, or was wiped';
    throw new StorageError('drive-failed', `${this.folder} ${what}; drive ${this.number} (${this.uuid}) is missing.`);
  }

  /** Takes a changed capacity, and the counter that all threads share, over from a layout. */
  adopt({ capacity, usedBytes }: Pick<DriveOptions, 'capacity' | 'usedBytes'>): void {
    this.#space.capacity = capacity;
    if (usedBytes) this.#space.counter = usedBytes;
  }

  /** Packs a piece with others. Durable when it resolves. A replacement is for a piece of this drive that dies. */
  append(header: PieceHeader, body: PieceBody, isReplacement = false): Promise<Place> {
    return this.#appender.append(header, body, isReplacement);
  }

  /** A segment for one piece that is written as it comes: `finish` it or `abort` it. */
  async dedicate(): Promise<DedicatedSegment> {
    this.#checkOpen();
    const startMs = performance.now();
    this.#space.reserve(HEADER_BYTES);
    const segment = await this.#space.create().catch((error: unknown) => {
      this.#space.giveBack(HEADER_BYTES);
      throw error;
    });
    this.#dedicated.add(segment.number);
    return new DedicatedSegment(this.#space, segment, (pieceLength) => {
      this.#dedicated.delete(segment.number);
      if (pieceLength !== undefined) this.#meter.put.add(pieceLength, performance.now() - startMs);
    });
  }

  /** Verified data of each block from `first` up to, not including, `end`; done at once where memory has it. */
  read(place: Place, piece: PieceKey, first: number, end: number): Buffer[] | Promise<Buffer[]> {
    this.#checkOpen();
    const request = new BlockRead(place, piece, first, end);
    const startMs = performance.now();
    if (request.bytes > INLINE_READ_BYTES_MAX || !this.#gate.allows(startMs)) {
      return this.#readLater(request, place.segment, startMs);
    }
    const segment = this.#open.acquire(this.#space, place.segment) ?? this.#open.openNow(this.#space, place.segment);
    try {
      request.runNow(segment.fd);
    } catch (error) {
      throw driveError(this.number, 'reading', error);
    } finally {
      this.#open.done(segment);
    }
    const endMs = performance.now();
    this.#gate.took(endMs - startMs, endMs, request.bytes);
    return this.#verified(request, startMs);
  }

  /** What stands before the blocks at a place; undefined when it is damaged, or of another place. */
  async header(place: Place): Promise<PieceHeader | undefined> {
    const file = await this.#space.openToRead(place.segment);
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(HEADER_BYTES), 0, HEADER_BYTES, place.offset);
      return bytesRead === HEADER_BYTES ? decodeHeader(buffer, 0, place) : undefined;
    } catch (error) {
      throw driveError(this.number, 'reading', error);
    } finally {
      await file.close();
    }
  }

  segments(): Promise<SegmentInfo[]> {
    return this.#space.list();
  }

  /** Segments that this thread writes to now. What is in them may be in no index yet. */
  get writtenSegments(): readonly number[] {
    const packed = this.#appender.segment;
    return packed === undefined ? [...this.#dedicated] : [packed, ...this.#dedicated];
  }

  walk(segment: number): AsyncIterable<WalkedRecord> {
    return walkSegment(this.#space, segment);
  }

  /** Resolves with the bytes that came free: none when there is no such segment. */
  async removeSegment(segment: number): Promise<number> {
    const startMs = performance.now();
    const path = this.#space.pathOf(segment);
    this.#open.drop(this.number, segment);
    try {
      const { size } = await stat(path);
      await unlink(path);
      this.#space.giveBack(size);
      this.#meter.delete.add(size, performance.now() - startMs);
      return size;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0;
      throw driveError(this.number, 'removing a segment', error);
    }
  }

  /** For other threads' `DriveOptions.usedBytes`: all of them count in it. */
  get usedCounter(): BigInt64Array {
    return this.#space.counter;
  }

  get usedBytes(): number {
    return this.#space.usedBytes;
  }

  activity(): DriveActivity {
    return this.#meter.totals();
  }

  /** Ends the writes that were begun. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#appender.close();
    this.#open.dropDrive(this.number);
  }

  async #readLater(request: BlockRead, number: number, startMs: number): Promise<Buffer[]> {
    try {
      await withinLimit(this.number, this.#run(request, number));
    } catch (error) {
      throw driveError(this.number, 'reading', error);
    }
    return this.#verified(request, startMs);
  }

  async #run(request: BlockRead, number: number): Promise<void> {
    const segment = this.#open.acquire(this.#space, number) ?? (await this.#open.open(this.#space, number));
    try {
      await request.run(segment.fd);
    } finally {
      this.#open.done(segment);
    }
  }

  #verified(request: BlockRead, startMs: number): Buffer[] {
    const blocks = request.verified();
    this.#meter.get.add(request.bytes - blocks.length * CHECKSUM_BYTES, performance.now() - startMs);
    return blocks;
  }

  #checkOpen(): void {
    if (this.#closed) throw new StorageError('closed', `Drive ${this.number} was closed.`);
  }
}
