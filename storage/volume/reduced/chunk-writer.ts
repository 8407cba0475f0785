import { allocate, release, type Xts } from '../../kernels/index.ts';
import { RangeLock } from '../../range-lock.ts';
import { BLOCK_BYTES } from '../../units.ts';
import type { LayerView } from '../format.ts';
import type { Layer } from '../layers.ts';
import { BLOCKS_PER_CHUNK, blockCountOf, cipherUnitOf, containerOf } from './address.ts';
import { type ChunkReferences, placeAt } from './chunk-references.ts';
import type { ChunkReader } from './chunk-reader.ts';
import type { ChunkSpace } from './chunk-space.ts';
import { CHUNK_BYTES, isZeros, pack, type Packed } from './codec.ts';
import { digestOf } from './digest.ts';
import { allOf, each } from './each.ts';

/** Chunks that are packed together and written to adjacent blocks where possible. */
const BLOCKS_PER_BATCH = 8 * BLOCKS_PER_CHUNK;
const BATCHES_AT_ONCE = 4;

/** A chunk on its way to disk. */
interface Job {
  readonly number: number;
  readonly chunk: Buffer;
  readonly digest: string | undefined;
}

interface PlacedJob extends Job {
  readonly packed: Packed;
  readonly address: number;
}

/** Writes chunks to free blocks, and switches map entries to them once they are written. */
export class ChunkWriter {
  readonly #space: ChunkSpace;
  readonly #references: ChunkReferences;
  readonly #reader: ChunkReader;
  /** A partial write of a chunk reads and replaces all of it: one at a time. */
  readonly #locks = new WeakMap<Layer, RangeLock>();

  constructor(space: ChunkSpace, references: ChunkReferences, reader: ChunkReader) {
    this.#space = space;
    this.#references = references;
    this.#reader = reader;
  }

  write(view: LayerView, block: number, data: Buffer): Promise<void> {
    const end = block + data.length / BLOCK_BYTES;
    const starts: number[] = [];
    for (let at = block; at < end; at += BLOCKS_PER_BATCH - (at % BLOCKS_PER_BATCH)) starts.push(at);
    return each(starts, BATCHES_AT_ONCE, (start) => {
      const next = Math.min(end, start + BLOCKS_PER_BATCH - (start % BLOCKS_PER_BATCH));
      return this.#writeBatch(view, start, data.subarray((start - block) * BLOCK_BYTES, (next - block) * BLOCK_BYTES));
    });
  }

