import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, truncateSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { Random } from '../../../testing/random.ts';
import { skipWithout } from '../testing/packages.ts';
import { unexcusedFailures } from './excused.ts';
import { runSuite } from './run-suite.ts';
import { startVolume, UNIT_BYTES } from './targets.ts';

const run = promisify(execFile);
const COMMAND = { timeout: 600_000 };

test(
  'no test of libiscsi’s ALL family fails',
  { skip: await skipWithout('libiscsi-bin'), timeout: 600_000 },
  async () => {
    const target = await startVolume();
    try {
      const outcomes = await runSuite({ url: target.url });
      assert.ok(outcomes.length >= 200, `only ${outcomes.length} tests ran`);
      assert.deepEqual(unexcusedFailures(outcomes), []);
    } finally {
      await target.stop();
    }
  },
);

test(
  'the one test with an excuse passes where a physical block is a sector, as it takes for granted',
  { skip: await skipWithout('libiscsi-bin'), timeout: 600_000 },
  async () => {
    const target = await startVolume({ physicalBlockBytes: 512 });
    try {
      const outcomes = await runSuite({ url: target.url, only: (suite) => suite === 'GetLBAStatus' });
      assert.deepEqual(
        outcomes.filter(({ result }) => result !== 'passed'),
        [],
      );
    } finally {
      await target.stop();
    }
  },
);

test(
  'a disk image that qemu-img writes to a unit comes back the same',
  { skip: await skipWithout('qemu-utils', 'qemu-block-extra'), timeout: 600_000 },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'granary-qemu-'));
    const target = await startVolume();
    try {
      const image = join(folder, 'image.raw');
      const back = join(folder, 'back.raw');
      makeImage(image, UNIT_BYTES);
      const raw = ['-f', 'raw', '-O', 'raw'];
      await run('qemu-img', ['convert', '-n', ...raw, image, target.url], COMMAND);
      await run('qemu-img', ['compare', '-f', 'raw', '-F', 'raw', image, target.url], COMMAND);
      await run('qemu-img', ['convert', ...raw, target.url, back], COMMAND);
      assert.ok(readFileSync(image).equals(readFileSync(back)));
    } finally {
      await target.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  },
);

/** A sparse disk with data in places of all sizes. */
function makeImage(file: string, sizeBytes: number): void {
  const random = new Random(42);
  const data = Buffer.alloc(2 * 1024 * 1024);
  for (let at = 0; at < data.length; at += 4) data.writeUInt32LE(random.below(2 ** 32), at);
  const descriptor = openSync(file, 'w');
  truncateSync(file, sizeBytes);
  for (let piece = 0; piece < 60; piece += 1) {
    const length = random.size(data.length / 512) * 512;
    writeSync(descriptor, data, 0, length, random.below((sizeBytes - length) / 512) * 512);
  }
  closeSync(descriptor);
}
