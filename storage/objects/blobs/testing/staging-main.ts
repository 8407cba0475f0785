import { BlobWriter } from '../blob-writer.ts';
import { OpenDrives } from '../../drives/drives.ts';
import type { Layout } from '../../layout/layout.ts';
import { bytesFrom } from '../../../kernels/testing/buffers.ts';

/** Stages blobs without end and prints each that was acknowledged. Killed by the test that started it. */
const { layout, policy } = JSON.parse(process.argv[2] ?? '') as { layout: Layout; policy: number };
const revived: Layout = {
  ...layout,
  rings: layout.rings.map((ring) => ({ ...ring, drives: Uint32Array.from(Object.values(ring.drives)) })),
};
let segments = 0;
const drives = new OpenDrives({
  nextSegment: () => Promise.resolve((segments += 1)),
  onDriveFailure: (_drive, error) => {
    throw error;
  },
});
await drives.update(revived);
const writer = new BlobWriter({ layout: () => revived, drives });

async function stageForever(worker: number): Promise<never> {
  for (let turn = 0; ; turn += 1) {
    const seed = worker * 100_000 + turn;
    const size = turn % 10 === 9 ? 1_300_000 + turn : 1 + ((turn * 997) % 30_000);
    const [record] = await writer.stage(policy, bytesFrom(seed, size));
    process.stdout.write(
      `${JSON.stringify({ seed, record: { ...record, id: Buffer.from(record!.id).toString('hex') } })}\n`,
    );
  }
}

await Promise.all(Array.from({ length: 8 }, (_, worker) => stageForever(worker)));
