import { hash } from 'node:crypto';
import { BlobWriter, OpenDrives, IndexWriter, StorageManager } from '@granary/storage/objects';
import { BUCKET, listedKey } from './target.ts';

/** What is to be filled: the request to a forked process. */
export interface Filling {
  readonly indexFile: string;
  readonly drives: readonly {
    readonly uuid: string;
    readonly folder: string;
    readonly node: string;
    readonly zone: string;
    readonly capacity: number;
    readonly policy: string | null;
  }[];
  readonly policy: string;
  readonly account: string;
  readonly count: number;
}

const IN_FLIGHT = 512;
/** Keys come in an order of their own, as they would from many clients: steps of a prime through all of them. */
const STEP = 611_953;
const BODY_BYTES = 16;

/**
 * Puts objects of 16 bytes into an array that is down: what a controller does for a PUT, without HTTP. Each body is
 * staged on the drives of two nodes and synced, each entry goes through the index's own commit.
 */
async function fill({ indexFile, drives: wanted, policy, account, count }: Filling): Promise<void> {
  const index = new IndexWriter(indexFile);
  const manager = await StorageManager.open({ index, workers: () => [], expansionPercent: () => 100 });
  const policies = [{ name: policy, copies: 2, dataFragments: 0, parityFragments: 0 }];
  await manager.follow({ drives: wanted, policies });
  const drives = new OpenDrives({
    nextSegment: (drive) => manager.nextSegment(drive),
    onDriveFailure: (drive, error) => {
      throw new Error(`drive ${drive}`, { cause: error });
    },
  });
  await drives.update(manager.layout());
  const writer = new BlobWriter({ layout: () => manager.layout(), drives });
  const bucket = index.reader.bucket(account, BUCKET);
  if (!bucket) throw new Error('There is no bucket to fill.');
  let next = 0;
  const work = async () => {
    while (next < count) {
      const key = listedKey((next++ * STEP) % count);
      const body = Buffer.from(key.padEnd(BODY_BYTES));
      const blobs = await writer.stage(bucket.policy, body, body.length);
      const etag = hash('md5', body);
      const content = { kind: 'staged', blobs } as const;
      const attributes = { contentType: 'text/plain' };
      const at = Date.now();
      await index.commit('putObject', {
        bucket: bucket.id,
        key,
        content,
        size: body.length,
        etag,
        owner: account,
        attributes,
        at,
      });
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, work));
  await drives.close();
  await manager.close();
  await index.close();
}

process.once('message', (filling: Filling) => {
  fill(filling).then(
    () => process.exit(0),
    (error: unknown) => {
      process.stderr.write(`${String(error)}\n`);
      process.exit(1);
    },
  );
});
