import assert from 'node:assert/strict';
import { mkdtemp, rm, stat, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { StorageError } from '../errors.ts';
import { HelperJob } from './helper-job.ts';
import { FileDrive } from './file-drive.ts';
import { shred } from './shred.ts';

const MEBIBYTE = 1024 * 1024;

describe('a drive in a file', () => {
  let folder = '';
  let made = 0;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'granary-drive-'));
  });
  after(() => rm(folder, { recursive: true }));

  async function newDrive(sizeBytes = 4 * MEBIBYTE): Promise<FileDrive> {
    made += 1;
    return FileDrive.open({ id: `drive-${made}`, path: join(folder, String(made)), sizeBytes });
  }

  it('is sparse: it takes no room before it is written', async () => {
    const drive = await newDrive(64 * MEBIBYTE);
    const { size, blocks } = await stat(drive.path);
    assert.equal(size, 64 * MEBIBYTE);
    assert.ok(blocks * 512 < MEBIBYTE);
    await drive.close();
  });

  it('reads back what was written, small and large, also after it was opened again', async () => {
    const drive = await newDrive();
    const small = Buffer.alloc(4096, 7);
    const large = Buffer.alloc(MEBIBYTE, 9);
    await drive.write(8192, small);
    await drive.write(MEBIBYTE, large);
    await drive.flush();
    await drive.close();
    const again = await FileDrive.open({ id: drive.id, path: drive.path });
    assert.equal(again.sizeBytes, 4 * MEBIBYTE);
    const read = Buffer.alloc(MEBIBYTE);
    await again.read(MEBIBYTE, read);
    assert.ok(read.equals(large));
    await again.read(8192, read.subarray(0, 4096));
    assert.ok(read.subarray(0, 4096).equals(small));
    await again.close();
  });

  it('does small requests on the spot while the machine answers from memory', async () => {
    const drive = await newDrive();
    const block = Buffer.alloc(4096, 1);
    let atOnce = 0;
    // After moments in which the machine stands still, which look like a slow disk, it takes longer to come to that.
    for (let index = 0; index < 5000 && atOnce <= 50; index += 1) {
      const done = drive.write((index % 64) * 4096, block);
      if (done === undefined) atOnce += 1;
      await done;
    }
    assert.ok(atOnce > 50, `${atOnce} at once`);
    await drive.close();
  });

  it('syncs its file only when something may have changed since', async () => {
    const drive = await newDrive();
    const synced = async () => {
      const before = drive.statistics().flushes.count;
      await drive.flush();
      return drive.statistics().flushes.count > before;
    };
    assert.ok(await synced(), 'what was written before it was opened');
    assert.ok(!(await synced()));
    await drive.write(0, Buffer.alloc(4096));
    assert.ok(await synced());
    await drive.writeDurably(0, Buffer.alloc(4096));
    assert.ok(await synced());
    await drive.discard(drive.sizeBytes - 4096, 4096);
    assert.ok(await synced());
    assert.ok(!(await synced()));
    await drive.close();
  });

  it('does not take a write that was under way during a flush for covered by it', async () => {
    const drive = await newDrive();
    drive.begin('writes');
    await drive.flush();
    drive.end('writes', new HelperJob(0, 1, Buffer.alloc(4096), new Uint32Array(1), new Uint32Array(1)));
    const before = drive.statistics().flushes.count;
    await drive.flush();
    assert.equal(drive.statistics().flushes.count, before + 1);
    await drive.close();
  });

  it('counts and times what it does', async () => {
    const drive = await newDrive();
    await drive.write(0, Buffer.alloc(4096));
    await drive.write(0, Buffer.alloc(65536));
    await drive.read(0, Buffer.alloc(8192));
    await drive.flush();
    await drive.discard(4096, 4096);
    const { reads, writes, flushes, discards } = drive.statistics();
    assert.deepEqual([writes.count, writes.bytes], [2, 69632]);
    assert.deepEqual([reads.count, reads.bytes], [1, 8192]);
    assert.deepEqual([flushes.count, discards.count, discards.bytes], [1, 1, 4096]);
    assert.ok(writes.microseconds > 0 && writes.microsecondsMax <= writes.microseconds);
    await drive.close();
  });

  it('refuses what is beyond its end', async () => {
    const drive = await newDrive();
    assert.throws(() => drive.read(4 * MEBIBYTE, Buffer.alloc(4096)), { code: 'invalid' });
    assert.throws(() => drive.write(-4096, Buffer.alloc(4096)), { code: 'invalid' });
    await drive.close();
  });

  it('says that it failed when the file has lost its end', async () => {
    const drive = await newDrive();
    await truncate(drive.path, 4096);
    assert.throws(() => drive.read(MEBIBYTE, Buffer.alloc(4096)), { code: 'drive-failed' });
    await assert.rejects(async () => drive.read(MEBIBYTE, Buffer.alloc(65536)), { code: 'drive-failed' });
    assert.equal(drive.statistics().reads.errors, 2);
    await drive.close();
    const again = await FileDrive.open({ id: drive.id, path: drive.path, sizeBytes: 4 * MEBIBYTE });
    await again.read(MEBIBYTE, Buffer.alloc(4096));
    await again.close();
  });

  it('gives room back only at its end', async () => {
    const drive = await newDrive();
    await drive.write(0, Buffer.alloc(4 * MEBIBYTE, 5));
    await drive.flush();
    await drive.discard(MEBIBYTE, 3 * MEBIBYTE);
    const { size, blocks } = await stat(drive.path);
    assert.equal(size, 4 * MEBIBYTE);
    assert.ok(blocks * 512 <= 2 * MEBIBYTE);
    const block = Buffer.alloc(4096);
    await drive.read(MEBIBYTE - 4096, block);
    assert.equal(block[0], 5);
    await drive.close();
  });

  it('refuses everything once closed', async () => {
    const drive = await newDrive();
    await drive.close();
    assert.throws(() => drive.read(0, Buffer.alloc(4096)), { code: 'closed' });
    await assert.rejects(drive.flush(), { code: 'closed' });
    await drive.close();
  });

  it('is not opened where nothing is and no size is given', async () => {
    await assert.rejects(FileDrive.open({ id: 'none', path: join(folder, 'none') }), { code: 'drive-failed' });
  });

  it('is shredded to the last byte, with progress', async () => {
    const drive = await newDrive(2 * MEBIBYTE + 4096);
    await drive.write(0, Buffer.alloc(2 * MEBIBYTE + 4096, 0x41));
    const seen: number[] = [];
    await shred(drive, { passes: 2, onProgress: (fraction) => seen.push(fraction) });
    const content = Buffer.alloc(drive.sizeBytes);
    await drive.read(0, content);
    for (let offset = 0; offset < content.length; offset += 4096) {
      assert.ok(!content.subarray(offset, offset + 4096).equals(Buffer.alloc(4096, 0x41)));
    }
    assert.equal(seen.at(-1), 1);
    assert.deepEqual(seen, [...seen].sort());
    await drive.close();
  });

  it('tells how far it is shredded only once that is durable', async () => {
    const drive = await newDrive(64 * MEBIBYTE);
    await drive.write(0, Buffer.alloc(drive.sizeBytes, 0x41));
    const before = drive.statistics();
    const seen: { written: number; flushes: number }[] = [];
    const onProgress = () => {
      const { writes, flushes } = drive.statistics();
      seen.push({ written: writes.count - before.writes.count, flushes: flushes.count - before.flushes.count });
    };
    await shred(drive, { onProgress });
    assert.ok(seen.length >= 16);
    for (const [index, { written, flushes }] of seen.entries()) {
      assert.ok(flushes > index && written <= 4 * flushes, `${written} pieces were reported after ${flushes} flushes`);
    }
    await drive.close();
  });

  it('stops being shredded when that is cancelled', async () => {
    const drive = await newDrive();
    await drive.write(0, Buffer.alloc(drive.sizeBytes, 0x41));
    const before = drive.statistics().writes.count;
    const stop = new AbortController();
    const running = shred(drive, { signal: stop.signal, onProgress: () => stop.abort() });
    await assert.rejects(running, (error) => error instanceof StorageError && error.code === 'cancelled');
    assert.equal(drive.statistics().writes.count, before + 1);
    await drive.close();
  });

  it('is shredded from where that was cut off, and nothing is written where it holds nothing', async () => {
    const drive = await newDrive(8 * MEBIBYTE);
    await drive.write(0, Buffer.alloc(2 * MEBIBYTE, 0x41));
    await drive.write(6 * MEBIBYTE, Buffer.alloc(MEBIBYTE, 0x41));
    const before = drive.statistics().writes.count;
    await shred(drive, { from: 0.5 });
    assert.equal(drive.statistics().writes.count, before + 1);
    const content = Buffer.alloc(drive.sizeBytes);
    await drive.read(0, content);
    assert.equal(content[0], 0x41);
    assert.equal(content.indexOf(Buffer.alloc(64, 0x41), 2 * MEBIBYTE), -1);
    assert.ok(content.subarray(2 * MEBIBYTE, 6 * MEBIBYTE).equals(Buffer.alloc(4 * MEBIBYTE)));
    await drive.close();
  });
});
