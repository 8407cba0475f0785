import type { BlockDevice } from '../../block-device.ts';
import { BLOCK_BYTES } from '../../units.ts';
import { FsError, toFsError } from '../errors.ts';
import { Checkpoints } from './checkpoints.ts';
import { FilesystemCommits } from './filesystem-commits.ts';
import { FreedBlocks } from './freed-blocks.ts';
import { FilesystemJournal } from './filesystem-journal.ts';
import { KIND, NODE_BLOCKS, NODE_BYTES, OWN_INODE } from './layout.ts';
import { MISS } from './miss.ts';
import { NodeCache } from './node-cache.ts';
import { NodePool } from './node-pool.ts';
import { replay } from './replay.ts';
import { Space } from './space.ts';
import { readSuperblock, type Superblock } from './superblock.ts';
import { Transaction } from './transaction.ts';
import { Tree } from './tree.ts';

const MIB = 1024 * 1024;
const CACHE_BYTES = 32 * MIB;
const BATCH_BYTES_MAX = MIB;
const DIRTY_NODES_MIN = 16;

export interface StoreOptions {
  readonly cacheBytes?: number;
  /** Nothing is written, not even what a mount writes after a crash. */
  readonly isInspection?: boolean;
}

/** A result that is synchronous if everything is in memory. */
export type Awaitable<T> = T | Promise<T>;

/**
 * Ordered items and blocks, changed by transactions that survive a crash: the base of files and directories. Operations
 * run one after the other, each as a synchronous function.
 */
export class FilesystemStore {
  readonly device: BlockDevice;
  readonly space: Space;
  readonly tree: Tree;
  readonly freed: FreedBlocks;
  /** Blocks that only operations which free blocks, and checkpoints, may use. */
  readonly reserveBlocks: number;
  readonly #identity: Superblock;
  readonly #cache: NodeCache;
  readonly #pool: NodePool;
  readonly #journal: FilesystemJournal;
  readonly #commits: FilesystemCommits;
  readonly #checkpoints: Checkpoints;
  readonly #transaction: Transaction;
  /** With more dirty nodes, operations wait for a checkpoint. */
  readonly #dirtyMax: number;
  /** The size in the next superblock; the space is used once that is durable. */
  #totalBlocks: number;
  #wantsCheckpoint = false;
  #closed = false;

