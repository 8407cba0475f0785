import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { FileDrive } from '../drive/file-drive.ts';
import { BLOCK_BYTES } from '../units.ts';
import { RaidGroup } from './raid-group.ts';

const WRITER = fileURLToPath(new URL('./testing/crash-writer.ts', import.meta.url));

describe('a process that is killed while it writes', () => {
  let folder = '';
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'granary-crash-'));
  });
  after(() => rm(folder, { recursive: true }));

  for (const [level, members] of [
    ['RAID1', 2],
    ['RAID6', 5],
  ] as const) {
    it(`leaves everything it flushed, and a ${level} group in line`, async () => {
      const openDrives = () =>
        Promise.all(
          Array.from({ length: members }, (_, index) =>
            FileDrive.open({ id: `drive-${index}`, path: join(folder, String(index)), sizeBytes: 16 * 1024 * 1024 }),
          ),
        );
      const made = await RaidGroup.create({ id: level, level, members: await openDrives() });
      await made.close();
      for (let kill = 0; kill < 3; kill += 1) {
        const child = fork(WRITER, [folder, String(members)]);
        let flushed = 0;
        child.on('message', (round) => (flushed = Number(round)));
        while (flushed < 5) await once(child, 'message');
        child.kill('SIGKILL');
        await once(child, 'exit');
        const group = await RaidGroup.open({ drives: await openDrives() });
        const block = Buffer.alloc(BLOCK_BYTES);
        for (let index = 0; index < 64; index += 1) {
          await group.read(index * 37 * BLOCK_BYTES, block);
          assert.ok(block.readUInt32LE(0) >= flushed);
        }
        await group.rebuilt();
        assert.deepEqual(await group.verify(), []);
        await group.close();
      }
    });
  }
});
