import assert from 'node:assert/strict';
import { statSync, truncateSync } from 'node:fs';
import { test } from 'node:test';
import { until } from '../../../../testing/waiting.ts';
import { engineRig, FAST, MIB } from '../testing/rig.ts';

test('a group is made once however often it is asked for, and is there again after a restart', async (t) => {
  const rig = await engineRig(t, { count: 3 });
  const capacityBytes = await rig.mirror('g', 0, 1, [2]);
  assert.ok(capacityBytes > 60 * MIB && capacityBytes < 64 * MIB);
  assert.equal(await rig.mirror('g', 0, 1, [2]), capacityBytes);
  await rig.reopen();
  const { io, metadataCache, ...group } = await rig.group('g');
  assert.deepEqual(group, {
    id: 'g',
    state: 'normal',
    progress: null,
    capacityBytes,
    members: [rig.drive(0), rig.drive(1)],
    spares: [rig.drive(2)],
    mismatches: 0,
    resyncSpeed: 0,
  });
  assert.equal(io.reads.count, 0);
  assert.deepEqual([metadataCache?.dirtyBytes, metadataCache?.writeHits], [0, 0]);
});

test('drives of a group are not free, and are again once it is deleted; what they held does not come back', async (t) => {
  const rig = await engineRig(t, { count: 3 });
  await rig.pool('p', 0, 1);
  await assert.rejects(rig.mirror('other', 1, 2), { name: 'EngineError', code: 'conflict' });
  await assert.rejects(rig.engine.deleteGroup('group-of-p'), { code: 'conflict' });
  await rig.volume('v', 'p');
  await rig.write('v', 0, 'x', MIB);
  await rig.engine.deleteVolume('v');
  await rig.engine.deletePool('p');
  await rig.engine.deleteGroup('group-of-p');
  await rig.engine.deleteGroup('group-of-p');
  assert.deepEqual((await rig.report()).groups, []);
  await rig.reopen();
  assert.deepEqual((await rig.report()).groups, []);
  await rig.pool('p', 0, 1);
  await rig.volume('v', 'p');
  assert.equal(await rig.read('v', 0, 256), '.'.repeat(256));
});

test('what cannot be a group is refused and changes nothing', async (t) => {
  const rig = await engineRig(t, { count: 4 });
  const group = { id: 'g', protection: 'RAID1', spares: [], stripeBytes: 65536, speed: FAST } as const;
  const drives = [0, 1, 2, 3].map((number) => rig.drive(number));
  const wrong = [
    { ...group, drives: drives.slice(0, 1) },
    { ...group, drives: [rig.drive(0), rig.drive(0)] },
    { ...group, drives: drives.slice(0, 3), protection: 'RAID6' as const },
    { ...group, drives: drives.slice(0, 2), stripeBytes: 1000 },
    { ...group, drives: [rig.drive(0), 'nobody'] },
  ];
  for (const each of wrong) await assert.rejects(rig.engine.createGroup(each), { name: 'EngineError' });
  assert.deepEqual((await rig.report()).groups, []);
  await rig.engine.createGroup({ ...group, drives, protection: 'RAID6' });
});

test('a drive that is taken offline is missed at once, and brought up to date when it is back', async (t) => {
  const rig = await engineRig(t, { count: 2 });
  await rig.pool('p', 0, 1);
  await rig.volume('v', 'p');
  await rig.engine.takeDriveOffline(rig.drive(0));
  assert.equal(await rig.driveState(0), 'absent');
  await rig.groupIs('group-of-p', 'degraded');
  await rig.write('v', 0, 'x');
  await rig.engine.bringDriveOnline(rig.drive(0));
  await rig.groupIs('group-of-p', 'normal');
  assert.equal(await rig.driveState(0), 'online');
  await rig.engine.takeDriveOffline(rig.drive(1));
  assert.equal(await rig.read('v', 0), 'x');
  const types = rig.events.map(({ type }) => type);
  for (const type of ['drive-failed', 'drive-returned', 'rebuild-finished'] as const) assert.ok(types.includes(type));
});

test('what was answered is there when drives that were all taken offline are back, flushed or not', async (t) => {
  const rig = await engineRig(t, { count: 2 });
  await rig.pool('p', 0, 1);
  await rig.volume('v', 'p');
  for (const letter of 'abcd') {
    await rig.engine.takeDriveOffline(rig.drive(1));
    await rig.write('v', letter.charCodeAt(0) * MIB * 0.125, letter, MIB);
    await rig.engine.takeDriveOffline(rig.drive(0));
    assert.equal((await rig.group('group-of-p')).state, 'failed');
    for (const { id } of rig.drives) await rig.engine.bringDriveOnline(id);
    await rig.groupIs('group-of-p', 'normal');
    assert.equal(await rig.read('v', letter.charCodeAt(0) * MIB * 0.125, 256), letter.repeat(256));
  }
});

