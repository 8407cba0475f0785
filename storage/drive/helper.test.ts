import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { allocate, checksumBlocks, release } from '../kernels/index.ts';
import { BLOCK_BYTES } from '../units.ts';
import { FileDrive } from './file-drive.ts';

const KIB = 1024;
const DRIVE_BYTES = 8 * 1024 * KIB;
const SIZES = [20, 64, 132, 512, 1000, 1024].map((kib) => kib * KIB);

/** Large requests are shared with another thread, wholly or by halves, as they come alone or not. */
describe('a drive and its helper', () => {
  let folder: string;
  before(async () => (folder = await mkdtemp(join(tmpdir(), 'granary-helper-'))));
  after(() => rm(folder, { recursive: true }));

  const open = (id: string) => FileDrive.open({ id, path: join(folder, id), sizeBytes: DRIVE_BYTES });
  const sumsOf = (bytes: Buffer): Uint32Array => {
    const sums = new Uint32Array(bytes.length / BLOCK_BYTES);
    checksumBlocks(bytes, sums, 0);
    return sums;
  };

  const writeAndCheck = async (drive: FileDrive, offset: number, bytes: number): Promise<void> => {
    const data = allocate(bytes);
    randomBytes(bytes).copy(data);
    const [written, read] = [new Uint32Array(bytes / BLOCK_BYTES), new Uint32Array(bytes / BLOCK_BYTES)];
    await drive.writeSummed(offset, data, written);
    const into = allocate(bytes).fill(0xee);
    await drive.readSummed(offset, into, read);
    assert.ok(into.equals(data), `${bytes} bytes at ${offset}`);
    assert.deepEqual(written, sumsOf(data));
    assert.deepEqual(read, sumsOf(data));
    release(data);
    release(into);
  };

  for (const bytes of SIZES) {
    it(`writes, reads and sums ${bytes / KIB} KiB, one after the other and at once`, async () => {
      const drive = await open(`of-${bytes}`);
      // More than are left alone after one that came alone.
      for (let turn = 0; turn < 80; turn += 1) await writeAndCheck(drive, (turn % 7) * 1024 * KIB, bytes);
      for (let turn = 0; turn < 20; turn += 1) {
        await Promise.all([0, 1, 2, 3, 4, 5, 6].map((place) => writeAndCheck(drive, place * 1024 * KIB, bytes)));
      }
      const { reads, writes } = drive.statistics();
      assert.deepEqual([reads.count, writes.count], [220, 220]);
      assert.equal(reads.bytes, 220 * bytes);
      await drive.close();
    });
  }

  it('says that the drive failed when either of them cannot read', async () => {
    const drive = await open('shortened');
    const [into, sums] = [allocate(1024 * KIB), new Uint32Array(256)];
    // Once for each way: wholly by the other thread, and by halves.
    for (let turn = 0; turn < 40; turn += 1) await drive.readSummed(0, into, sums);
    for (const left of [256, 768]) {
      await truncate(drive.path, left * KIB);
      for (let turn = 0; turn < 40; turn += 1) {
        await assert.rejects(async () => drive.readSummed(0, into, sums), { code: 'drive-failed' });
      }
    }
    await drive.close();
    release(into);
  });

  it('does not close its file while the helper is at it', async () => {
    const drive = await open('closed');
    const data = allocate(1024 * KIB).fill(7);
    const sums = new Uint32Array(256);
    const writing = drive.writeSummed(0, data, sums);
    await Promise.all([writing, drive.close()]);
    assert.deepEqual(sums, sumsOf(data));
    release(data);
  });
});
