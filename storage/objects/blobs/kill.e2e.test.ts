import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { bytesFrom } from '../../kernels/testing/buffers.ts';
import type { BlobRecord } from '../records.ts';
import { BlobScene, copies, fragments } from './testing/blob-scene.ts';

const program = fileURLToPath(new URL('testing/staging-main.ts', import.meta.url));

interface Acknowledged {
  readonly seed: number;
  readonly record: BlobRecord;
}

/** What a child had acknowledged when it was killed. */
async function stageUntilKilled(scene: BlobScene, afterMs: number): Promise<Acknowledged[]> {
  const argument = JSON.stringify({ layout: scene.layout, policy: scene.policy.index });
  const child = spawn(process.execPath, [program, argument], { stdio: ['ignore', 'pipe', 'inherit'] });
  const output: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
  await once(child.stdout, 'data');
  await sleep(afterMs);
  child.kill('SIGKILL');
  await once(child, 'close');
  const lines = Buffer.concat(output).toString().split('\n').slice(0, -1);
  return lines.map((line) => {
    const { seed, record } = JSON.parse(line) as { seed: number; record: BlobRecord & { id: string } };
    return { seed, record: { ...record, id: Uint8Array.from(Buffer.from(record.id, 'hex')) } };
  });
}

for (const policy of [copies(2), fragments(4, 2)]) {
  test(`${policy.name}: after kill -9 every acknowledged blob is there, every piece of it, and segments walk clean`, async () => {
    for (const afterMs of [150, 400]) {
      const scene = await BlobScene.open({ policy });
      try {
        await scene.drives.update({ ...scene.layout, drives: [] });
        const acknowledged = await stageUntilKilled(scene, afterMs);
        await scene.drives.update(scene.layout);
        assert.ok(acknowledged.length > 0);
        for (const { seed, record } of acknowledged) {
          const body = bytesFrom(seed, record.size);
          assert.equal(Buffer.compare(await scene.reader.readWhole(record, policy), body), 0);
          for (const slot of record.places.keys()) assert.ok(await scene.builder.isGood(record, slot));
        }
        await assertWalks(scene, acknowledged);
        assert.deepEqual(scene.damages, []);
      } finally {
        await scene.close();
      }
    }
  });
}

async function assertWalks(scene: BlobScene, acknowledged: readonly Acknowledged[]): Promise<void> {
  const found = new Set<string>();
  for (const { number } of scene.layout.drives) {
    const folder = scene.drives.get(number)!;
    for (const segment of await folder.segments()) {
      for await (const { place } of folder.walk(segment.number)) found.add(JSON.stringify(place));
    }
  }
  for (const { record } of acknowledged) {
    for (const place of record.places) assert.ok(found.has(JSON.stringify(place)), 'a walk misses a piece');
  }
}
