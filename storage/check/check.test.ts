import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { DatabaseSync } from 'node:sqlite';
import { FaultyDrive } from '../drive/faulty-drive.ts';
import { MemoryDrive } from '../drive/testing/memory-drive.ts';
import { Pool } from '../pool/pool.ts';
import { RaidGroup } from '../raid/index.ts';
import { EXTENT_BYTES } from '../units.ts';
import { checkPool } from './check.ts';

const MIB = 1024 * 1024;

let folder: string;
let file: string;
let drives: FaultyDrive[];
let group: RaidGroup;

/** A pool with two volumes and a snapshot, closed. */
beforeEach(async () => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'granary-check-'));
  file = path.join(folder, 'pool.db');
  drives = [0, 1].map((index) => new FaultyDrive(new MemoryDrive(`drive-${index}`, 32 * MIB)));
  group = await RaidGroup.create({ id: 'group', level: 'RAID1', members: drives });
  const pool = await Pool.create({ file, id: 'pool', mode: 'simple', groups: [group] });
  for (const id of ['first', 'second']) {
    const volume = await pool.volumes.create({ id, sizeBytes: 4 * MIB });
    await volume.write(0, Buffer.alloc(2 * EXTENT_BYTES, id));
  }
  await pool.snapshots.take([{ volumeId: 'first', id: 'snapshot' }], new Date(0));
  await pool.close();
});

afterEach(() => fs.rmSync(folder, { recursive: true }));

/** Changes the books behind the pool's back. */
function meddle(sql: string, ...values: (string | number | Uint8Array)[]): void {
  const database = new DatabaseSync(file);
  database.prepare(sql).run(...values);
  database.close();
}

function entriesOf(layer: number): Uint32Array {
  const database = new DatabaseSync(file);
  const row = database.prepare('SELECT entries FROM maps WHERE layer = ?').get(layer) as { entries: Uint8Array };
  database.close();
  return new Uint32Array(row.entries.slice().buffer);
}

async function findings(repair = false): Promise<string[]> {
  const report = await checkPool({ file, groups: [group], repair });
  return report.findings.map(({ what, repaired }) => (repaired ? `mended: ${what}` : what));
}

test('a sound pool has no findings, and its extents add up', async () => {
  const report = await checkPool({ file, groups: [group] });
  assert.deepEqual(report.findings, []);
  assert.equal(report.extents.used, 4);
  assert.equal(report.extents.free + report.extents.used, report.extents.total);
  assert.deepEqual([report.volumes, report.snapshots, report.layers], [2, 1, 3]);
});

test('a pool is checked when it is closed, and opened by one process at a time', async () => {
  const pool = Pool.open({ file, groups: [group] });
  await assert.rejects(findings(), /another process/);
  await pool.close();
  assert.deepEqual(await findings(), []);
});

test('an extent with two owners is found, and the second gets a copy of its own', async () => {
  const [stolen = 0] = entriesOf(1);
  const entries = entriesOf(2);
  entries[0] = stolen;
  meddle('UPDATE maps SET entries = ? WHERE layer = 2', new Uint8Array(entries.buffer));
  const what = `Entry 0 of page 0 of layer 2 names extent ${stolen}, which has an owner already`;
  assert.deepEqual(await findings(), [what]);
  assert.throws(() => Pool.open({ file, groups: [group] }), /run the check/);
  assert.deepEqual(await findings(true), [`mended: ${what}`]);
  assert.deepEqual(await findings(), []);
  const pool = Pool.open({ file, groups: [group] });
  const seen = Buffer.alloc(EXTENT_BYTES);
  await pool.volumes.get('second').read(0, seen);
  assert.equal(seen.toString('latin1', 0, 5), 'first');
  await pool.volumes.get('second').write(0, Buffer.alloc(EXTENT_BYTES, 'x'));
  await pool.volumes.get('first').read(0, seen);
  assert.equal(seen.toString('latin1', 0, 5), 'first');
  await pool.close();
});

test('a map that names an extent outside the pool is found and loses that entry', async () => {
  const entries = entriesOf(2);
  entries[1] = 900_000;
  meddle('UPDATE maps SET entries = ? WHERE layer = 2', new Uint8Array(entries.buffer));
  const what = 'Entry 1 of page 0 of layer 2 names extent 900000, which lies on no group';
  assert.deepEqual(await findings(), [what]);
  assert.deepEqual(await findings(true), [`mended: ${what}`]);
  assert.deepEqual(await findings(), []);
});

test('names that lead nowhere are found; a snapshot without its layer is dropped', async () => {
  meddle("INSERT INTO snapshots VALUES ('lost', 'first', 77, 1, 1)");
  meddle("UPDATE volumes SET layer = 78 WHERE id = 'second'");
  assert.deepEqual((await findings(true)).sort(), [
    'Volume second names layer 78, which is not there',
    'mended: Snapshot lost names layer 77, which is not there',
  ]);
});

test('layers that stand on themselves, on nothing or under a writer are found', async () => {
  meddle('UPDATE layers SET parent = 3 WHERE id = 1');
  meddle('UPDATE layers SET parent = 99 WHERE id = 2');
  const seen = await findings();
  assert.ok(seen.includes('Layer 2 stands on layer 99, which is not there'), seen.join('\n'));
  assert.ok(
    seen.some((what) => /Layer \d stands on itself/.test(what)),
    seen.join('\n'),
  );
  assert.ok(
    seen.some((what) => what.includes('on which others stand')),
    seen.join('\n'),
  );
});

test('a plain layer over a reduced one is found', async () => {
  meddle('DELETE FROM maps WHERE layer = 1');
  meddle("UPDATE layers SET format = 'reduced' WHERE id = 1");
  assert.deepEqual(await findings(), ['Layer 3 is plain and stands on layer 1, which is reduced']);
});

test('damage on a drive is found, and mended from the other copy', async () => {
  await group.close();
  const [drive] = drives;
  assert(drive);
  for (let offset = MIB; offset < 4 * MIB; offset += 64 * 1024) await drive.corrupt(offset, 10, () => 0.5);
  group = await RaidGroup.open({ drives });
  const seen = await findings();
  assert.ok(seen.length > 0 && seen.every((what) => what.startsWith('RAID group group: ')), seen.join('\n'));
  await findings(true);
  assert.deepEqual(await findings(), []);
});
