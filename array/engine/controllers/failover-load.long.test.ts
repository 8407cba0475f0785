import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Checker, type Lun } from '@granary/protocols/iscsi/testing';
import { awakeMs } from '../../../testing/timing.ts';
import { CRASH, HANG } from './testing/break-at-will.ts';
import { insist, server, servedVolume, VOLUME_BYTES, type ServedVolume } from './testing/served-volume.ts';
import { partOf } from '../parts.ts';

const SECTORS = VOLUME_BYTES / 512;
/** Without the time in which the whole process did not run. */
const RETURN_MS_MAX = 30_000;
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
  test(`when the active controller comes to a ${how}, the other serves within half a minute and nothing flushed is lost`, async (t) => {
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
