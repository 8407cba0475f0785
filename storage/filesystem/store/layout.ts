import { BLOCK_BYTES } from '../../units.ts';

/**
 * What a filesystem looks like on its device, in blocks of 4096 bytes:
 *
 *     superblock 0 │ superblock 1 │ journal (a ring) │ tree nodes and file data, in any free blocks …
 *
 * All metadata are items of one ordered tree, with keys (inode, kind, offset). Nodes of the tree are never written over:
 * a *checkpoint* writes the nodes that changed to free places and then a superblock that names the new root. Between two
 * checkpoints the changes are in the journal, as *records*: put this item, delete that one, these blocks are allocated, those
 * are free. A *commit* appends the records of all concurrent operations as one batch.
 *
 * After a crash the newest valid superblock names a tree that is whole, because no node of it was touched since, and the
 * journal has everything acknowledged after it: the records are applied in order to exactly the tree they were made for.
 * So nothing depends on how far an interrupted checkpoint came. Example: the power fails while the nodes of checkpoint 8
 * are being written. Superblock 7 is the newest; its nodes are untouched, since blocks they occupy become free only when
 * superblock 8 is durable; the blocks that checkpoint 8 has written are free in its space map, and stay unused until
 * something is put there. The journal still begins where checkpoint 7 ended.
 *
 * The allocated blocks are a bitmap in items of the tree. Blocks that an operation frees are reused only when
 * its commit is durable; blocks of replaced nodes only when the next checkpoint is.
 *
 * A batch of the journal, and what a crash leaves of it:
 *
 *     ring of the journal        tail (last checkpoint)            head
 *     ───────────────────────────┬───────────┬───────────┬─────────┬──────────────── old batches, wrong numbers
 *                                │ batch 31  │ batch 32  │ batch 33│
 *                                └───────────┴───────────┴─────────┴────────────────
 *     batch: magic │ checksum │ owner │ number │ length │ records: put, delete, allocate blocks, free blocks, check data
 *
 * 1. A client creates `a` and writes 4 KiB to it; another removes `b`. The data of `a` go to free block 900. Their records are
 *    one batch, 33: allocate 900, put the inode, its name and its extent, *check* that 900 has this checksum; delete the name
 *    of `b`, free block 500.
 * 2. Batch and data are made durable by one flush. Power fails in it: the batch is torn (its checksum fails), or whole
 *    without the data (the check fails). Either way 32 is the last valid batch, and neither was acknowledged. `b` is
 *    there, with its data, because 500 is not reused before 33 is durable.
 * 3. The flush has ended: both are acknowledged. Power fails: replay finds 33, applies allocations and frees of all batches
 *    first, so that the tree puts no node into a block that a record refers to, then puts and deletes.
 * 4. 500 may be reused now. Block 900 is not overwritten before batch 34 is durable, because 33 would be invalid then.
 *
 * Invariants:
 * - A batch is written only when the one before it is durable. So the first one that is not valid is the end.
 * - No block that the newest durable superblock or a durable batch after it names is overwritten, except data of a file in
 *   place, and never data that the last batch checks.
 * - A block is free, held or allocated; it goes from allocated to free only through held.
 * - Generations of superblocks grow, each written to the slot that does not hold the newest durable one.
 *
 * Numbers are little-endian, as on every processor this runs on.
 */
export const NODE_BYTES = 8192;
export const NODE_BLOCKS = NODE_BYTES / BLOCK_BYTES;

export const SUPERBLOCK_SLOTS = 2;
export const JOURNAL_START = SUPERBLOCK_SLOTS;

/** Blocks in one item of the space map. */
export const MAP_PAGE_BLOCKS = 8192;
export const MAP_PAGE_BYTES = MAP_PAGE_BLOCKS / 8;

/** At least four items of the largest size fit into a node. */
export const VALUE_BYTES_MAX = 1984;

/** Inode numbers, block numbers and offsets are integers that a double holds exactly. */
export const NUMBER_MAX = Number.MAX_SAFE_INTEGER;

/** Items of inode 0 belong to the filesystem itself. */
export const OWN_INODE = 0;
export const ROOT_INODE = 2;
export const FIRST_INODE = 16;

/** The kinds of items. Their order is the order on disk: the items of an inode follow its attributes. */
export const KIND = {
  attributes: 1,
  /** Contents of a small file, target of a symbolic link; the offset numbers the pieces. */
  data: 2,
  /** Extended attributes, by hash of the name. */
  xattr: 3,
  /** Names in a directory, by hash. */
  entry: 4,
  /** Extents of a file, by the first block. */
  extent: 5,
  /** The locations of the second and further names of a file. */
  link: 6,
  /** The location of the contents of an archived file. */
  archive: 7,
  /** Of inode 0. A page of the space map. */
  spaceMap: 16,
  /** Of inode 0. The inode numbers below are used. */
  inodeCeiling: 17,
  /** Of inode 0, by inode: unlinked, to be removed when it is closed. */
  orphan: 18,
  /** Of inode 0, by inode: extents from a certain block on are to be freed. */
  truncation: 19,
  /** Of inode 0, by id: usage and limits. */
  userQuota: 20,
  groupQuota: 21,
  projectQuota: 22,
  /** Of inode 0. The quotas that are enforced. */
  quotaState: 23,
} as const;