test('a spare takes the place of a drive that fails', async (t) => {
  const rig = await engineRig(t, { count: 3 });
  await rig.mirror('g', 0, 1, [2]);
  await rig.engine.takeDriveOffline(rig.drive(0));
  await until(() => rig.events.some(({ type }) => type === 'rebuild-finished'));
  const { members, spares } = await rig.group('g');
  assert.deepEqual([members, spares], [[rig.drive(2), rig.drive(1)], []]);
  await rig.reopen();
  assert.deepEqual((await rig.group('g')).members, [rig.drive(2), rig.drive(1)]);
  // The one that failed is free, and takes part again under another role.
  await rig.engine.addSpare('g', rig.drive(0));
  await rig.engine.addSpare('g', rig.drive(0));
  assert.deepEqual((await rig.group('g')).spares, [rig.drive(0)]);
  await rig.engine.removeSpare('g', rig.drive(0));
  await rig.engine.removeSpare('g', rig.drive(0));
  assert.deepEqual((await rig.group('g')).spares, []);
});

test('a drive is replaced while the group works, and the one it replaces is free', async (t) => {
  const rig = await engineRig(t, { count: 4 });
  await rig.pool('p', 0, 1);
  await rig.volume('v', 'p');
  await rig.write('v', 0, 'x', 8 * MIB);
  await rig.engine.replaceDrive('group-of-p', rig.drive(0), rig.drive(2));
  await rig.engine.replaceDrive('group-of-p', rig.drive(0), rig.drive(2));
  await until(() => rig.events.some(({ type }) => type === 'rebuild-finished'));
  assert.deepEqual((await rig.group('group-of-p')).members, [rig.drive(2), rig.drive(1)]);
  await rig.mirror('g', 0, 3);
  await rig.engine.takeDriveOffline(rig.drive(1));
  assert.equal(await rig.read('v', 8 * MIB - 4096), 'x');
});

test('a group whose drives are missing at the start fails alone, and comes back with them', async (t) => {
  const rig = await engineRig(t, { count: 4 });
  await rig.pool('lost', 0, 1);
  await rig.pool('kept', 2, 3);
  await rig.volume('v', 'lost');
  await rig.volume('w', 'kept');
  await rig.write('v', 0, 'x');
  await rig.engine.flushVolume('v');
  await rig.engine.close();
  rig.hide(0);
  rig.hide(1);
  await rig.start();
  assert.equal((await rig.group('group-of-lost')).state, 'failed');
  assert.deepEqual((await rig.group('group-of-lost')).members, [rig.drive(0), rig.drive(1)]);
  assert.equal(await rig.driveState(0), 'absent');
  await rig.write('w', 0, 'y');
  await rig.engine.flushVolume('w');
  await assert.rejects(rig.read('v', 0), { code: 'group-failed' });
  await assert.rejects(rig.write('v', 0, 'z'), { name: 'EngineError' });
  rig.show(0);
  rig.show(1);
  await rig.engine.followDrives(rig.drives);
  await rig.groupIs('group-of-lost', 'normal');
  assert.equal(await rig.read('v', 0), 'x');
  await rig.write('v', 4096, 'z');
  await rig.engine.flushVolume('v');
});

test('a drive older than the group is never taken for it', async (t) => {
  const rig = await engineRig(t, { count: 2 });
  await rig.pool('p', 0, 1);
  await rig.volume('v', 'p');
  await rig.write('v', 0, 'a');
  await rig.engine.flushVolume('v');
  await rig.engine.takeDriveOffline(rig.drive(0));
  await rig.write('v', 0, 'b');
  await rig.engine.flushVolume('v');
  await rig.engine.close();
  rig.hide(1);
  await rig.start();
  assert.equal((await rig.group('group-of-p')).state, 'failed');
  await assert.rejects(rig.read('v', 0));
  rig.show(1);
  await rig.engine.followDrives(rig.drives);
  await rig.groupIs('group-of-p', 'normal');
  assert.equal(await rig.read('v', 0), 'b');
  // The same while it runs.
  await rig.engine.takeDriveOffline(rig.drive(0));
  await rig.write('v', 0, 'c');
  await rig.engine.takeDriveOffline(rig.drive(1));
  await rig.engine.bringDriveOnline(rig.drive(0));
  assert.equal((await rig.group('group-of-p')).state, 'failed');
  await rig.engine.bringDriveOnline(rig.drive(1));
  await rig.groupIs('group-of-p', 'normal');
  assert.equal(await rig.read('v', 0), 'c');
});

