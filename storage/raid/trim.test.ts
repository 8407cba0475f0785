import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { FileDrive } from '../drive/file-drive.ts';
import { RaidGroup } from './raid-group.ts';

const MIB = 2 ** 20;
const EXTENT = 256 * 1024;

for (const [level, count] of [
  ['RAID1', 2],
  ['RAID6', 4],
  ['RAID6', 6],
] as const) {
  test(`${level} of ${count} gives trimmed places back to the disk, and keeps what is between them`, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'granary-trim-'));
    t.after(() => rmSync(folder, { recursive: true }));
    const open = () =>
      Promise.all(
        Array.from({ length: count }, (_, index) =>
          FileDrive.open({ id: `drive-${index}`, path: join(folder, `${index}`), sizeBytes: 64 * MIB }),
        ),
      );
    const used = () =>
      Array.from({ length: count }, (_, index) => statSync(join(folder, `${index}`)).blocks * 512).reduce(
        (sum, bytes) => sum + bytes,
      );
    const read = async (offset: number, length: number) => {
      const into = Buffer.alloc(length, 1);
      await group.read(offset, into);
      return into;
    };
    let group = await RaidGroup.create({ id: 'group', level, members: await open() });
    await group.write(0, Buffer.alloc(24 * MIB, 0x61));
    await group.flush();
    const before = used();
    await group.trim(MIB, 16 * MIB);
    await group.trim(20 * MIB, EXTENT);
    const freed = before - used();
    assert.ok(freed >= 16 * MIB, `${freed} bytes came back`);
    for (const isAgain of [false, true]) {
      assert.deepEqual(await read(0, MIB), Buffer.alloc(MIB, 0x61), String(isAgain));
      assert.deepEqual(await read(MIB, 16 * MIB), Buffer.alloc(16 * MIB));
      assert.deepEqual(await read(17 * MIB, 3 * MIB), Buffer.alloc(3 * MIB, 0x61));
      assert.deepEqual(await read(20 * MIB, EXTENT), Buffer.alloc(EXTENT));
      assert.deepEqual(await read(21 * MIB, 3 * MIB), Buffer.alloc(3 * MIB, 0x61));
      assert.deepEqual(await group.scrub(), { mismatches: 0, repaired: 0, lost: 0 });
      assert.deepEqual(await group.verify(), []);
      await group.close();
      group = await RaidGroup.open({ drives: await open() });
    }
    await group.write(2 * MIB, Buffer.alloc(MIB, 0x62));
    assert.deepEqual(await read(2 * MIB, MIB), Buffer.alloc(MIB, 0x62));
    await group.close();
  });
}
