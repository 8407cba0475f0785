import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { closeSync, openSync, readdirSync, readFileSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { checkEngine } from './check-engine.ts';
import { shareRig } from './shares/testing/share-rig.ts';
import { BLOCK, engineRig, MIB } from './testing/rig.ts';

function everyFile(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted();
  const files = names.map((name) => join(folder, name)).filter((file) => statSync(file).isFile());
  return files.map((file) => `${file} ${createHash('sha256').update(readFileSync(file)).digest('hex')}`);
}

test('a check finds nothing wrong with what a stopped engine left, lists it, and changes nothing', async (t) => {
  const rig = await engineRig(t, { count: 5, driveMb: 32 });
  const capacityBytes = await rig.pool('p', 0, 1);
  await rig.mirror('unused', 2, 3, [4]);
  await rig.volume('v', 'p', 8 * MIB);
  await rig.write('v', 0, 'x', 2 * MIB);
  await rig.engine.takeSnapshots([{ volume: 'v', snapshot: 's' }], 1000);
  await rig.engine.close();
  const before = everyFile(rig.folder);
  const { findings, groups, pools } = await checkEngine(rig.folder, rig.drives);
  assert.deepEqual(everyFile(rig.folder), before);
  assert.deepEqual(findings, []);
  assert.deepEqual(
    groups.map(({ id, state, spares }) => [id, state, spares]),
    [
      ['group-of-p', 'normal', []],
      ['unused', 'normal', [rig.drive(4)]],
    ],
  );
  const [pool] = pools;
  assert.deepEqual([pool?.id, pool?.capacityBytes, pool?.usedBytes], ['p', capacityBytes, 2 * MIB]);
  assert.deepEqual(
    pool?.volumes.map(({ id, sizeBytes, snapshots }) => [id, sizeBytes, snapshots.map((each) => each.id)]),
    [['v', 8 * MIB, ['s']]],
  );
  await rig.start();
});

test('a check finds drives that are missing and bytes that are wrong', async (t) => {
  const rig = await engineRig(t, { count: 4, driveMb: 32 });
  await rig.pool('p', 0, 1);
  await rig.pool('q', 2, 3);
  await rig.volume('v', 'p', 8 * MIB);
  await rig.write('v', 0, 'x', 2 * MIB);
  await rig.engine.close();
  rig.hide(2);
  const { file } = rig.drives[0]!;
  const at = readFileSync(file).indexOf('xxxxxxxx');
  const handle = openSync(file, 'r+');
  writeSync(handle, 'wrong', at);
  closeSync(handle);
  const { findings } = await checkEngine(rig.folder, rig.drives);
  assert.match(findings.join('\n'), /Drive .* cannot be opened/);
  assert.match(findings.join('\n'), /RAID group group-of-q is degraded/);
  assert.match(findings.join('\n'), /Pool p: RAID group group-of-p: 1 blocks differ/);
  assert.equal(findings.length, 3);
  rig.show(2);
  await rig.start();
});

test('the filesystems of shares are walked, and what is wrong in them is found', async (t) => {
  const rig = await shareRig(t, { count: 2, driveMb: 64 });
  await rig.share('files');
  await rig.rig.volume('empty', 'p', 8 * MIB);
  const client = await rig.client3('files');
  await client.create(client.root, 'f', {});
  await rig.engine.close();
  const { folder, drives } = rig.rig;
  const check = async (isShare: (volume: string) => boolean) => (await checkEngine(folder, drives, isShare)).findings;
  const before = everyFile(folder);
  assert.deepEqual(await check((volume) => volume === 'files'), []);
  assert.deepEqual(await check(() => true), ['Share empty has no filesystem.']);
  assert.deepEqual(everyFile(folder), before);
  await rig.rig.start();
  // Behind the superblocks and the journal.
  await rig.rig.write('files', 130 * BLOCK, 'x', 15 * MIB);
  await rig.engine.close();
  assert.match((await check((volume) => volume === 'files')).join(), /^Share files/);
});
