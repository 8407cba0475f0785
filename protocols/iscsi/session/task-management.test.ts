import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../../testing/waiting.ts';
import { AbortedError, taskManagement } from '../testing/index.ts';
import { GatedDevice, UNIT_BYTES, serve } from './testing/serve.ts';

const READ = Buffer.from('28000000000000000100', 'hex');
const TASK_ABORTED = 0x40;
const NO_SUCH_TASK = 1;
const NO_SUCH_UNIT = 2;
const NOT_SUPPORTED = 5;

test('ABORT TASK ends one command, and answers when the device is done with it', async (context) => {
  const device = new GatedDevice(UNIT_BYTES);
  const { open } = await serve(context, { device });
  const { lun, session } = await open();
  const doomed = lun.begin(READ, { expectIn: 512 });
  const kept = lun.begin(READ, { expectIn: 512 });
  const ended = assert.rejects(doomed.done, AbortedError);
  await until(() => device.waiting === 2, 'both are at the device');
  let answered = false;
  const abort = lun.abortTask(doomed.tag).then((response) => {
    answered = true;
    return response;
  });
  await session.ping();
  assert.equal(answered, false);
  device.openUp();
  assert.equal(await abort, 0);
  await ended;
  assert.equal((await kept.done).status, 0);
  assert.equal(await lun.abortTask(doomed.tag), NO_SUCH_TASK);
});

test('ABORT TASK SET and CLEAR TASK SET end all commands of the unit', async (context) => {
  for (const action of [taskManagement.abortTaskSet, taskManagement.clearTaskSet]) {
    const device = new GatedDevice(UNIT_BYTES);
    const { open } = await serve(context, { device });
    const { lun, session } = await open();
    const doomed = [1, 2, 3].map(() => assert.rejects(lun.execute(READ, { expectIn: 512 }), AbortedError));
    await until(() => device.waiting === 3, 'all are at the device');
    const response = session.manage(action, 0);
    await session.ping();
    device.openUp();
    assert.equal(await response, 0);
    await Promise.all(doomed);
    await lun.testUnitReady();
  }
});

test('a reset ends the commands of others with TASK ABORTED, and all initiators get a unit attention', async (context) => {
  const device = new GatedDevice(UNIT_BYTES);
  const { open } = await serve(context, { device });
  const one = await open({ initiatorName: 'iqn.2026-01.com.example:one' });
  const other = await open({ initiatorName: 'iqn.2026-01.com.example:other' });
  const theirs = other.lun.execute(READ, { expectIn: 512 });
  await until(() => device.waiting === 1, 'it is at the device');
  const response = one.lun.reset();
  await one.session.ping();
  device.openUp();
  assert.equal(await response, 0);
  assert.equal((await theirs).status, TASK_ABORTED);
  for (const { lun } of [one, other]) {
    const seen = await lun.clearUnitAttentions();
    assert.deepEqual(
      seen.map(({ asc, ascq }) => [asc, ascq]),
      [[0x29, 0x03]],
    );
  }
});

test('a command that waits for its data is ended at once, and data that still comes is thrown away', async (context) => {
  const { open } = await serve(context);
  const one = await open({ initiatorName: 'iqn.2026-01.com.example:one', keys: { MaxBurstLength: '4096' } });
  const other = await open({ initiatorName: 'iqn.2026-01.com.example:other' });
  const writes = Array.from({ length: 30 }, () =>
    one.lun.execute(Buffer.from('2a000000000000010000', 'hex'), { dataOut: Buffer.alloc(128 * 1024, 1) }),
  );
  const resets = Array.from({ length: 5 }, () => other.lun.reset());
  assert.deepEqual(await Promise.all(resets), [0, 0, 0, 0, 0]);
  const statuses = new Set((await Promise.all(writes)).map(({ status }) => status));
  for (const status of statuses) assert.ok([0, 2, TASK_ABORTED].includes(status), `status ${status}`);
  await one.lun.clearUnitAttentions();
  await one.lun.write(0, Buffer.alloc(512, 2));
});

test('a warm reset reaches every unit, a cold one ends the sessions as well', async (context) => {
  const { open, target } = await serve(context);
  const { session, lun } = await open();
  assert.equal(await session.manage(taskManagement.targetWarmReset, 0), 0);
  assert.equal((await lun.clearUnitAttentions()).length, 1);
  assert.equal(await session.manage(taskManagement.targetColdReset, 0), 0);
  await until(() => !session.isOpen, 'the session is gone');
  await until(() => target.sessions().length === 0, 'the target knows');
  await open();
});

test('what does not exist is said not to', async (context) => {
  const { open } = await serve(context);
  const { session } = await open();
  assert.equal(await session.manage(taskManagement.logicalUnitReset, 9), NO_SUCH_UNIT);
  assert.equal(await session.manage(taskManagement.clearAca, 0), NOT_SUPPORTED);
});
