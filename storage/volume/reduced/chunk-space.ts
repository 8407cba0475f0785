import { setTimeout } from 'node:timers/promises';
import { allocate, release } from '../../kernels/index.ts';
import type { PoolCommits } from '../../metadata/pool-commits.ts';
import { Readers } from '../readers.ts';
import { BLOCK_BYTES, BLOCKS_PER_EXTENT, type Done } from '../../units.ts';
import type { Caching, ExtentStore } from '../format.ts';
import { containerOf, FIRST_ADDRESS, firstBlockOf } from './address.ts';
import { Containers } from './containers.ts';

const WRITES_POLL_MS = 2;

export interface ContainerStore extends ExtentStore {
  /** Whether the extent lies on a group that is being evacuated. */
  isLeaving(extent: number): boolean;
}

/**
 * Allocates and releases the space of chunks. Released space is reused after the next commit, because until then the
 * maps on disk refer to it, and after reads in flight have finished.
 */
export class ChunkSpace {
  readonly containers: Containers;
  readonly readers: Readers;
  readonly #store: ContainerStore;
  readonly #commits: PoolCommits;
  /** Addresses, and ids of removed containers, in the order of their release. */
  #givenUp: number[] = [];

  constructor(store: ContainerStore, commits: PoolCommits) {
    this.#store = store;
    this.#commits = commits;
    this.containers = new Containers((extent) => store.isLeaving(extent));
    this.readers = new Readers((each) => this.#reuse(each));
    commits.beforeEach(() => this.#handOver());
  }

  /** Releases since the last commit began. */
  get givenUpCount(): number {
    return this.#givenUp.length;
  }

  /** Space for a chunk; to be followed by `keep` or `abandon`. */
  async allocate(count: number, indexed: boolean): Promise<number> {
    return this.#allocateNow(count, indexed) ?? (await this.#reclaim(count, indexed));
  }

  /** The chunk is written and a map refers to it from now on. */
  keep(address: number): void {
    this.containers.written(address);
    if (!this.containers.name(address)) throw new Error(`two chunks lie at ${address}`);
  }

  /** The chunk is not needed, or could not be written. */
  abandon(address: number): void {
    this.containers.written(address);
    this.#giveUp(address);
  }

  /** No map refers to the chunk any more. */
  drop(address: number): void {
    this.containers.unname(address);
    this.#giveUp(address);
  }

  read(address: number, from: number, into: Buffer, caching?: Caching): Done {
    return this.#store.read(this.#extentOf(address), (firstBlockOf(address) + from) * BLOCK_BYTES, into, caching);
  }

  write(address: number, from: Buffer): Done {
    return this.#store.write(this.#extentOf(address), firstBlockOf(address) * BLOCK_BYTES, from);
  }

  /** Removes unused containers: a crash can leave some. */
  removeUnused(): void {
    for (const id of this.containers.ids()) if (this.containers.isUnused(id)) this.#remove(id);
  }

  /**
   * Copies the container's blocks to another extent. Its group must be leaving the pool, so that nothing is allocated
   * there.
   */
  async move(id: number): Promise<void> {
    const source = this.containers.extentOf(id);
    while (this.containers.isWrittenTo(id)) await setTimeout(WRITES_POLL_MS);
    if (source === undefined || this.containers.extentOf(id) !== source) return;
    const target = this.#store.allocate() ?? (await this.#store.reclaim());
    try {
      await this.#copy(id, source, target);
    } catch (error) {
      this.#store.retire(target);
      throw error;
    }
    if (this.containers.extentOf(id) !== source) {
      // Its last chunk was released meanwhile, and with it the container.
      this.#store.retire(target);
      return;
    }
    this.containers.move(id, target);
    this.#store.retire(source);
    this.#commits.enqueue((tx) => {
      tx.run('UPDATE containers SET extent = ? WHERE id = ?', target, id);
    });
  }

  #allocateNow(count: number, indexed: boolean): number | undefined {
    const address = this.containers.allocate(count, indexed);
    if (address !== undefined) return address;
    const extent = this.#store.allocate();
    return extent === undefined ? undefined : this.#allocateFrom(extent, count, indexed);
  }

  #allocateFrom(extent: number, count: number, indexed: boolean): number | undefined {
    const id = this.containers.create(extent);
    this.#commits.enqueue((tx) => {
      tx.run('INSERT OR REPLACE INTO containers (id, extent) VALUES (?, ?)', id, extent);
    });
    const address = this.containers.allocate(count, indexed);
    // The evacuation of the group began while the extent was waited for.
    if (address === undefined) this.#remove(id);
    return address;
  }

  async #reclaim(count: number, indexed: boolean): Promise<number> {
    await this.#commits.commit();
    await this.readers.idle();
    const address = this.#allocateNow(count, indexed);
    if (address !== undefined) return address;
    const extent = await this.#store.reclaim();
    return this.#allocateFrom(extent, count, indexed) ?? (await this.#reclaim(count, indexed));
  }

  #extentOf(address: number): number {
    const extent = this.containers.extentOf(containerOf(address));
    if (extent === undefined) throw new Error(`no container is at ${address}`);
    return extent;
  }

  #giveUp(address: number): void {
    this.#givenUp.push(address);
    const id = containerOf(address);
    if (this.containers.isUnused(id)) this.#remove(id);
  }

  #remove(id: number): void {
    const extent = this.containers.extentOf(id);
    if (extent === undefined) return;
    this.containers.remove(id);
    this.#store.retire(extent);
    this.#givenUp.push(id);
    this.#commits.enqueue((tx) => {
      tx.run('DELETE FROM containers WHERE id = ?', id);
    });
  }

  #handOver(): void {
    const givenUp = this.#givenUp;
    if (givenUp.length === 0) return;
    this.#givenUp = [];
    this.#commits.afterNext(() => this.readers.retire(givenUp));
  }

  #reuse(each: number): void {
    if (each >= FIRST_ADDRESS) this.containers.free(each);
    else this.containers.recycle(each);
  }

  async #copy(id: number, source: number, target: number): Promise<void> {
    const { low, high } = this.containers.namedBits(id);
    for (const run of runsOf(low, high)) {
      const buffer = allocate(run.count * BLOCK_BYTES);
      try {
        await this.#store.read(source, run.first * BLOCK_BYTES, buffer);
        await this.#store.write(target, run.first * BLOCK_BYTES, buffer);
      } finally {
        release(buffer);
      }
    }
  }
}

/** Runs of set bits, in order. */
function* runsOf(low: number, high: number): Generator<{ first: number; count: number }> {
  const isSet = (block: number): boolean => (((block < 32 ? low : high) >>> (block & 31)) & 1) === 1;
  for (let block = 0; block < BLOCKS_PER_EXTENT; block++) {
    if (!isSet(block)) continue;
    const first = block;
    while (block < BLOCKS_PER_EXTENT && isSet(block)) block++;
    yield { first, count: block - first };
  }
}