test('a RAID6 that misses too many drives at the start comes back with any of them, then with all', async (t) => {
  const rig = await engineRig(t, { count: 6, driveMb: 32 });
  const drives = [0, 1, 2, 3].map((number) => rig.drive(number));
  const group = { id: 'g', protection: 'RAID6', drives, spares: [], stripeBytes: 16384, speed: FAST } as const;
  const { capacityBytes } = await rig.engine.createGroup(group);
  await rig.mirror('other', 4, 5);
  await rig.engine.createPool({ id: 'p', mode: 'stripe', groups: ['g', 'other'], capacityBytes });
  await rig.volume('v', 'p', 8 * MIB);
  await rig.write('v', 0, 'x', 4 * MIB);
  await rig.engine.close();
  for (const number of [0, 1, 2]) rig.hide(number);
  await rig.start();
  assert.equal((await rig.group('g')).state, 'failed');
  await rig.volume('w', 'p', 8 * MIB);
  await rig.write('w', 0, 'y');
  await rig.engine.flushVolume('w');
  await assert.rejects(rig.read('v', 0, 1024), { code: 'group-failed' });
  for (const number of [0, 1, 2]) {
    rig.show(number);
    await rig.engine.followDrives(rig.drives);
    if (number === 0) await assert.doesNotReject(rig.read('v', 0, 1024));
  }
  await rig.groupIs('g', 'normal');
  assert.equal(await rig.read('v', 0, 1024), 'x'.repeat(1024));
  await rig.write('v', 0, 'z', MIB);
  await rig.engine.flushVolume('v');
});

test('a scrub begins where it is asked to, reports its progress, and can be cancelled', async (t) => {
  const rig = await engineRig(t, { count: 2, driveMb: 128 });
  await rig.pool('p', 0, 1);
  await rig.volume('v', 'p', 64 * MIB);
  await rig.write('v', 0, 'x', 16 * MIB);
  const seen: number[] = [];
  const onProgress = (fraction: number) => void seen.push(fraction);
  assert.deepEqual(await rig.engine.scrubGroup('group-of-p', 0.5, { onProgress }), {
    mismatches: 0,
    repaired: 0,
    lost: 0,
  });
  assert.ok(seen.every((fraction) => fraction > 0.5) && seen.at(-1) === 1);
  const stop = new AbortController();
  const scrub = rig.engine.scrubGroup('group-of-p', 0, { signal: stop.signal, onProgress: () => stop.abort() });
  await assert.rejects(scrub, { name: 'EngineError', code: 'cancelled' });
  assert.equal((await rig.group('group-of-p')).state, 'normal');
});

test('background work is as slow as it is set, and reports its speed', async (t) => {
  const rig = await engineRig(t, { count: 2 });
  await rig.pool('p', 0, 1);
  await rig.volume('v', 'p', 32 * MIB);
  await rig.write('v', 0, 'x', 16 * MIB);
  await rig.engine.setResyncSpeed('group-of-p', { minimum: 4 * MIB, maximum: 8 * MIB });
  const stop = new AbortController();
  const scrub = rig.engine.scrubGroup('group-of-p', 0, { signal: stop.signal });
  await new Promise((resolve) => setTimeout(resolve, 300));
  const { progress } = await rig.groupIs('group-of-p', 'scrubbing');
  assert.ok(progress !== null && progress < 0.5);
  // A machine that stands still for a moment makes it look slower, never faster: then the next moment is looked at.
  let speed = 0;
  for (let look = 0; look < 6 && speed <= 2 * MIB; look++) {
    await new Promise((resolve) => setTimeout(resolve, 700));
    speed = (await rig.group('group-of-p')).resyncSpeed;
    assert.ok(speed < 12 * MIB, `${speed}`);
  }
  assert.ok(speed > 2 * MIB, `${speed}`);
  stop.abort();
  await assert.rejects(scrub, { code: 'cancelled' });
});

test('a rebuild that goes on after a start is slow until its speed is set', async (t) => {
  const rig = await engineRig(t, { count: 3 });
  await rig.pool('p', 0, 1);
  await rig.volume('v', 'p', 64 * MIB);
  for (const at of [0, 16, 32]) await rig.write('v', at * MIB, 'x', 16 * MIB);
  await rig.engine.setResyncSpeed('group-of-p', { minimum: MIB, maximum: MIB });
  await rig.engine.replaceDrive('group-of-p', rig.drive(0), rig.drive(2));
  await rig.engine.close();
  await rig.start();
  const isFinished = () => rig.events.some(({ type }) => type === 'rebuild-finished');
  await new Promise((resolve) => setTimeout(resolve, 500));
  assert.deepEqual([isFinished(), (await rig.group('group-of-p')).state], [false, 'recovering']);
  await rig.engine.setResyncSpeed('group-of-p', FAST);
  await until(isFinished);
});

