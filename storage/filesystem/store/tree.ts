import assert from 'node:assert/strict';
import { Key, offsetAt } from './key.ts';
import { KIND, NODE_BYTES, NUMBER_MAX, VALUE_BYTES_MAX } from './layout.ts';
import { type NodePlace, POINTER_BYTES, type TreeNode } from './node.ts';
import type { NodeCache } from './node-cache.ts';

/**
 * Allocates places for new nodes and receives those of old ones. Never waits: the caller has ensured that some are
 * ready.
 */
export interface NodePlaces {
  allocate(): NodePlace;
  retire(place: NodePlace): void;
  readonly readyCount: number;
}

/** New nodes that a change needs at most: every level may be copied and split. */
export const NODES_PER_CHANGE = 20;
const DEPTH_MAX = 9;
const THIN_BYTES = NODE_BYTES / 4;
const MERGED_BYTES_MAX = (NODE_BYTES * 3) / 4;

export interface Leaf {
  readonly items: readonly TreeItem[];
  /** Of the nodes from the root to the leaf. */
  readonly places: readonly NodePlace[];
  readonly next: Key | undefined;
}

export interface TreeItem {
  readonly inode: number;
  readonly kind: number;
  readonly offset: number;
  readonly value: Buffer;
}

export interface FoundItem {
  readonly offset: number;
  readonly value: Buffer;
}

/**
 * The ordered tree (a B+tree). Values that it returns are views of nodes: they are good until the next change. Every
 * method may throw `MISS` and has changed nothing that matters by then.
 *
 *     on disk, checkpoint 7        in memory, to be checkpoint 8
 *
 *         A  ◄ superblock 7            A'  ◄ superblock 8 will name it
 *        ┌┴──┐                        ┌┴──┐
 *        B   C                        B   C'      an item of C was changed: C and its parent got new places
 *
 * The first change of a node after a checkpoint gives it a new place, and its parents with it (copy on write); further ones
 * change the copy in memory. The places of A and C are *held*: not free before superblock 8 is durable. A node has the
 * number of the checkpoint that wrote it (its generation), and the pointer to it repeats that, so that a place that was
 * reused is not mistaken for the old node.
 *
 * Crash while checkpoint 8 is being written: superblock 7 is the newest whole one, A, B and C are untouched, and the journal
 * is replayed on them. Crash after superblock 8 is durable: A', B and C', and the journal from checkpoint 8 on. There is no
 * third case: a superblock is one sector with a checksum.
 *
 * Invariant: a checkpoint writes only nodes that are newer than the last durable one. See `layout.ts` for the journal.
 */
export class Tree {
  readonly #cache: NodeCache;
  readonly #places: NodePlaces;
  readonly #key = new Key();
  readonly #other = new Key();
  /** The path to the leaf of the last request, and its slots. */
  readonly #path: TreeNode[] = [];
  readonly #slots: number[] = [];
  root: NodePlace;
  rootLevel: number;

  constructor(cache: NodeCache, places: NodePlaces, root: NodePlace, rootLevel: number) {
    this.#cache = cache;
    this.#places = places;
    this.root = root;
    this.rootLevel = rootLevel;
  }

