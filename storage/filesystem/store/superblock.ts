import { crc32 } from 'node:zlib';
import type { BlockDevice } from '../../block-device.ts';
import { BLOCK_BYTES } from '../../units.ts';
import { FsError } from '../errors.ts';
import { SUPERBLOCK_SLOTS } from './layout.ts';
import type { NodePlace } from './node.ts';

const MAGIC = 'GRANFILE';
const VERSION = 1;
const UUID_BYTES = 16;
const HASH_KEY_BYTES = 8;

/** The end of a checkpoint: the root of the tree, and the start of the journal that follows it. */
export interface Superblock {
  readonly uuid: Buffer;
  /** Secret: names are hashed with it, so that collisions cannot be constructed. */
  readonly hashKey: Buffer;
  /** Secret: the seed of checksums. */
  readonly seed: number;
  readonly generation: number;
  readonly totalBlocks: number;
  readonly allocatedBlocks: number;
  readonly pagesUsed: number;
  readonly inodes: number;
  readonly journalBlocks: number;
  /** The position in the ring of the first batch after the checkpoint, and its number. */
  readonly journalHead: number;
  readonly journalSequence: number;
  readonly root: NodePlace;
  readonly rootLevel: number;
}

export interface FoundSuperblock {
  readonly superblock: Superblock;
  readonly slot: number;
}

const NUMBERS = [
  'seed',
  'generation',
  'totalBlocks',
  'allocatedBlocks',
  'pagesUsed',
  'inodes',
  'journalBlocks',
  'journalHead',
  'journalSequence',
  'rootLevel',
] as const;
const UUID_AT = 16;
const HASH_KEY_AT = UUID_AT + UUID_BYTES;
const NUMBERS_AT = HASH_KEY_AT + HASH_KEY_BYTES;
const ROOT_AT = NUMBERS_AT + NUMBERS.length * 8;
/** All of it is in the first sector, which is written atomically. */
const USED_BYTES = ROOT_AT + 16;

/** Of any version, and whether it can be used or not. */
export async function hasSuperblock(device: BlockDevice): Promise<boolean> {
  const blocks = Buffer.alloc(SUPERBLOCK_SLOTS * BLOCK_BYTES);
  await device.read(0, blocks);
  return Array.from({ length: SUPERBLOCK_SLOTS }, (_, slot) => slot * BLOCK_BYTES).some(
    (at) => blocks.toString('latin1', at, at + MAGIC.length) === MAGIC,
  );
}

export async function readSuperblock(device: BlockDevice): Promise<FoundSuperblock> {
  const blocks = Buffer.alloc(SUPERBLOCK_SLOTS * BLOCK_BYTES);
  await device.read(0, blocks);
  let newest: FoundSuperblock | undefined;
  for (let slot = 0; slot < SUPERBLOCK_SLOTS; slot += 1) {
    const superblock = decode(blocks.subarray(slot * BLOCK_BYTES, (slot + 1) * BLOCK_BYTES));
    if (superblock === undefined) continue;
    if (newest === undefined || superblock.generation > newest.superblock.generation) newest = { superblock, slot };
  }
  if (newest === undefined) throw new FsError('EINVAL', 'There is no filesystem on the volume; format it first.');
  return newest;
}

export async function writeSuperblock(device: BlockDevice, superblock: Superblock, slot: number): Promise<void> {
  await device.write(slot * BLOCK_BYTES, encode(superblock));
}

/** Nothing remains that could be mistaken for a filesystem, until a new one is complete. */
export async function wipeSuperblocks(device: BlockDevice): Promise<void> {
  await device.write(0, Buffer.alloc(SUPERBLOCK_SLOTS * BLOCK_BYTES));
  await device.flush();
}

function encode(superblock: Superblock): Buffer {
  const block = Buffer.alloc(BLOCK_BYTES);
  block.write(MAGIC, 0, 'latin1');
  block.writeUInt32LE(VERSION, 8);
  superblock.uuid.copy(block, UUID_AT);
  superblock.hashKey.copy(block, HASH_KEY_AT);
  NUMBERS.forEach((name, index) => block.writeDoubleLE(superblock[name], NUMBERS_AT + index * 8));
  block.writeDoubleLE(superblock.root.address, ROOT_AT);
  block.writeDoubleLE(superblock.root.generation, ROOT_AT + 8);
  block.writeUInt32LE(sumOf(block), 12);
  return block;
}

function decode(block: Buffer): Superblock | undefined {
  if (block.toString('latin1', 0, MAGIC.length) !== MAGIC || block.readUInt32LE(12) !== sumOf(block)) return undefined;
  const version = block.readUInt32LE(8);
  if (version !== VERSION) {
    throw new FsError('EINVAL', `The filesystem has version ${version}; this software knows version ${VERSION}.`);
  }
  const numbers = NUMBERS.map((name, index) => [name, block.readDoubleLE(NUMBERS_AT + index * 8)] as const);
  return {
    ...(Object.fromEntries(numbers) as Record<(typeof NUMBERS)[number], number>),
    uuid: Buffer.from(block.subarray(UUID_AT, UUID_AT + UUID_BYTES)),
    hashKey: Buffer.from(block.subarray(HASH_KEY_AT, HASH_KEY_AT + HASH_KEY_BYTES)),
    root: { address: block.readDoubleLE(ROOT_AT), generation: block.readDoubleLE(ROOT_AT + 8) },
  };
}

function sumOf(block: Buffer): number {
  return crc32(block.subarray(16, USED_BYTES), crc32(block.subarray(0, 12)));
}