  async #writeBatch(view: LayerView, block: number, data: Buffer): Promise<void> {
    await this.#references.pendingBounded();
    const first = Math.floor(block / BLOCKS_PER_CHUNK);
    const end = Math.ceil((block + data.length / BLOCK_BYTES) / BLOCKS_PER_CHUNK);
    let lock = this.#locks.get(view.layer);
    if (!lock) this.#locks.set(view.layer, (lock = new RangeLock()));
    await lock.run(first, end, () => {
      const whole = data.length === (end - first) * CHUNK_BYTES;
      return whole ? this.#replace(view, first, data) : this.#complete(view, first, end, block, data);
    });
  }

  /** Partially written chunks are read first and written whole. */
  async #complete(view: LayerView, first: number, end: number, block: number, data: Buffer): Promise<void> {
    const chunks = allocate((end - first) * CHUNK_BYTES);
    const dataAt = (block - first * BLOCKS_PER_CHUNK) * BLOCK_BYTES;
    try {
      const edges = new Set<number>();
      if (dataAt > 0) edges.add(first);
      if (dataAt + data.length < chunks.length) edges.add(end - 1);
      for (const number of edges) {
        const chunk = chunks.subarray((number - first) * CHUNK_BYTES, (number - first + 1) * CHUNK_BYTES);
        const part = { ...placeAt(view, number), caching: 'past', from: 0, count: BLOCKS_PER_CHUNK } as const;
        await this.#reader.read([part], view.cipher, chunk);
      }
      data.copy(chunks, dataAt);
      await this.#replace(view, first, chunks);
    } finally {
      release(chunks);
    }
  }

  async #replace(view: LayerView, first: number, chunks: Buffer): Promise<void> {
    const { layer } = view;
    const leaders: Job[] = [];
    /** Equal to one of the leaders. */
    const followers: Job[] = [];
    const digests = new Set<string>();
    for (let at = 0; at < chunks.length; at += CHUNK_BYTES) {
      const number = first + at / CHUNK_BYTES;
      const chunk = chunks.subarray(at, at + CHUNK_BYTES);
      if (isZeros(chunk)) {
        this.#references.clear(layer, number);
        continue;
      }
      const digest = view.options?.deduplication === true ? digestOf(chunk, view.cipher) : undefined;
      if (this.#references.share(layer, number, digest)) continue;
      const isFollower = digest !== undefined && digests.has(digest);
      (isFollower ? followers : leaders).push({ number, chunk, digest });
      if (digest !== undefined) digests.add(digest);
    }
    if (leaders.length === 0) return;
    const placed = await this.#place(leaders, view.options?.compression === true);
    await this.#writeOut(placed, view.cipher);
    for (const job of placed) this.#publish(layer, job);
    for (const { number, digest } of followers) {
      if (!this.#references.share(layer, number, digest))
        throw new Error(`the chunk that ${number} equals is not there`);
    }
  }

  async #place(jobs: readonly Job[], compression: boolean): Promise<PlacedJob[]> {
    const packed = await Promise.all(jobs.map(async (job) => ({ ...job, packed: await pack(job.chunk, compression) })));
    const placed: PlacedJob[] = [];
    try {
      for (const job of packed) {
        const address = await this.#space.allocate(job.packed.blocks, job.digest !== undefined);
        this.#reader.drop(address);
        placed.push({ ...job, address });
      }
    } catch (error) {
      for (const { address } of placed) this.#space.abandon(address);
      throw error;
    }
    return placed;
  }

  async #writeOut(jobs: readonly PlacedJob[], cipher: Xts | undefined): Promise<void> {
    try {
      await allOf(runsOf(jobs).map((run) => this.#writeRun(run, cipher)));
    } catch (error) {
      for (const { address } of jobs) this.#space.abandon(address);
      throw error;
    }
  }

  async #writeRun(run: readonly PlacedJob[], cipher: Xts | undefined): Promise<void> {
    const [first] = run;
    if (!first) return;
    const stored = allocate(run.reduce((sum, { packed }) => sum + packed.blocks, 0) * BLOCK_BYTES);
    try {
      let at = 0;
      for (const { packed } of run) {
        packed.layOut(stored.subarray(at, at + packed.blocks * BLOCK_BYTES));
        at += packed.blocks * BLOCK_BYTES;
      }
      cipher?.encrypt(stored, cipherUnitOf(first.address));
      await this.#space.write(first.address, stored);
    } finally {
      release(stored);
    }
  }

  #publish(layer: Layer, { number, address, digest }: PlacedJob): void {
    // A concurrent write may have stored the same bytes.
    if (this.#references.share(layer, number, digest)) this.#space.abandon(address);
    else this.#references.add(layer, number, address, digest);
  }
}

/** Groups jobs whose chunks are adjacent. */
function runsOf(jobs: readonly PlacedJob[]): PlacedJob[][] {
  const runs: PlacedJob[][] = [];
  for (const job of jobs.toSorted((one, other) => one.address - other.address)) {
    const last = runs.at(-1)?.at(-1);
    if (last && adjoins(last.address, job.address)) runs.at(-1)?.push(job);
    else runs.push([job]);
  }
  return runs;
}

function adjoins(one: number, next: number): boolean {
  return containerOf(one) === containerOf(next) && cipherUnitOf(one) + blockCountOf(one) === cipherUnitOf(next);
}
