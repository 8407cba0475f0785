import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { BlockDevice } from '@granary/storage';
import { RamDevice } from '../../testing/ram-device.ts';
import { SECTORS, UNIT_BYTES, fakePair, run } from '../testing/fake-session.ts';

/** A device that takes a turn for everything, so that commands get in each other's way. */
function slowDevice(): BlockDevice {
  const inner = new RamDevice(UNIT_BYTES);
  return {
    sizeBytes: UNIT_BYTES,
    readOnly: false,
    read: (offset, into) => turn().then(() => inner.read(offset, into)),
    write: (offset, from) => turn().then(() => inner.write(offset, from)),
    flush: () => inner.flush(),
    discard: (offset, length) => inner.discard(offset, length),
    mapped: (offset, length) => inner.mapped(offset, length),
  };
}

function compareAndWrite(expected: number, next: number): [string, Buffer] {
  return ['89 00 00 00 00 00 00 00 00 00 00 00 00 01', Buffer.concat([SECTORS.of(expected), SECTORS.of(next)])];
}

test('the block changes when it is what was expected, and only then', async () => {
  const { one } = fakePair();
  assert.equal(run(await one.send(...compareAndWrite(0, 1))), 'good');
  const outcome = await one.send(...compareAndWrite(0, 2));
  assert.equal(run(outcome), 'e/1d/00');
  assert.equal(outcome.sense?.information, 0);
  assert.deepEqual((await one.send('28 00 00 00 00 00 00 00 01')).data, SECTORS.of(1));
});

test('of many who try at the same time one wins', async () => {
  const { one, other } = fakePair({ device: slowDevice() });
  const outcomes = await Promise.all(
    Array.from({ length: 20 }, (_, index) => (index % 2 ? one : other).send(...compareAndWrite(0, index + 1))),
  );
  assert.equal(outcomes.filter(({ status }) => status === 0).length, 1);
  const winner = outcomes.findIndex(({ status }) => status === 0);
  assert.deepEqual((await one.send('28 00 00 00 00 00 00 00 01')).data, SECTORS.of(winner + 1));
});

test('a counter that is only raised by compare and write loses nothing, plain writes elsewhere or not', async () => {
  const { one, other } = fakePair({ device: slowDevice() });
  const raise = async (session: typeof one) => {
    for (let tries = 0; tries < 200; tries++) {
      const { data } = await session.send('28 00 00 00 00 00 00 00 01');
      const now = data![0]!;
      if (run(await session.send(...compareAndWrite(now, now + 1))) === 'good') return;
    }
    assert.fail('never got a turn');
  };
  const noise = Array.from({ length: 10 }, () => one.send('2a 00 00 00 00 01 00 00 01', SECTORS.of(9)));
  await Promise.all([...Array.from({ length: 10 }, (_, index) => raise(index % 2 ? one : other)), ...noise]);
  assert.deepEqual((await one.send('28 00 00 00 00 00 00 00 01')).data, SECTORS.of(10));
});

test('data of another size than the CDB says is refused', async () => {
  const { one } = fakePair();
  const [cdb] = compareAndWrite(0, 1);
  assert.equal(run(await one.send(cdb, SECTORS.of(0, 1))), '5/24/00');
  assert.equal(run(await one.send(cdb, SECTORS.of(0, 4))), '5/24/00');
  assert.equal(run(await one.send('89 00')), 'good', 'nothing to compare and nothing sent');
});

test('ORWRITE sets bits and clears none', async () => {
  const { one } = fakePair();
  await one.send('2a 00 00 00 00 00 00 00 01', SECTORS.of(0x0f));
  const cdb = '8b 00 00 00 00 00 00 00 00 00 00 00 00 01';
  assert.equal(run(await one.send(cdb, SECTORS.of(0x31))), 'good');
  assert.deepEqual((await one.send('28 00 00 00 00 00 00 00 01')).data, SECTORS.of(0x3f));
});
