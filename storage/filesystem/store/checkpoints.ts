import assert from 'node:assert/strict';
import type { BlockDevice } from '../../block-device.ts';
import { allocate, release } from '../../kernels/index.ts';
import { BLOCK_BYTES } from '../../units.ts';
import type { JournalPosition } from './filesystem-journal.ts';
import { KIND, NODE_BLOCKS, NODE_BYTES, OWN_INODE } from './layout.ts';
import { MISS } from './miss.ts';
import type { FrozenNode, NodeCache } from './node-cache.ts';
import type { NodePool } from './node-pool.ts';
import type { Run } from './space-map-page.ts';
import type { Space } from './space.ts';
import { type Superblock, writeSuperblock } from './superblock.ts';
import type { Tree } from './tree.ts';

/** Adjacent nodes that are written in one request. */
const NODES_PER_WRITE = 32;

export interface CheckpointParts {
  readonly device: BlockDevice;
  readonly cache: NodeCache;
  readonly pool: NodePool;
  readonly space: Space;
  readonly tree: Tree;
}

interface Frozen {
  readonly nodes: FrozenNode[];
  readonly retired: Run[];
  readonly superblock: Superblock;
}

/** Writes the tree as of a point in time, while operations continue. See `layout.ts`. */
export class Checkpoints {
  readonly #parts: CheckpointParts;
  #slot: number;
  /** Of the newest superblock that is known to be durable. */
  #generation: number;
  #running: Promise<void> | undefined;

  constructor(parts: CheckpointParts, slot: number, generation: number) {
    this.#parts = parts;
    this.#slot = slot;
    this.#generation = generation;
  }

  get running(): Promise<void> | undefined {
    return this.#running;
  }

  /**
   * Updates the space map in the tree. A change of the tree allocates blocks, which changes the map; but nodes that
   * have a new place already allocate none, so two or three rounds suffice. Returns undefined when `begin` may follow
   * at once; otherwise await it and call again.
   */
  prepare(): Promise<void> | undefined {
    try {
      while (this.#parts.space.dirtyPages > 0) this.#putImages();
      return undefined;
    } catch (error) {
      if (error !== MISS) throw error;
      return this.#parts.cache.whenLoaded();
    }
  }

  /** Freezes the tree. `written` runs when it is durable. */
  begin(superblock: Superblock, next: JournalPosition, written: (position: JournalPosition) => void): void {
    assert.ok(
      this.#running === undefined,
      'one checkpoint is written at a time: both would use the same superblock slot',
    );
    const { cache, pool } = this.#parts;
    const frozen = { nodes: cache.freeze(), retired: pool.freeze(), superblock };
    this.#running = this.#write(frozen)
      .then(() => written(next))
      .finally(() => {
        this.#running = undefined;
      });
    // The caller handles a failure; the next checkpoint writes what this one did not.
    this.#running.catch(() => undefined);
  }

  #putImages(): void {
    const { space, pool, tree } = this.#parts;
    const images = space.freezeImages();
    try {
      for (const [index, image] of images) {
        pool.ensure();
        tree.put(OWN_INODE, KIND.spaceMap, index, image);
        images.delete(index);
      }
    } catch (error) {
      space.markDirty(images.keys());
      throw error;
    }
  }

  async #write(frozen: Frozen): Promise<void> {
    const { device, cache, pool } = this.#parts;
    try {
      this.#demandNewer(frozen);
      await this.#writeNodes(frozen.nodes.toSorted((one, other) => one.address - other.address));
      await device.flush();
      // The other slot holds the previous checkpoint, which is valid until this one is complete.
      const slot = 1 - this.#slot;
      await writeSuperblock(device, frozen.superblock, slot);
      await device.flush();
      this.#slot = slot;
      this.#generation = frozen.superblock.generation;
    } catch (error) {
      cache.unwritten(frozen.nodes);
      pool.keepRetired(frozen.retired);
      throw error;
    }
    cache.written(frozen.nodes);
    pool.release(frozen.retired);
  }

  /** Nothing that the last checkpoint refers to may be overwritten before this one is durable. */
  #demandNewer({ nodes, superblock }: Frozen): void {
    assert.ok(superblock.generation > this.#generation, 'a superblock is newer than the one before');
    const areNewer = nodes.every(({ generation }) => generation > this.#generation);
    assert.ok(areNewer, 'a checkpoint writes only nodes that the one before does not have');
  }

  async #writeNodes(nodes: readonly FrozenNode[]): Promise<void> {
    const gathered = allocate(NODES_PER_WRITE * NODE_BYTES);
    try {
      for (let first = 0; first < nodes.length;) {
        const { address } = nodes[first] as FrozenNode;
        let count = 0;
        for (; count < NODES_PER_WRITE; count += 1) {
          const node = nodes[first + count];
          if (node?.address !== address + count * NODE_BLOCKS) break;
          this.#parts.cache.seal(node);
          node.bytes.copy(gathered, count * NODE_BYTES);
        }
        await this.#parts.device.write(address * BLOCK_BYTES, gathered.subarray(0, count * NODE_BYTES));
        first += count;
      }
    } finally {
      release(gathered);
    }
  }
}
