import type { FilesystemCommits } from './filesystem-commits.ts';
import { type DataCheck, overlapsAny } from './data-checks.ts';
import { KIND } from './layout.ts';
import type { Run } from './space-map-page.ts';
import { MISS } from './miss.ts';
import type { NodePool } from './node-pool.ts';
import type { Space } from './space.ts';
import type { FoundItem, Tree } from './tree.ts';

/** Reads of the metadata. */
export interface Reader {
  get(inode: number, kind: number, offset: number): Buffer | undefined;
  floor(inode: number, kind: number, offset: number): FoundItem | undefined;
  scan(inode: number, kind: number, from: number, visit: (offset: number, value: Buffer) => boolean): void;
}

/**
 * The changes of one operation. They are applied at once, and recorded for the journal; if the operation is refused or
 * misses a node, they are undone in reverse order.
 */
export class Transaction implements Reader {
  readonly #tree: Tree;
  readonly #space: Space;
  readonly #pool: NodePool;
  readonly #commits: FilesystemCommits;
  readonly #undo: (() => void)[] = [];
  readonly #thinned: [number, number, number][] = [];
  #batchLength = 0;
  #retiredCount = 0;
  #namesData = false;
  #checkCount = 0;
  inodes: number;

  constructor(parts: { tree: Tree; space: Space; pool: NodePool; commits: FilesystemCommits }, inodes: number) {
    this.#tree = parts.tree;
    this.#space = parts.space;
    this.#pool = parts.pool;
    this.#commits = parts.commits;
    this.inodes = inodes;
  }

  get(inode: number, kind: number, offset: number): Buffer | undefined {
    return this.#tree.get(inode, kind, offset);
  }

  floor(inode: number, kind: number, offset: number): FoundItem | undefined {
    return this.#tree.floor(inode, kind, offset);
  }

  scan(inode: number, kind: number, from: number, visit: (offset: number, value: Buffer) => boolean): void {
    this.#tree.scan(inode, kind, from, visit);
  }

  put(inode: number, kind: number, offset: number, value: Buffer): void {
    this.#pool.ensure();
    const before = this.#copyOf(inode, kind, offset);
    this.#tree.put(inode, kind, offset, value);
    if (kind === KIND.attributes && before === undefined) this.inodes += 1;
    this.#undo.push(() => this.#restore(inode, kind, offset, before));
    this.#commits.open.put(inode, kind, offset, value);
  }

  delete(inode: number, kind: number, offset: number): void {
    const before = this.#copyOf(inode, kind, offset);
    if (before === undefined) return;
    this.#pool.ensure();
    this.#tree.delete(inode, kind, offset);
    if (kind === KIND.attributes) this.inodes -= 1;
    this.#undo.push(() => this.#restore(inode, kind, offset, before));
    this.#thinned.push([inode, kind, offset]);
    this.#commits.open.delete(inode, kind, offset);
  }

  /** Allocates reserved blocks to what the operation puts; with `hasData` their contents are written already. */
  claim(run: Run, hasData: boolean): void {
    this.#space.claim(run);
    this.#undo.push(() => this.#space.unclaim(run));
    const { open } = this.#commits;
    open.allocate(run);
    open.namesData ||= hasData;
  }

  free(start: number, count: number): void {
    const run = { start, count };
    this.#space.retire(run);
    this.#undo.push(() => this.#space.unretire(run));
    const { open } = this.#commits;
    open.free(run);
    // The blocks are reused as soon as this batch is durable, and it could be the last one for a while.
    if (overlapsAny(open.checks, start, count)) open.namesData = true;
    open.retired.push(run);
  }

  /** The checksum of blocks that the operation claims. Without one, they have to be claimed as having data. */
  check(check: DataCheck): void {
    this.#commits.open.check(check);
  }

  /** Blocks that were reserved before have other contents now, which the records refer to. */
  namesData(): void {
    this.#commits.open.namesData = true;
  }

  begin(): void {
    const { open } = this.#commits;
    this.#batchLength = open.length;
    this.#retiredCount = open.retired.length;
    this.#namesData = open.namesData;
    this.#checkCount = open.checks.length;
    this.#undo.length = 0;
    this.#thinned.length = 0;
  }

  finish(): void {
    try {
      for (const [inode, kind, offset] of this.#thinned) this.#tree.mergeThin(inode, kind, offset);
    } catch (error) {
      // Thin nodes may stay.
      if (error !== MISS) throw error;
    }
  }

  rollback(): void {
    for (let undo = this.#undo.pop(); undo !== undefined; undo = this.#undo.pop()) undo();
    const { open } = this.#commits;
    open.length = this.#batchLength;
    open.retired.length = this.#retiredCount;
    open.namesData = this.#namesData;
    open.checks.length = this.#checkCount;
  }

  #copyOf(inode: number, kind: number, offset: number): Buffer | undefined {
    const value = this.#tree.get(inode, kind, offset);
    return value && Buffer.from(value);
  }

  /** Needs no new node: the leaf was just changed, and the restored item fitted before. */
  #restore(inode: number, kind: number, offset: number, before: Buffer | undefined): void {
    const wasThere = this.#tree.get(inode, kind, offset) !== undefined;
    if (before === undefined) this.#tree.delete(inode, kind, offset);
    else this.#tree.put(inode, kind, offset, before);
    if (kind === KIND.attributes) this.inodes += (before === undefined ? 0 : 1) - (wasThere ? 1 : 0);
  }
}
