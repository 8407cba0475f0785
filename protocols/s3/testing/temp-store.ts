import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  BlobReader,
  BlobWriter,
  OpenDrives,
  formatDrive,
  IndexWriter,
  LocalObjectStore,
  stagingCommit,
  type Layout,
  type LayoutDrive,
  type ObjectStore,
  type PolicyLayout,
  type Ring,
} from '@granary/storage/objects';

const PARTITIONS = 16;
const ALONG_BYTES_MAX = 4096;

/** A real store in a folder of its own: index, drives and blobs, everything in this thread. */
export interface TempStore {
  readonly store: ObjectStore;
  close(): Promise<void>;
}

/** Two policies on three drives each: `two-copies` and `three-copies`. */
export async function tempStore(options: { readonly encrypted?: boolean } = {}): Promise<TempStore> {
  const folder = await mkdtemp(join(tmpdir(), 'granary-s3-'));
  const drives = await Promise.all([1, 2, 3, 4, 5, 6].map((number) => newDrive(folder, number)));
  const layout: Layout = {
    version: 1,
    drives,
    rings: [ringOf(0, 'two-copies', 2, [1, 2, 3]), ringOf(1, 'three-copies', 3, [4, 5, 6])],
    defaultPolicy: 0,
    encryption: options.encrypted
      ? { writeKey: 1, keys: [{ number: 1, key: new Uint8Array(32).fill(7) }] }
      : { writeKey: 0, serviceKey: 2, keys: [{ number: 2, key: new Uint8Array(32).fill(9) }] },
  };
  const index = new IndexWriter(join(folder, 'index.db'));
  let segment = 0;
  const open = new OpenDrives({
    nextSegment: () => Promise.resolve(++segment),
    onDriveFailure: (drive, error) => console.error(drive, error),
  });
  await open.update(layout);
  index.useLayout(layout);
  const writer = new BlobWriter({ layout: () => layout, drives: open });
  const store = new LocalObjectStore({
    layout: () => layout,
    // As a controller has it: the smallest bodies come along with their commit.
    commit: stagingCommit(index, (policy, bytes, how) => writer.stage(policy, bytes, bytes.length, how)),
    alongBytesMax: ALONG_BYTES_MAX,
    reader: index.reader,
    writer,
    blobs: new BlobReader({ layout: () => layout, drives: open, onDamage: () => undefined }),
  });
  return {
    store,
    async close() {
      await open.close();
      await index.close();
      await rm(folder, { recursive: true });
    },
  };
}

async function newDrive(folder: string, number: number): Promise<LayoutDrive> {
  const uuid = randomUUID();
  const place = join(folder, `drive-${number}`);
  await formatDrive(place, { uuid, number });
  const policy = number <= 3 ? 0 : 1;
  const [node, zone] = [`node-${number}`, 'zone'];
  return { number, uuid, folder: place, node, zone, capacity: 2 ** 40, policy, state: 'normal' };
}

function ringOf(index: number, name: string, copies: number, numbers: readonly number[]): Ring {
  const policy: PolicyLayout = { index, name, copies, dataFragments: 0, parityFragments: 0 };
  const drives = new Uint32Array(PARTITIONS * copies);
  for (let at = 0; at < drives.length; at++) {
    drives[at] = numbers[(Math.floor(at / copies) + (at % copies)) % numbers.length]!;
  }
  return { policy, version: 1, partitions: PARTITIONS, slots: copies, drives };
}
