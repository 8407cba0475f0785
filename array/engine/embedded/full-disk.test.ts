import assert from 'node:assert/strict';
import { mkdirSync, rmSync, statfsSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { fillDisk, smallFileSystem } from '../../../testing/folders.ts';
import { LineProcess } from '../../../testing/line-process.ts';
import { seededRandom } from '../../../testing/random.ts';
import { until } from '../../../testing/waiting.ts';
import { Reserve } from '../../../kernel/store/reserve.ts';
import { checkEngine } from './check-engine.ts';
import { EngineRig, MIB } from './testing/rig.ts';

/**
 * Goal: what is on a disk that is full to its last block can be deleted, and then there is room.
 * Method: an engine and its thin drives on a small file system. Writes that were not flushed fill it, so that a flush
 * finds no room for the checksums; then volumes, snapshots, a pool and a RAID group are deleted.
 */
const DISK_MB = 96;
const DRIVE_MB = 256;
const RESERVE_BYTES = 8 * MIB;
const KILLS = Number(process.env['GRANARY_TEST_KILLS'] ?? 3);

interface FullDisk {
  readonly rig: EngineRig;
  readonly filler: string;
  readonly free: () => number;
}

/** Pool `p` with volumes `kept`, `gone`, and `big`, whose writes filled the disk. */
async function fullDisk(t: TestContext): Promise<FullDisk | undefined> {
  const disk = smallFileSystem(t, DISK_MB);
  if (disk === undefined) {
    t.skip('only root may mount a small file system');
    return undefined;
  }
  const folder = join(disk, 'engine');
  mkdirSync(folder);
  writeFileSync(join(folder, 'engine-reserve'), Buffer.alloc(RESERVE_BYTES, 1));
  const drives = [0, 1, 2, 3].map((index) => {
    const file = join(disk, `${index}.drive`);
    writeFileSync(file, '');
    truncateSync(file, DRIVE_MB * MIB);
    return { id: `00000000-0000-4000-8000-00000000000${index}`, file, sizeBytes: DRIVE_MB * MIB };
  });
  const rig = new EngineRig(folder, drives, {});
  t.after(() => rig.engine.close().catch(() => undefined));
  await rig.engine.open();
  await rig.pool('p', 0, 1);
  await rig.mirror('idle', 2, 3);
  for (const volume of ['kept', 'gone', 'big']) await rig.volume(volume, 'p', 128 * MIB);
  await rig.write('kept', 0, 'k', MIB);
  await rig.write('gone', 0, 'g', MIB);
  await rig.engine.flushVolume('kept');
  await rig.engine.takeSnapshots([{ volume: 'gone', snapshot: 's' }], 1000);
  await rig.write('gone', 0, 'h', MIB);
  const filler = join(disk, 'filler');
  await assert.rejects(async () => {
    for (let at = 0; at < 128; at += 1) await rig.write('big', at * MIB, 'b', MIB);
  }, isFull);
  fillDisk(filler);
  return { rig, filler, free: () => statfsSync(disk).bavail * statfsSync(disk).bsize };
}

function isFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'no-space';
}

test('volumes, snapshots, a pool and a group are deleted on a full disk, and their room comes back', async (t) => {
  const full = await fullDisk(t);
  if (!full) return;
  const { rig, filler, free } = full;
  await assert.rejects(rig.engine.flushVolume('big'), isFull);
  await rig.engine.deleteSnapshot('s');
  await rig.engine.deleteVolume('gone');
  await assert.rejects(rig.volume('refused', 'p'), isFull, 'the reserve is for deletions');
  // Other writers to this disk take the space that is left.
  fillDisk(filler);
  await rig.engine.deleteVolume('big');
  await rig.engine.deleteGroup('idle');
  assert.equal(await rig.read('kept', 0, 256), 'k'.repeat(256));
  await until(() => free() > 48 * MIB);
  await rig.write('kept', MIB, 'l', 16 * MIB);
  await rig.engine.flushVolume('kept');
  // As the engine does every few seconds.
  assert.ok(await new Reserve(join(rig.folder, 'engine-reserve')).fill());
  await rig.reopen();
  assert.equal(await rig.read('kept', 0, 512), 'k'.repeat(256) + 'l'.repeat(256));
  await rig.volume('again', 'p');
  await rig.engine.close();
  assert.deepEqual((await checkEngine(rig.folder, rig.drives)).findings, []);
  await rig.start();
  await rig.engine.deleteVolume('kept');
  await rig.engine.deleteVolume('again');
  fillDisk(filler);
  await rig.engine.deletePool('p');
  await rig.engine.deleteGroup('group-of-p');
  assert.ok(free() > MIB);
});

test('after kill -9 on a full disk everything is there that was not deleted, and can be deleted', async (t) => {
  const full = await fullDisk(t);
  if (!full) return;
  const { rig, filler } = full;
  const random = seededRandom(t);
  await rig.engine.deleteVolume('big');
  await rig.engine.deleteVolume('gone');
  rmSync(filler);
  await rig.engine.close();
  assert.ok(await new Reserve(join(rig.folder, 'engine-reserve')).fill());
  await rig.start();
  await rig.volume('big', 'p', 128 * MIB);
  const volumes = Array.from({ length: 12 }, (_, index) => `v${index}`);
  for (const volume of volumes) {
    await rig.volume(volume, 'p');
    await rig.write(volume, 0, 'v', MIB);
    await rig.engine.takeSnapshots([{ volume, snapshot: `of-${volume}` }], 1000);
    await rig.write(volume, MIB / 2, 'w', MIB);
  }
  for (let kill = 0; kill < KILLS; kill += 1) {
    const left = volumes.filter((volume) => rig.engine.device(volume));
    if (left.length === 0) break;
    await rig.engine.close();
    const writer = new URL('./testing/full-disk-writer.ts', import.meta.url);
    const child = new LineProcess(writer, rig.folder, JSON.stringify(rig.drives), filler, ...left);
    const lines = 1 + Math.floor(random() * 5);
    await until(() => child.lines.length >= lines || child.lines.includes('end'));
    await child.kill();
    await rig.start();
    for (const volume of left) {
      const isDeleted = child.lines.includes(`deleted ${volume}`);
      const isThere = rig.engine.device(volume) !== undefined;
      if (child.lines.includes(`deleting ${volume}`)) assert.ok(!isDeleted || !isThere, `${volume} is back`);
      else assert.equal(await rig.read(volume, 0, 384), 'v'.repeat(128) + 'w'.repeat(256));
    }
    assert.equal(await rig.read('kept', 0, 256), 'k'.repeat(256));
  }
  fillDisk(filler);
  for (const volume of volumes) await rig.engine.deleteVolume(volume);
  await rig.engine.deleteVolume('big');
  assert.equal(await rig.read('kept', 0, 256), 'k'.repeat(256));
  await rig.engine.close();
  assert.deepEqual((await checkEngine(rig.folder, rig.drives)).findings, []);
  await rig.start();
});
