import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it, mock } from 'node:test';
import threads from 'node:worker_threads';
import { allocate, checksumBlocks, release } from '../kernels/index.ts';
import { BLOCK_BYTES } from '../units.ts';
import { writeCopies } from './copies.ts';
import { FileDrive } from './file-drive.ts';

const MIB = 1024 * 1024;

it('goes on alone where the machine gives no further thread', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'granary-helper-missing-'));
  const refused = mock.method(threads, 'Worker', () => {
    throw new Error('no further thread');
  });
  syncBuiltinESMExports();
  try {
    const drives = await Promise.all(
      ['one', 'two'].map((id) => FileDrive.open({ id, path: join(folder, id), sizeBytes: 4 * MIB })),
    );
    const data = allocate(MIB);
    randomBytes(MIB).copy(data);
    const expected = new Uint32Array(MIB / BLOCK_BYTES);
    checksumBlocks(data, expected, 0);
    const holders = drives.map((drive) => ({ drive }));
    const sums = new Uint32Array(MIB / BLOCK_BYTES);
    await Promise.all(writeCopies(holders, MIB, data, sums, (_, done) => done) ?? []);
    assert.deepEqual(sums, expected);
    for (const drive of drives) {
      const read = allocate(MIB);
      sums.fill(0);
      await drive.large.readSummed(MIB, read, sums);
      assert.ok(read.equals(data));
      assert.deepEqual(sums, expected);
      release(read);
      await drive.close();
    }
    assert.equal(refused.mock.callCount(), 1);
  } finally {
    mock.restoreAll();
    syncBuiltinESMExports();
    await rm(folder, { recursive: true });
  }
});
