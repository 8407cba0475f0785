import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MoveProgress } from '../../engine.ts';
import { BLOCK, engineRig, type EngineRig, MIB } from '../testing/rig.ts';

const NO_CAPS = { readIops: 0, readBytesPerSecond: 0, writeIops: 0, writeBytesPerSecond: 0 };
const KEY = Uint8Array.from({ length: 64 }, (_, index) => index);

async function onePool(t: Parameters<typeof engineRig>[0]): Promise<EngineRig> {
  const rig = await engineRig(t);
  await rig.pool('p', 0, 1);
  return rig;
}

async function twoPools(t: Parameters<typeof engineRig>[0]): Promise<EngineRig> {
  const rig = await onePool(t);
  await rig.pool('q', 2, 3);
  return rig;
}

function wait(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** Whether it is done by now. */
async function isDone(work: Promise<unknown>): Promise<boolean> {
  return Promise.race([work.then(() => true), wait(30).then(() => false)]);
}

test('a volume is made once, keeps what was flushed, grows, and is gone when deleted', async (t) => {
  const rig = await onePool(t);
  await Promise.all([rig.volume('v', 'p'), rig.volume('v', 'p')]);
  await rig.volume('v', 'p');
  await rig.write('v', 0, 'x', MIB);
  await rig.engine.flushVolume('v');
  await rig.engine.expandVolume('v', 32 * MIB);
  await rig.engine.expandVolume('v', 32 * MIB);
  await assert.rejects(rig.engine.expandVolume('v', MIB), { name: 'EngineError', code: 'invalid' });
  await rig.reopen();
  const { io, latencies: _, ...volume } = await rig.engine.volume('v');
  assert.deepEqual(volume, {
    id: 'v',
    pool: 'p',
    sizeBytes: 32 * MIB,
    ownBytes: MIB,
    snapshotBytes: 0,
    sharedBytes: 0,
    unreducedBytes: 0,
    held: { own: { plainBytes: MIB, chunkBytes: 0 }, snapshots: { plainBytes: 0, chunkBytes: 0 } },
    isLocked: false,
    sizes: null,
    share: null,
  });
  assert.equal(io.writes.count, 0);
  assert.equal(await rig.read('v', MIB - BLOCK, 2), 'x.');
  await rig.engine.discardVolume('v', 0, MIB);
  assert.equal(await rig.read('v', 0), '.');
  await rig.engine.deleteVolume('v');
  await rig.engine.deleteVolume('v');
  await assert.rejects(rig.engine.volume('v'), { code: 'not-found' });
  await rig.reopen();
  assert.deepEqual((await rig.report()).volumes, []);
});

test('an encrypted volume is locked after a restart, until it gets its key', async (t) => {
  const rig = await onePool(t);
  await rig.engine.createVolume({
    id: 'v',
    pool: 'p',
    sizeBytes: MIB,
    compression: false,
    deduplication: false,
    key: KEY,
  });
  await rig.write('v', 0, 'x');
  await rig.reopen();
  assert.equal((await rig.engine.volume('v')).isLocked, true);
  await assert.rejects(rig.write('v', 0, 'y'), { name: 'EngineError', code: 'locked' });
  await assert.rejects(rig.engine.unlockVolume('v', new Uint8Array(64)), { code: 'invalid' });
  const { version } = await rig.report();
  await rig.engine.unlockVolume('v', KEY);
  assert.deepEqual(
    (await rig.report(version)).volumes.map(({ id, isLocked }) => [id, isLocked]),
    [['v', false]],
  );
  assert.equal(await rig.read('v', 0), 'x');
});

test('a cap holds requests back, and waiting requests go on when it is removed', async (t) => {
  const rig = await onePool(t);
  await rig.volume('v', 'p');
  await rig.engine.setCaps('v', { ...NO_CAPS, writeIops: 1 });
  await rig.write('v', 0, 'x');
  const waiting = Promise.all(Array.from({ length: 60 }, () => rig.write('v', BLOCK, 'y')));
  assert.equal(await isDone(waiting), false);
  assert.equal(await rig.read('v', 0), 'x', 'reads have caps of their own');
  const startedMs = performance.now();
  await rig.engine.setCaps('v', NO_CAPS);
  await waiting;
  assert.ok(performance.now() - startedMs < 30_000, 'they would wait for a minute');
});

test('held writes wait while reads go on, until they are released or the time is up', async (t) => {
  const rig = await onePool(t);
  await rig.volume('v', 'p');
  await rig.write('v', 0, 'x');
  await rig.engine.holdWrites(['v'], 60_000);
  await rig.engine.holdWrites(['v'], 60_000);
  const held = rig.write('v', 0, 'y');
  assert.equal(await isDone(held), false);
  assert.equal(await rig.read('v', 0), 'x');
  await rig.engine.takeSnapshots([{ volume: 'v', snapshot: 's' }], 1000);
  await rig.engine.releaseWrites(['v']);
  await held;
  assert.equal((await rig.readSnapshot('s', 0)) + (await rig.read('v', 0)), 'xy');
  const startedMs = performance.now();
  await rig.engine.holdWrites(['v'], 150);
  await rig.write('v', 0, 'z');
  assert.ok(performance.now() - startedMs > 140);
  await rig.engine.releaseWrites(['v']);
  await assert.rejects(rig.engine.holdWrites(['nobody'], 50), { code: 'not-found' });
  await assert.rejects(rig.engine.holdWrites(['v'], 1e9), { code: 'invalid' });
});

test('snapshots over several pools are one moment, or none is taken', async (t) => {
  const rig = await twoPools(t);
  await rig.volume('v', 'p');
  await rig.volume('w', 'q');
  const state = { writing: true };
  // A write to the second follows each to the first: no moment shows the second ahead.
  const writer = (async () => {
    for (let count = 65; state.writing; count = count === 90 ? 65 : count + 1) {
      await rig.write('v', 0, String.fromCharCode(count));
      await rig.write('w', 0, String.fromCharCode(count));
      await wait(0);
    }
  })();
  for (let round = 0; round < 10; round++) {
    await rig.engine.takeSnapshots(
      [
        { volume: 'v', snapshot: `v${round}` },
        { volume: 'w', snapshot: `w${round}` },
      ],
      1000 + round,
    );
    const [first, second] = [await rig.readSnapshot(`v${round}`, 0), await rig.readSnapshot(`w${round}`, 0)];
    const ahead = (first.charCodeAt(0) - second.charCodeAt(0) + 26) % 26;
    assert.ok(first === '.' || second === '.' || ahead <= 1, `${first} ${second}`);
  }
  state.writing = false;
  await writer;
  const both = [
    { volume: 'v', snapshot: 'new' },
    { volume: 'nobody', snapshot: 'other' },
  ];
  await assert.rejects(rig.engine.takeSnapshots(both, 2000), { code: 'not-found' });
  await assert.rejects(rig.readSnapshot('new', 0), { code: 'not-found' });
});

test('snapshots are exact, taken once, cloned, reverted to and deleted, and count what they take', async (t) => {
  const rig = await onePool(t);
  await rig.volume('v', 'p');
  await rig.write('v', 0, 'a', MIB);
  await rig.engine.takeSnapshots([{ volume: 'v', snapshot: 's' }], 1000);
  await rig.write('v', 0, 'b', MIB);
  await rig.engine.takeSnapshots([{ volume: 'v', snapshot: 's' }], 2000);
  assert.equal(await rig.readSnapshot('s', 0), 'a');
  const { ownBytes, snapshotBytes } = await rig.engine.volume('v');
  assert.deepEqual([ownBytes, snapshotBytes], [MIB, MIB]);
  await rig.engine.cloneSnapshot('s', 'c');
  await rig.engine.cloneSnapshot('s', 'c');
  await rig.write('c', BLOCK, 'c');
  await rig.reopen();
  assert.deepEqual([await rig.read('c', 0, 3), await rig.read('v', 0, 3)], ['aca', 'bbb']);
  await rig.engine.revertVolume('s');
  assert.equal(await rig.read('v', 0, 3), 'aaa');
  await rig.engine.deleteSnapshot('s');
  await rig.engine.deleteSnapshot('s');
  await rig.engine.deleteVolume('v');
  assert.equal(await rig.read('c', 0, 3), 'aca');
});

test('changes between snapshots come page by page, in order, and make a copy', async (t) => {
  const rig = await onePool(t);
  await rig.volume('v', 'p');
  await rig.volume('copy', 'p');
  for (let block = 0; block < 40; block += 2) await rig.write('v', block * BLOCK, 'a');
  await rig.engine.takeSnapshots([{ volume: 'v', snapshot: 'one' }], 1000);
  await rig.write('v', 4 * BLOCK, 'b');
  await rig.engine.discardVolume('v', 0, MIB);
  await rig.write('v', 8 * MIB, 'c', MIB);
  await rig.engine.takeSnapshots([{ volume: 'v', snapshot: 'two' }], 2000);
  const counts: number[] = [];
  for (const [from, to] of [
    [undefined, 'one'],
    ['one', 'two'],
  ] as const) {
    let after = 0;
    let count = 0;
    for (;;) {
      const page = await rig.engine.changes(from, to, after, 7);
      for (const { offset, length, mapped } of page) {
        assert.ok(offset >= after, 'in order');
        if (mapped) await rig.engine.writeVolume('copy', offset, await rig.engine.readSnapshot(to, offset, length));
        else await rig.engine.discardVolume('copy', offset, length);
        after = offset + length;
        count++;
      }
      if (page.length < 7) break;
    }
    counts.push(count);
    for (const offset of [0, 8 * MIB, 9 * MIB - BLOCK]) {
      assert.equal(await rig.read('copy', offset, 50), await rig.readSnapshot(to, offset, 50));
    }
  }
  assert.equal(counts[0], 20);
  await rig.engine.flushVolume('copy');
});

test('a volume moves with its snapshots while it is written, and its handle stays valid', async (t) => {
  const rig = await twoPools(t);
  await rig.volume('v', 'p');
  await rig.write('v', 0, 'a', 4 * MIB);
  await rig.engine.takeSnapshots([{ volume: 'v', snapshot: 's' }], 1000);
  await rig.write('v', 0, 'b', MIB);
  await rig.engine.setCaps('v', { ...NO_CAPS, readIops: 1 });
  const device = rig.engine.device('v');
  const progress: MoveProgress[] = [];
  const moving = rig.engine.moveVolume('v', 'q', true, { onProgress: (each) => void progress.push(each) });
  await assert.rejects(rig.engine.takeSnapshots([{ volume: 'v', snapshot: 'x' }], 1), { code: 'conflict' });
  await device?.write(8 * MIB, Buffer.alloc(BLOCK, 'm'));
  await moving;
  assert.deepEqual([...new Set(progress.map(({ snapshot }) => snapshot))], ['s', null]);
  const last = progress.at(-1);
  assert.equal(last?.copiedBytes, last?.totalBytes);
  assert.equal((await rig.engine.volume('v')).pool, 'q');
  await rig.poolIsEmpty('p');
  assert.equal(await rig.readSnapshot('s', 0), 'a');
  const bytes = Buffer.alloc(BLOCK);
  await device?.read(8 * MIB, bytes);
  assert.equal(String.fromCharCode(bytes[0] ?? 0), 'm');
  const reads = Promise.all(Array.from({ length: 10 }, () => rig.read('v', 0)));
  assert.equal(await isDone(reads), false, 'its caps came along');
  await rig.engine.setCaps('v', NO_CAPS);
  await reads;
  await rig.engine.moveVolume('v', 'q', true, {});
  await rig.reopen();
  assert.equal((await rig.engine.volume('v')).pool, 'q');
  await rig.engine.moveVolume('v', 'p', false, {});
  await assert.rejects(rig.readSnapshot('s', 0), { code: 'not-found' });
  assert.equal((await rig.read('v', MIB - BLOCK, 2)) + (await rig.read('v', 8 * MIB)), 'bam');
});

test('how long reads and writes took is counted by volume, over moves, and by pool', async (t) => {
  const rig = await twoPools(t);
  await rig.volume('v', 'p');
  await rig.write('v', 0, 'a');
  await rig.write('v', BLOCK, 'b');
  await rig.read('v', 0);
  const { latencies: before } = await rig.engine.volume('v');
  await rig.engine.moveVolume('v', 'q', true, {});
  await rig.read('v', 0);
  const { io, latencies } = await rig.engine.volume('v');
  const sum = (counts: readonly number[] = []) => counts.reduce((total, count) => total + count, 0);
  assert.deepEqual([sum(before?.reads), sum(before?.writes)], [1, 2]);
  assert.deepEqual([sum(latencies?.reads), sum(latencies?.writes)], [io.reads.count, io.writes.count]);
  assert.equal(latencies?.reads.length, latencies!.endsSeconds.length + 1);
  const pools = new Map((await rig.report()).pools.map((pool) => [pool.id, pool]));
  assert.equal(sum(pools.get('p')?.latencies?.writes), pools.get('p')?.io.writes.count);
  assert.equal(sum(pools.get('q')?.latencies?.reads), pools.get('q')?.io.reads.count);
});

test('a move stands still while it is paused, and leaves nothing when it is cancelled', async (t) => {
  const rig = await twoPools(t);
  await rig.volume('v', 'p');
  await rig.write('v', 0, 'a', 16 * MIB);
  await assert.rejects(rig.engine.pauseMove('v'), { code: 'conflict' });
  const stop = new AbortController();
  const progress: number[] = [];
  const moving = rig.engine.moveVolume('v', 'q', true, {
    signal: stop.signal,
    onProgress: ({ copiedBytes }) => {
      progress.push(copiedBytes);
      if (progress.length === 3) void rig.engine.pauseMove('v');
    },
  });
  moving.catch(() => undefined);
  while (progress.length < 3) await wait(5);
  // For what was under way, in turns: a moment in which the machine stands still is over in one.
  for (let turn = 0; turn < 20; turn++) await wait(5);
  const { length } = progress;
  const written = (await rig.report()).drives[2]?.io.writes.bytes;
  await wait(50);
  assert.deepEqual([progress.length, (await rig.report()).drives[2]?.io.writes.bytes], [length, written]);
  assert.ok(length < 6);
  await rig.engine.resumeMove('v');
  await wait(5);
  await rig.engine.pauseMove('v').catch(() => undefined);
  stop.abort();
  const end = await moving.then(
    () => 'moved',
    (error: unknown) => (error as { code: string }).code,
  );
  assert.ok(end === 'cancelled' || end === 'moved');
  if (end === 'cancelled') assert.equal((await rig.engine.volume('v')).pool, 'p');
  assert.equal(await rig.read('v', 0), 'a');
});

test('a move that its engine does not live to see ends as interrupted, and the volume is where it was', async (t) => {
  const rig = await twoPools(t);
  await rig.volume('v', 'p');
  await rig.write('v', 0, 'a', 16 * MIB);
  const moving = rig.engine.moveVolume('v', 'q', true, { onProgress: () => void rig.engine.pauseMove('v') });
  moving.catch(() => undefined);
  await wait(50);
  const reopened = rig.reopen();
  await assert.rejects(moving, { name: 'EngineError', code: 'interrupted' });
  await reopened;
  assert.equal((await rig.engine.volume('v')).pool, 'p');
  assert.equal(await rig.read('v', 15 * MIB), 'a');
  await rig.poolIsEmpty('q');
});

test('a hold goes along when the volume moves', async (t) => {
  const rig = await twoPools(t);
  await rig.volume('v', 'p');
  await rig.write('v', 0, 'a');
  await rig.engine.holdWrites(['v'], 60_000);
  const before = rig.write('v', 0, 'b');
  await rig.engine.moveVolume('v', 'q', true, {});
  const after = rig.write('v', BLOCK, 'c');
  assert.equal(await isDone(Promise.any([before, after])), false);
  await rig.engine.releaseWrites(['v']);
  await Promise.all([before, after]);
  assert.equal(await rig.read('v', 0, 2), 'bc');
});