  get(inode: number, kind: number, offset: number): Buffer | undefined {
    const leaf = this.#descend(this.#key.set(inode, kind, offset));
    const slot = leaf.lowerBound(this.#key);
    return leaf.has(slot, this.#key) ? leaf.value(slot) : undefined;
  }

  /** The last item of the inode and kind that is not beyond the offset. */
  floor(inode: number, kind: number, offset: number): FoundItem | undefined {
    const key = this.#key.set(inode, kind, offset);
    let leaf = this.#descend(key);
    let slot = leaf.lowerBound(key);
    if (!leaf.has(slot, key)) slot -= 1;
    while (slot < 0) {
      const previous = this.#step(-1);
      if (previous === undefined) return undefined;
      leaf = previous;
      slot = leaf.count - 1;
    }
    const at = leaf.keyWord(slot);
    return key.isBeside(leaf.words, at) ? { offset: offsetAt(leaf.words, at), value: leaf.value(slot) } : undefined;
  }

  /** Visits items of one inode and kind from an offset on, until `visit` returns false. It must not change the tree. */
  scan(inode: number, kind: number, from: number, visit: (offset: number, value: Buffer) => boolean): void {
    const key = new Key().set(inode, kind, from);
    let leaf: TreeNode | undefined = this.#descend(key);
    let slot = leaf.lowerBound(key);
    for (; leaf !== undefined; leaf = this.#step(1), slot = 0) {
      for (; slot < leaf.count; slot += 1) {
        const at = leaf.keyWord(slot);
        if (!key.isBeside(leaf.words, at) || !visit(offsetAt(leaf.words, at), leaf.value(slot))) return;
      }
    }
  }

  /**
   * Visits the attributes of inodes from a number on, in order, until `visit` returns false. It must not use the tree.
   * Other items of an inode are skipped, a leaf at a time at most.
   */
  scanInodes(from: number, visit: (inode: number, value: Buffer) => boolean): void {
    const key = new Key().set(from, KIND.attributes, 0);
    for (;;) {
      let leaf: TreeNode | undefined = this.#descend(key);
      let slot = leaf.lowerBound(key);
      while (leaf !== undefined && slot >= leaf.count) {
        leaf = this.#step(1);
        slot = 0;
      }
      if (leaf === undefined) return;
      for (; slot < leaf.count; slot += 1) {
        key.setWords(leaf.words, leaf.keyWord(slot));
        if (key.kind === KIND.attributes && !visit(key.inode, leaf.value(slot))) return;
      }
      key.set(key.inode + 1, KIND.attributes, 0);
    }
  }

  /** The leaf of a key, with the path to it, and the start of the next one. For checks. */
  leafAt(key: Key): Leaf {
    const leaf = this.#descend(key);
    const items = Array.from({ length: leaf.count }, (_, slot) => {
      const { inode, kind, offset } = this.#other.setWords(leaf.words, leaf.keyWord(slot));
      return { inode, kind, offset, value: Buffer.from(leaf.value(slot)) };
    });
    const places = this.#path.map(({ address, generation }) => ({ address, generation }));
    return { items, places, next: this.#nextLeafKey() };
  }

  put(inode: number, kind: number, offset: number, value: Buffer): void {
    assert.ok(value.length <= VALUE_BYTES_MAX, `a value of ${value.length} bytes is too long for a node`);
    assert.ok(inode <= NUMBER_MAX && offset <= NUMBER_MAX, 'numbers in keys are exact');
    const key = this.#key.set(inode, kind, offset);
    for (;;) {
      const leaf = this.#descendToChange(key);
      const slot = leaf.lowerBound(key);
      if (leaf.has(slot, key)) {
        if (leaf.resize(slot, value.length)) {
          value.copy(leaf.bytes, leaf.valueAt(slot));
          return;
        }
      } else if (leaf.fits(value.length)) {
        value.copy(leaf.bytes, leaf.insert(slot, key, value.length));
        return;
      }
      this.#split(this.#path.length - 1, slot, key);
    }
  }

  delete(inode: number, kind: number, offset: number): void {
    const key = this.#key.set(inode, kind, offset);
    const leaf = this.#descendToChange(key);
    const slot = leaf.lowerBound(key);
    if (leaf.has(slot, key)) leaf.remove(slot);
  }

  /** Merges a thin leaf with a neighbour, or removes it if it is empty: as far as all of it is in memory. */
  mergeThin(inode: number, kind: number, offset: number): void {
    if (this.rootLevel === 0 || this.#places.readyCount < NODES_PER_CHANGE) return;
    const key = this.#key.set(inode, kind, offset);
    if (this.#descend(key).usedBytes > THIN_BYTES) return;
    this.#descendToChange(key);
    for (let depth = this.#path.length - 1; depth > 0; depth -= 1) {
      if (!this.#mergeThinNode(depth)) break;
    }
    this.#dropIdleRoots();
  }

  #nextLeafKey(): Key | undefined {
    for (let depth = this.#slots.length - 1; depth >= 0; depth -= 1) {
      const node = this.#path[depth] as TreeNode;
      const slot = (this.#slots[depth] as number) + 1;
      if (slot < node.count) return new Key().setWords(node.words, node.keyWord(slot));
    }
    return undefined;
  }

  #mergeThinNode(depth: number): boolean {
    const node = this.#path[depth] as TreeNode;
    const parent = this.#path[depth - 1] as TreeNode;
    const slot = this.#slots[depth - 1] as number;
    if (node.count === 0 && parent.count > 1) {
      this.#unlink(parent, slot, node);
      return true;
    }
    if (node.usedBytes > THIN_BYTES || parent.count < 2) return false;
    const leftSlot = slot > 0 ? slot - 1 : slot;
    const left = this.#cache.peek(parent.childAddress(leftSlot));
    const right = this.#cache.peek(parent.childAddress(leftSlot + 1));
    if (left === undefined || right === undefined || left.usedBytes + right.usedBytes > MERGED_BYTES_MAX) return false;
    this.#own(left, parent, leftSlot);
    this.#own(right, parent, leftSlot + 1);
    right.moveTail(0, left, this.#other);
    this.#unlink(parent, leftSlot + 1, right);
    return true;
  }

  #unlink(parent: TreeNode, slot: number, child: TreeNode): void {
    parent.remove(slot);
    this.#places.retire(child);
    this.#cache.remove(child);
  }

  #dropIdleRoots(): void {
    while (this.rootLevel > 0) {
      const root = this.#cache.get(this.root.address, this.root.generation, this.rootLevel);
      if (root.count > 1) return;
      this.root = { address: root.childAddress(0), generation: root.childGeneration(0) };
      this.rootLevel -= 1;
      this.#places.retire(root);
      this.#cache.remove(root);
    }
  }

  #descend(key: Key): TreeNode {
    let node = this.#cache.get(this.root.address, this.root.generation, this.rootLevel);
    this.#path.length = 0;
    this.#slots.length = 0;
    this.#path.push(node);
    for (let level = this.rootLevel - 1; level >= 0; level -= 1) {
      const slot = node.childSlot(key);
      node = this.#cache.get(node.childAddress(slot), node.childGeneration(slot), level);
      this.#slots.push(slot);
      this.#path.push(node);
    }
    return node;
  }

  /** Moves to the next leaf, or to the previous one. */
  #step(direction: 1 | -1): TreeNode | undefined {
    let depth = this.#slots.length - 1;
    for (; depth >= 0; depth -= 1) {
      const slot = (this.#slots[depth] as number) + direction;
      if (slot >= 0 && slot < (this.#path[depth] as TreeNode).count) break;
    }
    if (depth < 0) return undefined;
    this.#slots[depth] = (this.#slots[depth] as number) + direction;
    for (; depth < this.#slots.length; depth += 1) {
      const parent = this.#path[depth] as TreeNode;
      const slot = this.#slots[depth] as number;
      const child = this.#cache.get(parent.childAddress(slot), parent.childGeneration(slot), parent.level - 1);
      this.#path[depth + 1] = child;
      if (depth + 1 < this.#slots.length) this.#slots[depth + 1] = direction > 0 ? 0 : child.count - 1;
    }
    return this.#path[depth];
  }

  /** As `#descend`; every node on the way may be changed afterwards. */
  #descendToChange(key: Key): TreeNode {
    const leaf = this.#descend(key);
    for (let depth = 0; depth < this.#path.length; depth += 1) {
      const node = this.#path[depth] as TreeNode;
      const parent = this.#path[depth - 1];
      if (parent !== undefined) this.#own(node, parent, this.#slots[depth - 1] as number);
      else if (!node.isDirty) {
        this.#renew(node);
        this.root = { address: node.address, generation: node.generation };
      }
    }
    return leaf;
  }

  #own(node: TreeNode, parent: TreeNode, slot: number): void {
    if (node.isDirty) return;
    this.#renew(node);
    parent.setChild(slot, node);
  }

  #renew(node: TreeNode): void {
    const place = this.#places.allocate();
    this.#places.retire(node);
    this.#cache.renew(node, place);
  }

  /**
   * Splits a node of the path, or first one above it that has no space for another child. Where the key goes to the end
   * of the node, the new one starts empty: keys inserted in order fill their nodes.
   */
  #split(depth: number, slot: number, key: Key): void {
    const node = this.#path[depth] as TreeNode;
    if (depth === 0) {
      this.#growRoot(node);
      return;
    }
    const parent = this.#path[depth - 1] as TreeNode;
    const parentSlot = this.#slots[depth - 1] as number;
    if (!parent.fits(POINTER_BYTES)) {
      this.#split(depth - 1, parentSlot + 1, key);
      return;
    }
    const right = this.#cache.create(this.#places.allocate(), node.level);
    const separator = this.#other;
    if (slot === node.count && node.level === 0) {
      separator.setWords(Uint32Array.of(key.a, key.b, key.c, key.d), 0);
    } else {
      const from = slot === node.count ? node.count - 1 : node.middle();
      node.moveTail(from, right, separator);
      separator.setWords(right.words, right.keyWord(0));
    }
    parent.insert(parentSlot + 1, separator, POINTER_BYTES);
    parent.setChild(parentSlot + 1, right);
  }

  #growRoot(node: TreeNode): void {
    assert.ok(node.level + 1 < DEPTH_MAX, 'the tree is deeper than any device is large');
    const root = this.#cache.create(this.#places.allocate(), node.level + 1);
    root.insert(0, this.#other.set(0, 0, 0), POINTER_BYTES);
    root.setChild(0, node);
    this.root = { address: root.address, generation: root.generation };
    this.rootLevel = root.level;
  }
}
