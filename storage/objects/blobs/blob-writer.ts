import { allocate, release } from '../../kernels/index.ts';
import type { OpenDrives } from '../drives/drives.ts';
import { type PieceBody, wholePiece } from '../drives/piece-body.ts';
import { ObjectError } from '../errors.ts';
import type { Layout } from '../layout/layout.ts';
import type { StageOptions } from '../object-store.ts';
import type { Place, StagedBlob } from '../records.ts';
import { GroupedIds } from './blob-ids.ts';
import { BlobStream } from './blob-stream.ts';
import { NewBlob, ringOf } from './new-blob.ts';
import { BLOB_BYTES_MAX, PACKED_BYTES_MAX, pieceBytesOf, pieceLength } from './pieces.ts';
import { SlotDrives } from './slot-drives.ts';
import { blocksOfSlots, paddedBytes } from './stripes.ts';

export interface BlobWriterOptions {
  readonly layout: () => Layout;
  readonly drives: OpenDrives;
}

/** Where bytes go, and how they are kept. */
interface Target {
  readonly policy: number;
  readonly encrypt: boolean;
}

/** Puts bytes on the drives of a policy: small bodies packed with those of others, large ones as they come. */
export class BlobWriter {
  readonly #layout: () => Layout;
  readonly #drives: OpenDrives;
  readonly #ids = new GroupedIds();

  constructor(options: BlobWriterOptions) {
    this.#layout = options.layout;
    this.#drives = options.drives;
  }

  /**
   * Durable on a quorum of drives when it resolves. An empty body gives `[]`. With `size`, a body of another length is
   * refused. When it rejects, nothing is left but dead space. Chunks of a body need last only until the next is asked for.
   */
  async stage(
    policy: number,
    body: Uint8Array | AsyncIterable<Uint8Array>,
    size?: number,
    { encrypt = false }: StageOptions = {},
  ): Promise<StagedBlob[]> {
    const to = { policy, encrypt };
    if ((size ?? 0) > BLOB_BYTES_MAX) throw new ObjectError('too-large', 'The body has more than 5 GiB.');
    if (body instanceof Uint8Array) {
      checkSize(body.length, size);
      return body.length <= PACKED_BYTES_MAX ? this.#packOne(to, body) : this.#stream(to, only(body), size);
    }
    if (size === undefined) return this.#collect(to, body);
    return size <= PACKED_BYTES_MAX ? this.#gather(to, body, size) : this.#stream(to, body, size);
  }

  /** A body of unknown size: kept until its end, or until it is known to be large. */
  async #collect(to: Target, body: AsyncIterable<Uint8Array>): Promise<StagedBlob[]> {
    const source = body[Symbol.asyncIterator]();
    const chunks: Uint8Array[] = [];
    let total = 0;
    while (total <= PACKED_BYTES_MAX) {
      const next = await source.next();
      if (next.done) return this.#packOne(to, Buffer.concat(chunks));
      chunks.push(Uint8Array.from(next.value));
      total += next.value.length;
    }
    return this.#stream(to, resume(chunks, source), undefined);
  }

  /** A small body of known size: its bytes are put where they are written from as they come. */
  async #gather(to: Target, body: AsyncIterable<Uint8Array>, size: number): Promise<StagedBlob[]> {
    const data = allocate(size === 0 ? 0 : paddedBytes(size, ringOf(this.#layout(), to.policy).policy));
    let filled = 0;
    try {
      for await (const chunk of body) {
        if (filled + chunk.length > size) throw wrongSize(filled + chunk.length, size);
        data.set(chunk, filled);
        filled += chunk.length;
      }
      checkSize(filled, size);
      if (size === 0) return [];
      // Not before all of it is here: until then drives may come and go.
      return await this.#pack(to, data, size);
    } finally {
      release(data);
    }
  }

  /** Written as it is where nothing has to be changed or computed. */
  #packOne(to: Target, body: Uint8Array): Promise<StagedBlob[]> {
    if (body.length === 0) return Promise.resolve([]);
    const layout = this.#layout();
    const mustCopy = to.encrypt || layout.encryption.writeKey !== 0 || ringOf(layout, to.policy).policy.copies === 0;
    if (mustCopy) return this.#gather(to, only(body), body.length);
    return this.#pack(to, Buffer.from(body.buffer, body.byteOffset, body.byteLength), body.length);
  }

  /** With encryption, `data` is changed. */
  async #pack({ policy, encrypt }: Target, data: Buffer, size: number): Promise<StagedBlob[]> {
    const blob = new NewBlob(this.#layout(), policy, { id: this.#ids.next(size), encrypt });
    if (blob.isEncrypted) data.set(blob.sealed(data.subarray(0, size)));
    const drives = new SlotDrives(blob, this.#layout(), this.#drives);
    const blocks = blocksOfSlots(data, size, blob.policy);
    try {
      const bodies = piecesOf(blob, blocks.slots, size);
      const places = await Promise.all(bodies.map((piece, slot) => this.#place(blob, drives, slot, piece, size)));
      drives.checkQuorum(places.filter((place) => place !== null).length);
      return [staged(blob, size, places)];
    } finally {
      blocks.release();
    }
  }

  /** Null when neither the drive of the ring nor another one took the piece. */
  async #place(blob: NewBlob, drives: SlotDrives, slot: number, body: PieceBody, size: number): Promise<Place | null> {
    let drive = drives.first(slot);
    for (let attempt = 0; drive && attempt < 2; attempt += 1) {
      try {
        return await drive.append(blob.header(slot, size), body);
      } catch (error) {
        drives.failed(drive, error);
        drive = drives.another();
      }
    }
    return null;
  }

  async #stream(
    { policy, encrypt }: Target,
    body: AsyncIterable<Uint8Array>,
    size: number | undefined,
  ): Promise<StagedBlob[]> {
    const layout = this.#layout();
    const blob = new NewBlob(layout, policy, { encrypt });
    const stream = new BlobStream(blob, new SlotDrives(blob, layout, this.#drives));
    const written = await stream.write(size === undefined ? body : ofSize(body, size));
    return [staged(blob, written.size, written.places)];
  }
}

function piecesOf(blob: NewBlob, slots: readonly (readonly Buffer[])[], size: number): readonly PieceBody[] {
  const length = pieceLength(size, blob.policy);
  if (blob.policy.copies === 0) return slots.map((blocks, slot) => wholePiece(blocks, blob.seed(slot), length));
  const body = wholePiece(slots[0] ?? [], blob.seed(0), length);
  return slots.map(() => body);
}

function staged(blob: NewBlob, size: number, places: readonly (Place | null)[]): StagedBlob {
  const { id, partition, key, policy } = blob;
  return { id, partition, key, size, places, pieceBytes: pieceBytesOf(size, policy) };
}

async function* only(chunk: Uint8Array): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(chunk);
}

async function* resume(chunks: readonly Uint8Array[], source: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* chunks;
    for (let next = await source.next(); !next.done; next = await source.next()) yield next.value;
  } finally {
    await source.return?.();
  }
}

async function* ofSize(body: AsyncIterable<Uint8Array>, size: number): AsyncGenerator<Uint8Array> {
  let total = 0;
  for await (const chunk of body) {
    total += chunk.length;
    if (total > size) throw wrongSize(total, size);
    yield chunk;
  }
  checkSize(total, size);
}

function checkSize(total: number, size: number | undefined): void {
  if (size !== undefined && total !== size) throw wrongSize(total, size);
}

function wrongSize(total: number, size: number): ObjectError {
  return new ObjectError('incomplete-body', `The body has ${total < size ? 'fewer' : 'more'} bytes than ${size}.`);
}
