import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Checker, type Lun } from '@granary/protocols/iscsi/testing';
import { awakeMs } from '../../../testing/timing.ts';
import { CRASH, HANG } from './testing/break-at-will.ts';
import { insist, server, servedVolume, VOLUME, VOLUME_BYTES, type ServedVolume } from './testing/served-volume.ts';
import { partOf } from '../parts.ts';

const SECTORS = VOLUME_BYTES / 512;
const RETURN_MS_MAX = 10_000;
const PATIENCE_MS = 60_000;
const LOAD = { depth: 8, transferBytesMax: 128 * 1024, flushPercent: 5 };

async function underLoad(served: ServedVolume) {
  await served.engine.putServer(server());
  const reconnect = async () => {
    let back: Lun | undefined;
    const awayMs = await awakeMs(async () => (back = await insist(() => served.open(), PATIENCE_MS)));
    assert.ok(back && awayMs < RETURN_MS_MAX, `${awayMs} ms`);
    return back;
  };
  const lun = await served.open();
  return {
    checker: new Checker(lun, { seed: 11, sectors: SECTORS, unmap: true, reconnect }),
    plain: new Checker(lun, { seed: 12, sectors: SECTORS, unmap: true }),
  };
}

const activeOf = async ({ engine }: ServedVolume) =>
  (await engine.report(0)).controllers.find(({ state }) => state === 'active')?.name;

test('servers go on reading and writing through failovers that are asked for, and find every byte', async (t) => {
  const served = await servedVolume(t);
  const { checker } = await underLoad(served);
  let [rounds, isOver] = [0, false];
  const load = (async () => {
    for (; !isOver; rounds += 1) await checker.run({ ...LOAD, operations: 100 });
  })();
  const sessions = () => served.events.filter(({ type }) => type === 'session-opened').length;
  /** Not before the server is back, and has read and written for a whole round. */
  const underLoadAgain = async (turn: number) => {
    await insist(async () => assert.equal(sessions(), turn + 1), PATIENCE_MS);
    const before = rounds;
    await insist(async () => assert.ok(rounds >= before + 2), PATIENCE_MS);
  };
  const names: (string | undefined)[] = [];
  for (let turn = 0; turn < 3; turn++) {
    await underLoadAgain(turn);
    await insist(() => partOf(served.engine, 'controllers').failover(), PATIENCE_MS);
    names.push(await activeOf(served));
  }
  await underLoadAgain(3);
  isOver = true;
  await load;
  assert.deepEqual(names, ['vsa-00000001-vc-1', 'vsa-00000001-vc-0', 'vsa-00000001-vc-1']);
  await checker.verifyAll();
  assert.equal(sessions(), 4, 'one session, and one more after each failover');
});

for (const how of [CRASH, HANG]) {
  // What was answered but not flushed may be lost with a controller, as with any disk that has a volatile write cache.
  test(`when the active controller comes to a ${how}, the other serves within ten seconds and nothing flushed is lost`, async (t) => {
    const served = await servedVolume(t);
    const { plain: checker } = await underLoad(served);
    await checker.run({ ...LOAD, operations: 200 });
    const load = assert.rejects(checker.run({ ...LOAD, seconds: 30 }));
    await sleep(300);
    void served.engine.pauseMove(how).catch(() => undefined);
    let lun: Lun | undefined;
    const brokenMs = await awakeMs(async () => {
      if (how === CRASH) await load;
      await insist(async () => assert.notEqual(await activeOf(served), 'vsa-00000001-vc-0'), PATIENCE_MS);
      lun = await insist(() => served.open(), PATIENCE_MS);
      await lun.read(0, 1);
    });
    assert.ok(lun && brokenMs < RETURN_MS_MAX, `${brokenMs} ms`);
    await load;
    checker.attach(lun);
    await checker.verifyAfterCrash();
    await checker.run({ ...LOAD, operations: 100 });
    await checker.verifyAll();
    assert.ok(served.events.some((event) => event.type === 'controller-failed'));
    await insist(async () => {
      const { controllers } = await served.engine.report(0);
      assert.deepEqual(controllers.map(({ state }) => state).sort(), ['active', 'standby']);
    }, PATIENCE_MS);
  });
}

test('what the engine does not keep is told to the controller that takes over', async (t) => {
  const served = await servedVolume(t);
  const { engine } = served;
  await engine.putServer(server());
  await engine.setCaps(VOLUME, { readIops: 0, readBytesPerSecond: 0, writeIops: 20, writeBytesPerSecond: 0 });
  await partOf(engine, 'controllers').failover();
  const lun = await served.open();
  const startedMs = performance.now();
  for (let write = 0; write < 40; write++) await lun.write(write, Buffer.alloc(512, write));
  assert.ok(performance.now() - startedMs > 300, 'the cap holds');
});

test('a controller that writes are held in is not left', async (t) => {
  const { engine } = await servedVolume(t);
  await engine.holdWrites([VOLUME], 60_000);
  await assert.rejects(partOf(engine, 'controllers').failover(), { code: 'conflict' });
  await engine.releaseWrites([VOLUME]);
  await partOf(engine, 'controllers').failover();
});

test('a flush does not vouch for writes that went down with a controller', async (t) => {
  const served = await servedVolume(t);
  const { engine } = served;
  const bytes = new Uint8Array(4096).fill(7);
  await engine.writeVolume(VOLUME, 0, bytes);
  assert.equal(bytes.length, 4096, 'the caller keeps its bytes');
  void engine.pauseMove(CRASH).catch(() => undefined);
  await insist(async () => assert.equal(await activeOf(served), 'vsa-00000001-vc-1'), PATIENCE_MS);
  await assert.rejects(engine.flushVolume(VOLUME), { code: 'interrupted' });
  await engine.writeVolume(VOLUME, 0, bytes);
  await engine.flushVolume(VOLUME);
});