test('what is written goes through the group, and the drives count it', async (t) => {
  const rig = await engineRig(t, { count: 2 });
  await rig.pool('p', 0, 1);
  await rig.volume('v', 'p');
  await rig.write('v', 0, 'x', MIB);
  const { writes } = (await rig.group('group-of-p')).io;
  assert.equal(writes.bytes, MIB);
  assert.ok(writes.count > 0 && writes.microseconds > 0);
  const drives = (await rig.report()).drives.map(({ io }) => io.writes.bytes);
  assert.ok(drives.every((bytes) => bytes >= MIB));
});

test('a group counts what its checksums in memory are used for, and what of them is not on the drives yet', async (t) => {
  const rig = await engineRig(t, { count: 2 });
  await rig.pool('p', 0, 1);
  await rig.volume('v', 'p');
  const use = async () => {
    const { metadataCache } = await rig.group('group-of-p');
    assert.ok(metadataCache);
    return metadataCache;
  };
  await rig.write('v', 0, 'x');
  const first = await use();
  assert.ok(first.dirtyBytes > 0 && first.dirtyBytes + first.cleanBytes <= first.capacityBytes);
  await rig.engine.flushVolume('v');
  const flushed = await use();
  assert.equal(flushed.dirtyBytes, 0);
  assert.ok(flushed.cleanBytes > 0);
  assert.ok(flushed.writeMisses > 0, 'the first write of a region reads its page');
  for (let n = 0; n < 10; n++) await rig.write('v', 0, 'y');
  const written = await use();
  assert.ok(written.writeHits >= flushed.writeHits + 10);
  assert.equal(written.writeMisses, flushed.writeMisses);
  for (let n = 0; n < 10; n++) await rig.read('v', 0);
  const read = await use();
  assert.ok(read.readHits >= written.readHits + 10);
  assert.equal(read.readMisses, written.readMisses);
});

test('a group that was being made when the engine died is undone, and so are its drives', async (t) => {
  const rig = await engineRig(t, { count: 2 });
  await rig.mirror('g', 0, 1);
  await rig.engine.close();
  rig.rewriteBook((text) => text.replaceAll('"ready"', '"creating"'));
  await rig.start();
  assert.deepEqual((await rig.report()).groups, []);
  await rig.mirror('h', 0, 1);
});

test('shredding overwrites what a free drive holds, from where it is asked to, and frees its space', async (t) => {
  const rig = await engineRig(t, { count: 3 });
  await rig.pool('p', 0, 1);
  await rig.volume('v', 'p');
  await rig.write('v', 0, 'x', 16 * MIB);
  await assert.rejects(rig.engine.shredDrive(rig.drive(0), 0, {}), { code: 'conflict' });
  await rig.engine.deleteVolume('v');
  await rig.engine.deletePool('p');
  await rig.engine.deleteGroup('group-of-p');
  const { file } = rig.drives[0]!;
  const held = statSync(file).blocks;
  const seen: number[] = [];
  const stop = new AbortController();
  const onProgress = (fraction: number) => {
    if (seen.push(fraction) === 4) stop.abort();
  };
  const first = rig.engine.shredDrive(rig.drive(0), 0, { signal: stop.signal, onProgress });
  await assert.rejects(rig.mirror('g', 0, 1), { code: 'conflict' }, 'it is in use meanwhile');
  await assert.rejects(first, { code: 'cancelled' });
  await rig.engine.shredDrive(rig.drive(0), seen.at(-1) ?? 0, { onProgress: (fraction) => void seen.push(fraction) });
  assert.equal(seen.at(-1), 1);
  assert.deepEqual(
    seen.toSorted((a, b) => a - b),
    seen,
  );
  const after = statSync(file);
  assert.equal(after.size, 64 * MIB);
  assert.ok(after.blocks < held / 10);
  await rig.mirror('g', 0, 1);
});

test('a drive whose file cannot be opened does not keep the engine from starting', async (t) => {
  const rig = await engineRig(t, { count: 3 });
  await rig.pool('p', 0, 1);
  await rig.engine.close();
  rig.hide(0);
  truncateSync(rig.drives[2]!.file, 0);
  await rig.start();
  assert.deepEqual([await rig.driveState(0), await rig.driveState(1)], ['absent', 'online']);
  assert.equal((await rig.group('group-of-p')).state, 'degraded');
  await assert.rejects(rig.mirror('g', 0, 2), { name: 'EngineError' });
  rig.show(0);
});
