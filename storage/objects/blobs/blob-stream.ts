import { allDone } from '../../all-done.ts';
import { allocate, release } from '../../kernels/index.ts';
import type { DedicatedSegment } from '../drives/dedicated-segment.ts';
import type { DriveFolder } from '../drives/drive-folder.ts';
import { checkedBlocks, type PieceBody, paddingOf } from '../drives/piece-body.ts';
import { ObjectError } from '../errors.ts';
import type { Place } from '../records.ts';
import type { NewBlob } from './new-blob.ts';
import { BLOB_BYTES_MAX, pieceLength, stripeBytes } from './pieces.ts';
import type { SlotDrives } from './slot-drives.ts';
import { blocksOfSlots } from './stripes.ts';

/** About so much is written at a time; as much again gathers meanwhile. */
const BATCH_BYTES = 512 * 1024;

interface SlotWriter {
  readonly slot: number;
  readonly drive: DriveFolder;
  readonly segment: DedicatedSegment;
}

/** Writes a large blob as it comes, each piece into a segment of its own. */
export class BlobStream {
  readonly #blob: NewBlob;
  readonly #drives: SlotDrives;
  readonly #batchBytes: number;
  #writers: readonly SlotWriter[] = [];
  #buffer: Buffer | undefined;
  #filled = 0;
  #size = 0;
  #blocksWritten = 0;
  #writing: Promise<void> | undefined;

  constructor(blob: NewBlob, drives: SlotDrives) {
    this.#blob = blob;
    this.#drives = drives;
    const stripe = stripeBytes(blob.policy);
    this.#batchBytes = Math.max(1, Math.floor(BATCH_BYTES / stripe)) * stripe;
  }

  /** Resolves with the size and where the pieces are. When it rejects, nothing is left on the drives. */
  async write(body: AsyncIterable<Uint8Array>): Promise<{ size: number; places: (Place | null)[] }> {
    try {
      await this.#open();
      for await (const chunk of body) await this.#add(chunk);
      if (this.#filled > 0) await this.#flush();
      await this.#writing;
      return { size: this.#size, places: await this.#finish() };
    } catch (error) {
      await Promise.allSettled([this.#writing]);
      await Promise.allSettled(this.#writers.map(({ segment }) => segment.abort()));
      throw error;
    } finally {
      if (this.#buffer) release(this.#buffer);
    }
  }

  async #open(): Promise<void> {
    const slots = Array.from({ length: this.#blob.ring.slots }, (_, slot) => slot);
    const opened = await Promise.all(slots.map((slot) => this.#openSlot(slot)));
    this.#writers = opened.filter((writer) => writer !== undefined);
    this.#drives.checkQuorum(this.#writers.length);
  }

  async #openSlot(slot: number): Promise<SlotWriter | undefined> {
    let drive = this.#drives.first(slot);
    for (let attempt = 0; drive && attempt < 2; attempt += 1) {
      try {
        return { slot, drive, segment: await drive.dedicate() };
      } catch (error) {
        this.#drives.failed(drive, error);
        drive = this.#drives.another();
      }
    }
    return undefined;
  }

  async #add(chunk: Uint8Array): Promise<void> {
    this.#size += chunk.length;
    if (this.#size > BLOB_BYTES_MAX) throw new ObjectError('too-large', 'The body has more than 5 GiB.');
    for (let taken = 0; taken < chunk.length;) {
      this.#buffer ??= allocate(this.#batchBytes);
      const part = chunk.subarray(taken, taken + this.#batchBytes - this.#filled);
      this.#buffer.set(this.#blob.sealed(part), this.#filled);
      taken += part.length;
      this.#filled += part.length;
      if (this.#filled === this.#batchBytes) await this.#flush();
    }
  }

  /** Starts writing what has gathered, once the batch before it is written. */
  async #flush(): Promise<void> {
    await this.#writing;
    const buffer = this.#buffer;
    const bytes = this.#filled;
    if (!buffer) return;
    this.#buffer = undefined;
    this.#filled = 0;
    this.#writing = this.#writeBatch(buffer, bytes).finally(() => release(buffer));
    // The next await gets the failure; until then it must not count as unhandled.
    this.#writing.catch(() => undefined);
  }

  async #writeBatch(buffer: Buffer, bytes: number): Promise<void> {
    const blocks = blocksOfSlots(buffer, bytes, this.#blob.policy);
    try {
      const first = this.#blocksWritten;
      this.#blocksWritten += Math.ceil(bytes / stripeBytes(this.#blob.policy));
      const bodies = this.#bodies(blocks.slots, first);
      const lost: SlotWriter[] = [];
      await allDone(this.#writers.map((writer) => this.#writeSlot(writer, bodies[writer.slot] as PieceBody, lost)));
      if (lost.length === 0) return;
      this.#writers = this.#writers.filter((writer) => !lost.includes(writer));
      this.#drives.checkQuorum(this.#writers.length);
    } finally {
      blocks.release();
    }
  }

  #bodies(slots: readonly (readonly Buffer[])[], first: number): readonly PieceBody[] {
    if (this.#blob.policy.copies === 0) {
      return slots.map((blocks, slot) => checkedBlocks(blocks, this.#blob.seed(slot), first));
    }
    const body = checkedBlocks(slots[0] ?? [], this.#blob.seed(0), first);
    return slots.map(() => body);
  }

  async #writeSlot(writer: SlotWriter, body: PieceBody, lost: SlotWriter[]): Promise<void> {
    try {
      await writer.segment.write(body);
    } catch (error) {
      await this.#lose(writer, error);
      lost.push(writer);
    }
  }

  async #lose(writer: SlotWriter, error: unknown): Promise<void> {
    this.#drives.failed(writer.drive, error);
    await writer.segment.abort();
  }

  async #finish(): Promise<(Place | null)[]> {
    const places = new Array<Place | null>(this.#blob.ring.slots).fill(null);
    await allDone(this.#writers.map((writer) => this.#finishSlot(writer, places)));
    this.#drives.checkQuorum(places.filter((place) => place !== null).length);
    return places;
  }

  async #finishSlot(writer: SlotWriter, places: (Place | null)[]): Promise<void> {
    const header = this.#blob.header(writer.slot, this.#size);
    try {
      const padding = Buffer.alloc(paddingOf(pieceLength(this.#size, this.#blob.policy)));
      if (padding.length > 0) await writer.segment.write({ buffers: [padding], bytes: padding.length });
      places[writer.slot] = await writer.segment.finish(header);
    } catch (error) {
      await this.#lose(writer, error);
    }
  }
}
