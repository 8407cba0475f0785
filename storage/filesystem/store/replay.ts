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
  /** How many inodes there are more than at the checkpoint. */
  readonly inodes: number;
  /** What the blocks that the last batch names hold. They are not overwritten before another batch is durable. */
  readonly checks: DataCheck[];
}

/**
 * Applies what the journal holds to the tree of the last checkpoint. First all that blocks were taken and freed for:
 * the tree takes blocks for its nodes while the rest is applied, and must not take those that a later record names.
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
 * Finds the last batch that counts. The last one there is was perhaps not flushed: if blocks that it names do not hold
 * what they should, it was acknowledged to nobody, and does not count. Returns what the blocks of the last one hold.
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
