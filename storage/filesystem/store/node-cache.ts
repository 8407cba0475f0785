import type { BlockDevice } from '../../block-device.ts';
import { BLOCK_BYTES } from '../../units.ts';
import { FsError, toFsError } from '../errors.ts';
import { NODE_BYTES } from './layout.ts';
import { MISS } from './miss.ts';
import { type NodePlace, TreeNode } from './node.ts';

export interface Identity {
  /** Part of the filesystem's UUID: nodes and batches of another filesystem are rejected. */
  readonly owner: readonly [number, number];
  /** The seed of checksums: file contents cannot forge a valid batch or node. */
  readonly seed: number;
}

/**
 * A bounded cache of nodes by address. Dirty nodes, and those that a checkpoint is writing, stay; others are evicted,
 * least recently used first.
 */
export class NodeCache {
  readonly #device: BlockDevice;
  readonly #identity: Identity;
  readonly #nodes = new Map<number, TreeNode>();
  readonly #loading = new Map<number, Promise<void>>();
  readonly #spareBuffers: Buffer[] = [];
  /** The iterator over the nodes that looks for some to evict. */
  #hand: MapIterator<TreeNode> | undefined;
  #dirty = new Set<TreeNode>();
  /** Set with every miss: resolves when the node is loaded. */
  #missing: Promise<void> | undefined;
  readonly nodesMax: number;

  constructor(device: BlockDevice, identity: Identity, nodesMax: number) {
    this.#device = device;
    this.#identity = identity;
    this.nodesMax = nodesMax;
  }

  get dirtyCount(): number {
    return this.#dirty.size;
  }

  get size(): number {
    return this.#nodes.size;
  }

  /** What the last miss waits for. To be called right after the miss. */
  whenLoaded(): Promise<void> {
    const missing = this.#missing;
    this.#missing = undefined;
    return missing ?? Promise.resolve();
  }

  get(address: number, generation: number, level: number): TreeNode {
    const node = this.#nodes.get(address);
    if (node !== undefined) {
      node.wasUsed = true;
      return node;
    }
    return this.#load({ address, generation }, level);
  }

  peek(address: number): TreeNode | undefined {
    return this.#nodes.get(address);
  }

  create(place: NodePlace, level: number): TreeNode {
    const node = new TreeNode(place, this.#buffer());
    node.init(level);
    node.isDirty = true;
    this.#nodes.set(place.address, node);
    this.#dirty.add(node);
    return node;
  }

  /** Gives the node another place in the next checkpoint; it may be changed until then. */
  renew(node: TreeNode, place: NodePlace): void {
    this.#nodes.delete(node.address);
    if (node.isWriting) {
      const copy = this.#buffer();
      node.bytes.copy(copy);
      node.replaceBytes(copy);
      node.isWriting = false;
    }
    node.address = place.address;
    node.generation = place.generation;
    node.isDirty = true;
    this.#nodes.set(place.address, node);
    this.#dirty.add(node);
  }

  remove(node: TreeNode): void {
    this.#nodes.delete(node.address);
    this.#dirty.delete(node);
  }

  /** The nodes that a checkpoint has to write. From now on they are changed only after `renew`. */
  freeze(): FrozenNode[] {
    const frozen = [...this.#dirty].map((node) => {
      node.isDirty = false;
      node.isWriting = true;
      return { node, address: node.address, generation: node.generation, bytes: node.bytes };
    });
    this.#dirty = new Set();
    return frozen;
  }

  /** Fills in checksums, which is deferred until the bytes are written. */
  seal({ address, generation, bytes }: FrozenNode): void {
    new TreeNode({ address, generation }, bytes).seal(this.#identity.owner, this.#identity.seed);
  }

  written(frozen: readonly FrozenNode[]): void {
    for (const { node, bytes } of frozen) if (node.bytes === bytes) node.isWriting = false;
  }

  /** The checkpoint failed: nodes that are still part of the tree are dirty again. */
  unwritten(frozen: readonly FrozenNode[]): void {
    for (const { node, bytes, address } of frozen) {
      if (node.bytes !== bytes || this.#nodes.get(address) !== node) continue;
      node.isWriting = false;
      this.#dirty.add(node);
    }
  }

  /** Called between operations only: within one, nodes that were looked up have to stay. */
  evict(): void {
    let tries = 2 * this.#nodes.size;
    while (this.#nodes.size > this.nodesMax && tries-- > 0) {
      const next = (this.#hand ??= this.#nodes.values()).next();
      if (next.done === true) this.#hand = undefined;
      else if (next.value.wasUsed) next.value.wasUsed = false;
      else this.#drop(next.value);
    }
  }

  #drop(node: TreeNode): void {
    if (node.isWriting || this.#dirty.has(node)) return;
    this.#nodes.delete(node.address);
    if (this.#spareBuffers.length < 64) this.#spareBuffers.push(node.bytes);
  }

  #buffer(): Buffer {
    return this.#spareBuffers.pop() ?? Buffer.allocUnsafeSlow(NODE_BYTES);
  }

  #load(place: NodePlace, level: number): TreeNode {
    this.#missing = this.#loading.get(place.address);
    if (this.#missing !== undefined) throw MISS;
    const bytes = this.#buffer();
    const done = this.#read(place, bytes);
    if (done === undefined) return this.#add(place, bytes, level);
    const loading = done
      .then(() => void this.#add(place, bytes, level))
      .finally(() => {
        this.#loading.delete(place.address);
      });
    // A waiting operation receives the error; without one it is ignored.
    loading.catch(() => undefined);
    this.#loading.set(place.address, loading);
    this.#missing = loading;
    throw MISS;
  }

  #read({ address }: NodePlace, bytes: Buffer): Promise<void> | undefined {
    try {
      const done = this.#device.read(address * BLOCK_BYTES, bytes);
      return done?.catch((error: unknown) => {
        throw toFsError(error);
      });
    } catch (error) {
      throw toFsError(error);
    }
  }

  #add(place: NodePlace, bytes: Buffer, level: number): TreeNode {
    const node = new TreeNode(place, bytes);
    if (!node.isIntact(this.#identity.owner, this.#identity.seed, level)) {
      throw new FsError('EIO', `The node at block ${place.address} is damaged; restore the volume from a snapshot.`);
    }
    this.#nodes.set(place.address, node);
    return node;
  }
}

export interface FrozenNode {
  readonly node: TreeNode;
  readonly address: number;
  readonly generation: number;
  readonly bytes: Buffer;
}
