import type { BlockDevice } from '../../block-device.ts';
import { readRecords } from './batch.ts';
import { type DataCheck, holds } from './data-checks.ts';
import type { FilesystemJournal } from './filesystem-journal.ts';
import { KIND } from './layout.ts';
import { MISS } from './miss.ts';
import type { NodeCache } from './node-cache.ts';
import type { NodePool } from './node-pool.ts';
import type { Space } from './space.ts';
import type { Tree } from './tree.ts';

interface Parts {
  readonly tree: Tree;
  readonly space: Space;
  readonly pool: NodePool;
  readonly cache: NodeCache;
}

export interface Replayed {
  /** The change of the number of inodes since the checkpoint. */
  readonly inodes: number;
  /** The checks of the last batch. Its blocks are not overwritten before another batch is durable. */
  readonly checks: DataCheck[];
}

/**
 * Applies the journal to the tree of the last checkpoint. First all allocations and frees of blocks: the tree allocates
 * blocks for its nodes while the rest is applied, and must not use those that a later record refers to.
 */
export async function replay(journal: FilesystemJournal, device: BlockDevice, parts: Parts): Promise<Replayed> {
  const { tree, space, pool, cache } = parts;
  const start = journal.position;
  const checks = await findEnd(journal, device);
  journal.rewind(start);
  for (let batch = await journal.readNext(); batch !== undefined; batch = await journal.readNext()) {
    await readRecords(batch, {
      allocate: (run) => untilLoaded(cache, () => space.replayAllocate(run)),
      free: (run) => untilLoaded(cache, () => space.replayFree(run)),
    });
  }
  let inodes = 0;
  journal.rewind(start);
  for (let batch = await journal.readNext(); batch !== undefined; batch = await journal.readNext()) {
    await readRecords(batch, {
      put: (key, value) =>
        untilLoaded(cache, () => {
          pool.ensure();
          const { inode, kind, offset } = key;
          const isNew = kind === KIND.attributes && tree.get(inode, kind, offset) === undefined;
          tree.put(inode, kind, offset, value);
          if (isNew) inodes += 1;
        }),
      delete: (key) =>
        untilLoaded(cache, () => {
          pool.ensure();
          const { inode, kind, offset } = key;
          const wasThere = kind === KIND.attributes && tree.get(inode, kind, offset) !== undefined;
          tree.delete(inode, kind, offset);
          tree.mergeThin(inode, kind, offset);
          if (wasThere) inodes -= 1;
        }),
    });
    cache.evict();
  }
  return { inodes, checks };
}

/**
 * Finds the last valid batch. The last one written may not have been flushed: if its blocks do not match their
 * checksums, it was not acknowledged, and is invalid. Returns the checks of the last valid one.
 */
async function findEnd(journal: FilesystemJournal, device: BlockDevice): Promise<DataCheck[]> {
  let before: Buffer | undefined;
  let last: Buffer | undefined;
  for (let batch = await journal.readNext(); batch !== undefined; batch = await journal.readNext()) {
    before = last;
    last = batch;
  }
  const checks = await checksOf(last);
  for (const check of checks) {
    if (await holds(device, check)) continue;
    journal.endAt(journal.position.sequence - 1);
    return checksOf(before);
  }
  return checks;
}

async function checksOf(batch: Buffer | undefined): Promise<DataCheck[]> {
  const checks: DataCheck[] = [];
  if (batch !== undefined) await readRecords(batch, { check: (check) => void checks.push(check) });
  return checks;
}

function untilLoaded(cache: NodeCache, work: () => void): Promise<void> | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    if (error !== MISS) throw error;
    return cache.whenLoaded().then(() => untilLoaded(cache, work));
  }
}
