import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Checker, WrongDataError } from './checker.ts';
import type { Lun } from './lun.ts';
import { RamDevice } from './ram-device.ts';

const SECTORS = 4096;

/** A unit in memory that can lose, misplace or forget. */
function makeUnit() {
  const device = new RamDevice(SECTORS * 512);
  const durable = new RamDevice(SECTORS * 512);
  const copyAll = (from: RamDevice, to: RamDevice) => {
    const all = Buffer.alloc(SECTORS * 512);
    from.read(0, all);
    to.write(0, all);
  };
  const faults = { ignoreWrites: false, shiftWrites: 0 };
  const unit = {
    blockBytes: 512,
    async read(lba: number, _: number, into: Buffer) {
      device.read(lba * 512, into);
      return into;
    },
    async write(lba: number, data: Buffer, { fua = false } = {}) {
      if (faults.ignoreWrites) return;
      device.write((lba + faults.shiftWrites) * 512, data);
      if (fua) durable.write(lba * 512, data);
    },
    async unmap(ranges: readonly { lba: number; blocks: number }[]) {
      for (const { lba, blocks } of ranges) device.discard(lba * 512, blocks * 512);
    },
    async synchronizeCache() {
      copyAll(device, durable);
    },
  };
  return { lun: unit as unknown as Lun, device, faults, crash: () => copyAll(durable, device) };
}

test('a unit that keeps what it is given passes, and the same seed does the same again', async () => {
  const runs = [];
  for (let round = 0; round < 2; round += 1) {
    const { lun } = makeUnit();
    const checker = new Checker(lun, { seed: 5, sectors: SECTORS, unmap: true });
    runs.push(await checker.run({ operations: 1000, depth: 8 }));
    await checker.verifyAll();
  }
  assert.deepEqual(runs[0], runs[1]);
  assert.ok(runs[0]!.unmaps > 0 && runs[0]!.flushes > 0);
});

test('a write that was lost is found, with the sector, what it must hold and what it holds', async () => {
  const { lun, faults } = makeUnit();
  const checker = new Checker(lun, { seed: 5, sectors: SECTORS });
  await checker.run({ operations: 200 });
  faults.ignoreWrites = true;
  await assert.rejects(checker.run({ operations: 500 }), (error) => {
    assert.ok(error instanceof WrongDataError);
    assert.match(
      error.message,
      /^Sector \d+ must hold generation \d+, but holds (zeros|generation \d+ of sector \d+)$/,
    );
    return true;
  });
});

test('a write that went to the wrong place is found', async () => {
  const { lun, faults } = makeUnit();
  const checker = new Checker(lun, { seed: 6, sectors: SECTORS - 1 });
  faults.shiftWrites = 1;
  await assert.rejects(checker.run({ operations: 500 }), WrongDataError);
});

test('a single flipped bit is found', async () => {
  const { lun, device } = makeUnit();
  const checker = new Checker(lun, { seed: 7, sectors: SECTORS });
  await checker.run({ operations: 300 });
  const sector = Buffer.alloc(512);
  device.read(1000 * 512, sector);
  sector[300]! ^= 4;
  device.write(1000 * 512, sector);
  await assert.rejects(checker.verifyAll(), (error) => error instanceof WrongDataError && error.lba === 1000);
});

test('after a crash, unflushed writes may be gone but flushed ones may not', async () => {
  const { lun, crash, device } = makeUnit();
  const checker = new Checker(lun, { seed: 8, sectors: SECTORS, unmap: true });
  await checker.run({ operations: 400 });
  await checker.flush();
  await checker.run({ operations: 100, flushPercent: 0 });
  crash();
  await checker.verifyAfterCrash();
  await checker.run({ operations: 200 });
  await checker.verifyAll();
  await checker.flush();
  device.discard(0, device.sizeBytes);
  await assert.rejects(checker.verifyAfterCrash(), WrongDataError);
});

test('a unit of unknown content is checked where it was written', async () => {
  const { lun, device } = makeUnit();
  device.write(0, Buffer.alloc(SECTORS * 512, 1));
  await assert.rejects(new Checker(lun, { seed: 9, sectors: SECTORS }).verifyAll(), WrongDataError);
  const checker = new Checker(lun, { seed: 9, sectors: SECTORS, initial: 'unknown' });
  await checker.run({ operations: 300 });
  await checker.verifyAll();
});
