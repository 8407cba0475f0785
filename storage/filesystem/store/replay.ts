import { readRecords } from './batch.ts';
import type { Journal } from './journal.ts';
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

/**
 * Applies what the journal holds to the tree of the last checkpoint. First all that blocks were taken and freed for:
 * the tree takes blocks for its nodes while the rest is applied, and must not take those that a later record names.
 * Returns how many inodes there are more than at the checkpoint.
 */
export async function replay(journal: Journal, parts: Parts): Promise<number> {
  const { tree, space, pool, cache } = parts;
  const start = journal.position;
  for (let batch = await journal.readNext(); batch !== undefined; batch = await journal.readNext()) {
    await readRecords(batch, {
      take: (run) => untilLoaded(cache, () => space.replayTake(run)),
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
          tree.tidy(inode, kind, offset);
          if (wasThere) inodes -= 1;
        }),
    });
    cache.evict();
  }
  return inodes;
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