  static async open(device: BlockDevice, options: StoreOptions = {}): Promise<FilesystemStore> {
    const { superblock, slot } = await readSuperblock(device);
    if (superblock.totalBlocks * BLOCK_BYTES > device.sizeBytes) {
      throw new FsError('EINVAL', 'The volume is smaller than the filesystem on it; grow it to what it was.');
    }
    const store = new FilesystemStore(device, superblock, slot, options);
    const parts = { tree: store.tree, space: store.space, pool: store.#pool, cache: store.#cache };
    const { inodes, checks } = await replay(store.#journal, device, parts);
    store.#transaction.inodes += inodes;
    store.#commits.protect(checks);
    if (!device.readOnly && options.isInspection !== true) await store.#journal.wipeEnd();
    return store;
  }

  private constructor(device: BlockDevice, superblock: Superblock, slot: number, options: StoreOptions) {
    this.device = device;
    this.#identity = superblock;
    this.#totalBlocks = superblock.totalBlocks;
    const identity = { owner: ownerOf(superblock.uuid), seed: superblock.seed };
    const cacheNodes = Math.floor((options.cacheBytes ?? CACHE_BYTES) / NODE_BYTES);
    this.#dirtyMax = Math.max(
      DIRTY_NODES_MIN,
      Math.min(Math.floor(cacheNodes / 3), Math.floor(superblock.totalBlocks / 64)),
    );
    // Enough for a checkpoint in progress and the next one, each with the maximum of dirty nodes.
    this.reserveBlocks = (2 * this.#dirtyMax + 96) * NODE_BLOCKS;
    this.#cache = new NodeCache(device, identity, cacheNodes);
    this.space = new Space(superblock, (page) => this.tree.get(OWN_INODE, KIND.spaceMap, page));
    this.#pool = new NodePool(this.space, superblock.generation + 1);
    this.tree = new Tree(this.#cache, this.#pool, superblock.root, superblock.rootLevel);
    this.freed = new FreedBlocks(device, this.space);
    const position = { head: superblock.journalHead, sequence: superblock.journalSequence };
    this.#journal = new FilesystemJournal(device, identity, superblock.journalBlocks, position);
    this.#commits = new FilesystemCommits(device, this.#journal, this.freed, {
      prepare: () => this.#prepareCheckpoint(),
      sealed: () => this.#beginCheckpoint(),
    });
    const parts = { device, cache: this.#cache, pool: this.#pool, space: this.space, tree: this.tree };
    this.#checkpoints = new Checkpoints(parts, slot, superblock.generation);
    this.#transaction = new Transaction({ ...parts, commits: this.#commits }, superblock.inodes);
  }

  get uuid(): Buffer {
    return this.#identity.uuid;
  }

  get hashKey(): Buffer {
    return this.#identity.hashKey;
  }

  get inodes(): number {
    return this.#transaction.inodes;
  }

  get cachedNodes(): number {
    return this.#cache.size;
  }

  get journalBlocks(): number {
    return this.#journal.blocks;
  }

  /** Runs a function that only reads. */
  read<T>(work: () => T): Awaitable<T> {
    this.#refuseIfClosed();
    try {
      const result = work();
      this.#trim();
      return result;
    } catch (error) {
      if (error !== MISS) throw error;
      return this.#readAgain(work);
    }
  }

  /** Runs a change. It is visible at once, and durable after the next `commit`. */
  change<T>(work: (transaction: Transaction) => T): Awaitable<T> {
    this.#refuseChanges();
    if (this.#mustWait()) return this.#changeAgain(work);
    try {
      return this.#attempt(work);
    } catch (error) {
      if (error !== MISS) throw error;
      return this.#changeAgain(work);
    }
  }

  /** Resolves when every change made before the call survives a power cut. */
  async commit(): Promise<void> {
    try {
      await this.#commits.commit();
    } catch (error) {
      throw toFsError(error);
    }
  }

  /** To be awaited before file data is overwritten in place. */
  beforeOverwriting(start: number, count: number): Promise<void> | undefined {
    return this.#commits.beforeOverwriting(start, count);
  }

  /** File data was written to the device. */
  dataWritten(): void {
    this.#commits.dataWritten();
  }

  /** Resolves when a checkpoint has made everything before the call durable, so that nothing has to be replayed. */
  async checkpoint(): Promise<void> {
    if (this.device.readOnly) return;
    // A running checkpoint began before the call.
    await this.#checkpoints.running?.catch(() => undefined);
    this.#wantsCheckpoint = true;
    await this.commit();
    await this.#checkpoints.running;
  }

  async grow(): Promise<void> {
    const totalBlocks = Math.floor(this.device.sizeBytes / BLOCK_BYTES);
    if (totalBlocks <= this.space.totalBlocks) return;
    // Durable before it is used: a journal that refers to blocks after the end could not be replayed.
    this.#totalBlocks = totalBlocks;
    await this.checkpoint();
    this.space.grow(totalBlocks);
  }

  /** Waits until freed blocks can be reused. */
  async reclaim(): Promise<void> {
    await this.commit();
    await this.freed.whenIdle();
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    if (!this.device.readOnly) await this.checkpoint();
    await this.freed.whenIdle();
    this.#closed = true;
  }

  #attempt<T>(work: (transaction: Transaction) => T): T {
    const transaction = this.#transaction;
    transaction.begin();
    let result: T;
    try {
      result = work(transaction);
    } catch (error) {
      transaction.rollback();
      throw error;
    }
    transaction.finish();
    this.#trim();
    if (this.#isDue() && !this.#wantsCheckpoint) {
      this.#wantsCheckpoint = true;
      this.#commitInBackground();
    }
    return result;
  }

  async #readAgain<T>(work: () => T): Promise<T> {
    for (;;) {
      await this.#cache.whenLoaded();
      this.#refuseIfClosed();
      try {
        const result = work();
        this.#trim();
        return result;
      } catch (error) {
        if (error !== MISS) throw error;
      }
    }
  }

  async #changeAgain<T>(work: (transaction: Transaction) => T): Promise<T> {
    for (;;) {
      await this.#cache.whenLoaded();
      while (this.#mustWait()) await this.#drainJournal();
      this.#refuseIfClosed();
      try {
        return this.#attempt(work);
      } catch (error) {
        if (error !== MISS) throw error;
      }
    }
  }

  #trim(): void {
    if (this.#cache.size > this.#cache.nodesMax) this.#cache.evict();
    this.space.trim();
  }

  #isDue(): boolean {
    if (this.#checkpoints.running !== undefined) return false;
    return this.#dirtyCount() > this.#dirtyMax / 2 || this.#journal.usedBlocks > this.#journal.blocks / 2;
  }

  #dirtyCount(): number {
    return this.#cache.dirtyCount + this.space.dirtyPages;
  }

