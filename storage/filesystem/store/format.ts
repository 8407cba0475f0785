import { randomBytes } from 'node:crypto';
import type { BlockDevice } from '../../block-device.ts';
import { BLOCK_BYTES } from '../../units.ts';
import { FsError } from '../errors.ts';
import { JOURNAL_START, NODE_BLOCKS, NODE_BYTES } from './layout.ts';
import { TreeNode } from './node.ts';
import { ownerOf, FilesystemStore } from './filesystem-store.ts';
import { type Superblock, wipeSuperblocks, writeSuperblock } from './superblock.ts';

const MIB = 1024 * 1024;
const SIZE_MIN = 4 * MIB;
const JOURNAL_BLOCKS_MIN = 64;
const JOURNAL_BLOCKS_MAX = (64 * MIB) / BLOCK_BYTES;

export interface FormatOptions {
  /** Of the journal; the default is a share of the device. */
  readonly journalBytes?: number;
}

/** Creates an empty store. The previous contents of the device are lost. */
export async function formatStore(device: BlockDevice, options: FormatOptions = {}): Promise<void> {
  if (device.sizeBytes < SIZE_MIN) {
    throw new FsError('EINVAL', `A filesystem needs ${SIZE_MIN} bytes at least; grow the volume first.`);
  }
  const totalBlocks = Math.floor(device.sizeBytes / BLOCK_BYTES);
  const wished = Math.floor((options.journalBytes ?? device.sizeBytes / 64) / BLOCK_BYTES);
  const journalBlocks = Math.min(Math.max(wished, JOURNAL_BLOCKS_MIN), JOURNAL_BLOCKS_MAX, totalBlocks / 4);
  await wipeSuperblocks(device);
  await device.discard(0, totalBlocks * BLOCK_BYTES);
  const superblock = firstSuperblock(totalBlocks, Math.floor(journalBlocks));
  await writeRoot(device, superblock);
  await device.flush();
  await writeSuperblock(device, superblock, 0);
  await device.flush();
  const store = await FilesystemStore.open(device);
  // The map of the blocks that the root, the journal and the superblocks occupy.
  await store.read(() => store.space.replayAllocate({ start: 0, count: superblock.root.address + NODE_BLOCKS }));
  await store.close();
}

function firstSuperblock(totalBlocks: number, journalBlocks: number): Superblock {
  return {
    uuid: randomBytes(16),
    hashKey: randomBytes(8),
    seed: randomBytes(4).readUInt32LE(0),
    generation: 1,
    totalBlocks,
    allocatedBlocks: 0,
    pagesUsed: 0,
    inodes: 0,
    journalBlocks,
    journalHead: 0,
    journalSequence: 1,
    root: { address: JOURNAL_START + journalBlocks, generation: 1 },
    rootLevel: 0,
  };
}

async function writeRoot(device: BlockDevice, { root, uuid, seed }: Superblock): Promise<void> {
  const node = new TreeNode(root, Buffer.allocUnsafeSlow(NODE_BYTES));
  node.init(0);
  node.seal(ownerOf(uuid), seed);
  await device.write(root.address * BLOCK_BYTES, node.bytes);
}
