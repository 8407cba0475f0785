import * as fs from 'node:fs';
import { InlineGate } from '../../drive/inline-gate.ts';
import { StorageError } from '../../errors.ts';
import type { Place } from '../records.ts';
import type { DriveSpace, NewSegment } from './drive-space.ts';
import { driveError, fdatasync, withinLimit, writeAll, writeAllSync } from './files.ts';
import type { PieceBody } from './piece-body.ts';
import { encodeHeader, HEADER_BYTES, type PieceHeader } from './record.ts';

const SEGMENT_BYTES_MAX = 256 * 1024 * 1024;
const BATCH_BYTES_MAX = 16 * 1024 * 1024;
/** Below what the system takes in one call. */
const BATCH_BUFFERS_MAX = 1000;
const WAITING_BYTES_MAX = 256 * 1024 * 1024;
/** Copying so little to the page cache costs less than a hop to another thread. */
const INLINE_BYTES_MAX = 128 * 1024;

interface Waiting {
  readonly header: PieceHeader;
  readonly body: PieceBody;
  readonly isReplacement: boolean;
  readonly resolve: (place: Place) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Packs records of many callers into segments. While one batch is written and synced, the next gathers: however many
 * wait, each round is one write and one sync.
 */
export class Appender {
  readonly #space: DriveSpace;
  readonly #gate = new InlineGate();
  #waiting: Waiting[] = [];
  #waitingBytes = 0;
  #running: Promise<void> | undefined;
  #segment: (NewSegment & { size: number }) | undefined;
  #closed = false;

  constructor(space: DriveSpace) {
    this.#space = space;
  }

  /** The segment written to now. */
  get segment(): number | undefined {
    return this.#segment?.number;
  }

  append(header: PieceHeader, body: PieceBody, isReplacement = false): Promise<Place> {
    const refusal = this.#refusal();
    if (refusal) return Promise.reject(refusal);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ header, body, isReplacement, resolve, reject });
      this.#waitingBytes += HEADER_BYTES + body.bytes;
      this.#running ??= this.#run();
    });
  }

  /** Ends what was begun. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#running;
    this.#retire();
  }

  #refusal(): StorageError | undefined {
    if (this.#closed) return new StorageError('closed', `Drive ${this.#space.drive} was closed.`);
    if (this.#waitingBytes < WAITING_BYTES_MAX) return undefined;
    return new StorageError('drive-failed', `Drive ${this.#space.drive} is too slow: too many bytes wait for it.`);
  }

  async #run(): Promise<void> {
    // What arrives in this turn of the event loop goes along.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#waiting.length > 0) {
      const batch = this.#takeBatch();
      try {
        const places = await this.#write(batch);
        batch.forEach(({ resolve }, index) => resolve(places[index] as Place));
      } catch (error) {
        const reason = driveError(this.#space.drive, 'writing', error);
        for (const { reject } of batch) reject(reason);
      }
    }
    this.#running = undefined;
  }

  /** What may take spare room and what may not do not mix: one would be refused for the other. */
  #takeBatch(): Waiting[] {
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
    this.#takeRoom(bytes, batch[0]?.isReplacement ?? false);
    let work: Promise<void> | undefined;
    try {
      const segment = await this.#segmentFor(bytes);
      const { places, buffers } = this.#lay(batch, segment);
      work = this.#writeDurably(segment, buffers, bytes);
      await withinLimit(this.#space.drive, work);
      this.#space.assertLinked(segment.fd);
      segment.size += bytes;
      return places;
    } catch (error) {
      // After a failed write or sync nobody knows what of the file is on disk, and a second sync would not tell.
      this.#retire(work);
      this.#space.giveBack(bytes);
      throw error;
    }
  }

  /** A segment that is written to is never given back: once its drive is full it must not stay one. */
  #takeRoom(bytes: number, isReplacement: boolean): void {
    try {
      this.#space.take(bytes, isReplacement);
    } catch (error) {
      this.#retire();
      throw error;
    }
  }

  #lay(batch: readonly Waiting[], segment: NewSegment & { size: number }): { places: Place[]; buffers: Uint8Array[] } {
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

  async #writeDurably(segment: NewSegment & { size: number }, buffers: Uint8Array[], bytes: number): Promise<void> {
    const startMs = performance.now();
    if (bytes > INLINE_BYTES_MAX || !this.#gate.allows(startMs)) {
      await writeAll(segment.fd, buffers, segment.size);
    } else {
      writeAllSync(segment.fd, buffers, segment.size);
      const endMs = performance.now();
      this.#gate.took(endMs - startMs, endMs, bytes);
    }
    await fdatasync(segment.fd);
  }

  async #segmentFor(bytes: number): Promise<NewSegment & { size: number }> {
    if (this.#segment && this.#segment.size + bytes > SEGMENT_BYTES_MAX) this.#retire();
    if (this.#segment) return this.#segment;
    const created = { ...(await this.#space.create()), size: 0 };
    this.#segment = created;
    await this.#space.syncFolder();
    return created;
  }

  /** Closed too early, its number could come to mean another file while `work` still writes to it. */
  #retire(work?: Promise<void>): void {
    const segment = this.#segment;
    this.#segment = undefined;
    if (segment) void Promise.allSettled([work]).then(() => fs.close(segment.fd));
  }
}