  #mustWait(): boolean {
    const batchBytes = this.#commits.open.length;
    const blocks = this.#journal.usedBlocks + Math.ceil(batchBytes / BLOCK_BYTES);
    return (
      batchBytes > Math.min(BATCH_BYTES_MAX, (this.#journal.blocks * BLOCK_BYTES) / 8) ||
      blocks > (this.#journal.blocks * 3) / 4 ||
      this.#dirtyCount() > this.#dirtyMax
    );
  }

  /** Operations wait: too many changes are in memory or in the journal only. */
  async #drainJournal(): Promise<void> {
    const { running } = this.#checkpoints;
    if (running !== undefined) {
      await running.catch(() => undefined);
      return;
    }
    if (this.#dirtyCount() > this.#dirtyMax || this.#journal.usedBlocks > this.#journal.blocks / 2) {
      this.#wantsCheckpoint = true;
    }
    const wanted = this.#wantsCheckpoint;
    await this.commit();
    if (wanted) await this.#checkpoints.running;
  }

  #commitInBackground(): void {
    // The next caller of `commit` receives the error.
    this.#commits.commit().catch(() => undefined);
  }

  #prepareCheckpoint(): Promise<void> | undefined {
    if (!this.#wantsCheckpoint) return undefined;
    return this.#checkpoints.running?.catch(() => undefined) ?? this.#checkpoints.prepare();
  }

  #beginCheckpoint(): void {
    if (!this.#wantsCheckpoint) return;
    this.#wantsCheckpoint = false;
    const next = this.#journal.position;
    const superblock: Superblock = {
      ...this.#identity,
      generation: this.#pool.generation,
      totalBlocks: this.#totalBlocks,
      allocatedBlocks: this.space.allocatedBlocks,
      pagesUsed: this.space.pagesUsed,
      inodes: this.inodes,
      journalHead: next.head,
      journalSequence: next.sequence,
      root: this.tree.root,
      rootLevel: this.tree.rootLevel,
    };
    this.#checkpoints.begin(superblock, next, (position) => this.#journal.trim(position));
  }

  #refuseChanges(): void {
    this.#refuseIfClosed();
    if (this.device.readOnly)
      throw new FsError('EROFS', 'The filesystem is on a snapshot; make a clone of it to write.');
  }

  #refuseIfClosed(): void {
    if (this.#closed) throw new FsError('ESTALE', 'The filesystem is not mounted any more; mount it again.');
  }
}

export function ownerOf(uuid: Buffer): readonly [number, number] {
  return [uuid.readUInt32LE(0), uuid.readUInt32LE(4)];
}
