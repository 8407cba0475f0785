import type { IndexCommit } from './index/index-operations.ts';
import type { IndexWriter } from './index/writer.ts';
import type { StageOptions } from './object-store.ts';
import type { StagedBlob } from './records.ts';

type Stage = (policy: number, bytes: Uint8Array, options: StageOptions) => Promise<StagedBlob[]>;

/**
 * A commit that first puts bytes which come along on the drives. Where many threads have small bodies, one of them does
 * this for all: what would be a durable write to each drive for each of them is one for all that wait.
 */
export function stagingCommit(index: Pick<IndexWriter, 'commit'>, stage: Stage): IndexCommit {
  return async (operation, args) => {
    if (!('content' in args) || args.content.kind !== 'bytes') return index.commit(operation, args);
    const { policy, bytes, encrypt = false } = args.content;
    const blobs = await stage(policy, bytes, { encrypt });
    return index.commit(operation, { ...args, content: { kind: 'staged', blobs } });
  };
}
