import { StorageError } from '../../errors.ts';
import type { Place } from '../records.ts';
import type { OperationCounter } from './activity.ts';
import type { DriveSpace } from './drive-space.ts';
import { driveError, withinLimit, writeAll } from './files.ts';
import { PackedSegment } from './packed-segment.ts';
import type { PieceBody } from './piece-body.ts';
import { encodeHeader, HEADER_BYTES, type PieceHeader } from './record.ts';

const BATCH_BYTES_MAX = 16 * 1024 * 1024;
/** Below what the system takes in one call. */
const BATCH_BUFFERS_MAX = 1000;
const WAITING_BYTES_MAX = 256 * 1024 * 1024;
/** To write larger batches twice, first as zeros, would cost more than it saves. */
const FILLED_FOR_BYTES_MAX = 128 * 1024;

interface Waiting {
  readonly header: PieceHeader;
  readonly body: PieceBody;
  readonly isReplacement: boolean;
  readonly startMs: number;
  readonly resolve: (place: Place) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Packs records of many callers into segments. While one batch is written, the next gathers: however many wait, each
 * round is one write that is durable when it ends. It is never done synchronously: a drive that hangs must not take the
 * thread along.
 */
export class Appender {
  readonly #space: DriveSpace;
  readonly #puts: OperationCounter;
  #waiting: Waiting[] = [];
  #waitingBytes = 0;
  #running: Promise<void> | undefined;
  #segment: PackedSegment | undefined;
  #closed = false;

  /** `puts` counts the pieces that are durable. */
  constructor(space: DriveSpace, puts: OperationCounter) {
    this.#space = space;
    this.#puts = puts;
  }

  /** The segment written to now. */
  get segment(): number | undefined {
    return this.#segment?.number;
  }

  append(header: PieceHeader, body: PieceBody, isReplacement = false): Promise<Place> {
    const refusal = this.#refusal();
    if (refusal) return Promise.reject(refusal);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ header, body, isReplacement, startMs: performance.now(), resolve, reject });
      this.#waitingBytes += HEADER_BYTES + body.bytes;
      this.#running ??= this.#run();
    });
  }

  /** Ends what was begun. What only waits is better off on another drive. */
  async close(): Promise<void> {
    this.#closed = true;
    const reason = this.#refusal() as StorageError;
    for (const { reject } of this.#waiting.splice(0)) reject(reason);
    await this.#running;
    // A drive that does not answer keeps its segment as it is.
    await withinLimit(this.#space.drive, this.#retire()).catch(() => undefined);
  }

  #refusal(): StorageError | undefined {
    if (this.#closed) return new StorageError('closed', `Drive ${this.#space.drive} was closed.`);
    if (this.#waitingBytes < WAITING_BYTES_MAX) return undefined;
    return new StorageError('drive-failed', `Drive ${this.#space.drive} is too slow: too many bytes wait for it.`);
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      // What arrives in this turn of the event loop goes along.
      await new Promise((resolve) => setImmediate(resolve));
      const batch = this.#nextBatch();
      // `close` rejects those that wait.
      if (batch.length === 0) break;
      try {
        const places = await this.#write(batch);
        const endMs = performance.now();
        batch.forEach(({ header, startMs, resolve }, index) => {
          this.#puts.add(header.pieceLength, endMs - startMs);
          resolve(places[index] as Place);
        });
      } catch (error) {
        const reason = driveError(this.#space.drive, 'writing', error);
        for (const { reject } of batch) reject(reason);
      }
    }
    this.#running = undefined;
  }

  /** Records that may use the reserved space and records that may not are not mixed in a batch. */
  #nextBatch(): Waiting[] {
    const isReplacement = this.#waiting[0]?.isReplacement;
    let bytes = 0;
    let buffers = 0;
    let count = 0;
    for (const { body, isReplacement: isSuch } of this.#waiting) {
      if (isSuch !== isReplacement) break;
      bytes += HEADER_BYTES + body.bytes;
      buffers += 1 + body.buffers.length;
      if (count > 0 && (bytes > BATCH_BYTES_MAX || buffers > BATCH_BUFFERS_MAX)) break;
      this.#waitingBytes -= HEADER_BYTES + body.bytes;
      count += 1;
    }
    if (count === this.#waiting.length) {
      const all = this.#waiting;
      this.#waiting = [];
      return all;
    }
    return this.#waiting.splice(0, count);
  }

  async #write(batch: readonly Waiting[]): Promise<Place[]> {
    const bytes = batch.reduce((sum, { body }) => sum + HEADER_BYTES + body.bytes, 0);
    if (this.#segment?.hasRoomFor(bytes) === false) void this.#retire();
    const growth = await this.#reserveSpace(bytes, batch[0]?.isReplacement ?? false);
    let work: Promise<void> | undefined;
    try {
      const segment = this.#segment ?? (await this.#newSegment());
      const { places, buffers } = this.#lay(batch, segment);
      work = writeAll(segment.fd, buffers, segment.size);
      await withinLimit(this.#space.drive, work);
      this.#space.assertLinked(segment.fd);
      segment.wrote(bytes);
      if (bytes <= FILLED_FOR_BYTES_MAX) segment.fillAhead();
      return places;
    } catch (error) {
      // After a failed write or sync it is unknown what of the file is on disk, and a second sync would not report it.
      void this.#retire(work);
      this.#space.giveBack(growth);
      throw error;
    }
  }

  /**
   * What the file will grow by. A segment that is written to is never given back: once its drive is full, or does not
   * answer, it must not stay one.
   */
  async #reserveSpace(bytes: number, isReplacement: boolean): Promise<number> {
    try {
      const growth = (await this.#segment?.growthBy(bytes)) ?? bytes;
      this.#space.reserve(growth, isReplacement);
      return growth;
    } catch (error) {
      void this.#retire();
      throw error;
    }
  }

  #lay(batch: readonly Waiting[], segment: PackedSegment): { places: Place[]; buffers: Uint8Array[] } {
    const { drive } = this.#space;
    const places: Place[] = [];
    const buffers: Uint8Array[] = [];
    let offset = segment.size;
    for (const { header, body } of batch) {
      const place = { drive, segment: segment.number, offset };
      buffers.push(encodeHeader(header, place));
      for (const buffer of body.buffers) buffers.push(buffer);
      places.push(place);
      offset += HEADER_BYTES + body.bytes;
    }
    return { places, buffers };
  }

  async #newSegment(): Promise<PackedSegment> {
    const segment = new PackedSegment(this.#space, await this.#space.create('durable'));
    this.#segment = segment;
    await this.#space.syncFolder();
    return segment;
  }

  async #retire(work?: Promise<void>): Promise<void> {
    const segment = this.#segment;
    this.#segment = undefined;
    await segment?.retire(work);
  }
}
