import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StorageError, type BlockDevice, type StorageErrorCode } from '@granary/storage';
import { turns } from '../../../../testing/turns.ts';
import { RamDevice } from '../../testing/ram-device.ts';
import { FakeSession, SECTORS, UNIT_BLOCKS, UNIT_BYTES, fakePair, fakeUnit, run } from '../testing/fake-session.ts';

const OUT_OF_RANGE = '5/21/00';
const INVALID_FIELD = '5/24/00';

/** READ and WRITE of `blocks` blocks at `lba` in each of their four forms. */
function forms(opcodes: [number, number, number, number], lba: number, blocks: number): Buffer[] {
  const six = Buffer.alloc(6);
  six[0] = opcodes[0];
  six.writeUIntBE(lba, 1, 3);
  six[4] = blocks;
  const ten = Buffer.alloc(10);
  ten[0] = opcodes[1];
  ten.writeUInt32BE(lba, 2);
  ten.writeUInt16BE(blocks, 7);
  const twelve = Buffer.alloc(12);
  twelve[0] = opcodes[2];
  twelve.writeUInt32BE(lba, 2);
  twelve.writeUInt32BE(blocks, 6);
  const sixteen = Buffer.alloc(16);
  sixteen[0] = opcodes[3];
  sixteen.writeBigUInt64BE(BigInt(lba), 2);
  sixteen.writeUInt32BE(blocks, 10);
  return [six, ten, twelve, sixteen];
}

const READS: [number, number, number, number] = [0x08, 0x28, 0xa8, 0x88];
const WRITES: [number, number, number, number] = [0x0a, 0x2a, 0xaa, 0x8a];

test('what one form of WRITE wrote every form of READ reads', async () => {
  const { one, other } = fakePair();
  for (const [index, write] of forms(WRITES, 20, 2).entries()) {
    const data = SECTORS.of(index + 1, 2);
    assert.equal(run(await one.send(write, data)), 'good');
    for (const read of forms(READS, 20, 2)) assert.deepEqual((await other.send(read)).data, data);
  }
});

test('the last block can be reached and the next not, at any length', async () => {
  const { one } = fakePair();
  for (const read of forms(READS, UNIT_BLOCKS - 1, 1)) assert.equal(run(await one.send(read)), 'good');
  for (const read of forms(READS, UNIT_BLOCKS - 1, 2)) assert.equal(run(await one.send(read)), OUT_OF_RANGE);
  for (const [opcodes, data] of [
    [READS, undefined],
    [WRITES, SECTORS.of(1)],
  ] as const) {
    for (const cdb of forms([...opcodes], UNIT_BLOCKS, 1)) assert.equal(run(await one.send(cdb, data)), OUT_OF_RANGE);
  }
  assert.equal(run(await one.send('88 00 ff ff ff ff ff ff ff ff 00 00 00 01')), OUT_OF_RANGE);
});

test('READ(6) of zero blocks reads 256', async () => {
  const { one } = fakePair();
  assert.equal((await one.send('08 00 00 00 00 00')).data?.length, 256 * 512);
});

test('more than one command may move is refused', async () => {
  const { one } = fakePair();
  assert.equal(run(await one.send('28 00 00 00 00 00 00 08 01')), INVALID_FIELD);
});

test('protection information is not offered, so asking for it is an error', async () => {
  const { one } = fakePair();
  for (const cdb of ['28 20', '88 20', '2a 20', '8a 20', '2e 20', '2f 20', '41 20', '89 20', '8b 20']) {
    assert.equal(run(await one.send(cdb, SECTORS.of(0))), INVALID_FIELD, cdb);
  }
});

test('FUA and SYNCHRONIZE CACHE flush, plain writes do not', async () => {
  const device = new RamDevice(UNIT_BYTES);
  const { one } = fakePair({ device });
  await one.send('2a 00 00 00 00 00 00 00 01', SECTORS.of(1));
  assert.equal(device.flushes, 0);
  await one.send('2a 08 00 00 00 00 00 00 01', SECTORS.of(1));
  assert.equal(device.flushes, 1);
  await one.send('35 00');
  await one.send('91 00');
  assert.equal(device.flushes, 3);
});

test('an initiator that sends less than it says writes only whole blocks it sent', async () => {
  const { one } = fakePair();
  await one.send('2a 00 00 00 00 00 00 00 02', SECTORS.of(1, 2));
  await one.send('2a 00 00 00 00 00 00 00 02', Buffer.alloc(700, 9));
  const { data } = await one.send('28 00 00 00 00 00 00 00 02');
  assert.deepEqual(data, Buffer.concat([SECTORS.of(9), SECTORS.of(1)]));
});

test('WRITE AND VERIFY writes, and VERIFY compares', async () => {
  const { one } = fakePair();
  for (const cdb of forms([0x0a, 0x2e, 0xae, 0x8e], 5, 1).slice(1)) {
    cdb[1] = 0x02;
    assert.equal(run(await one.send(cdb, SECTORS.of(cdb[0]!))), 'good');
    const read = await one.send('28 00 00 00 00 05 00 00 01');
    assert.deepEqual(read.data, SECTORS.of(cdb[0]!));
  }
  const same = SECTORS.of(0x8e);
  const different = Buffer.from(same).fill(0, 300);
  for (const cdb of forms([0x0a, 0x2f, 0xaf, 0x8f], 5, 1).slice(1)) {
    assert.equal(run(await one.send(cdb)), 'good');
    cdb[1] = 0x02;
    assert.equal(run(await one.send(cdb, same)), 'good');
    const outcome = await one.send(cdb, different);
    assert.equal(run(outcome), 'e/1d/00');
    assert.equal(outcome.sense?.information, 300);
    cdb[1] = 0x04;
    assert.equal(run(await one.send(cdb, same)), INVALID_FIELD);
  }
});

test('WRITE AND VERIFY reads back what it wrote, not what another wrote meanwhile', async () => {
  const device = new RamDevice(UNIT_BYTES);
  const flush = device.flush.bind(device);
  device.flush = async () => {
    await turns();
    await flush();
  };
  const { one, other } = fakePair({ device });
  const verified = one.send('2e 02 00 00 00 05 00 00 01', SECTORS.of(1));
  const written = other.send('2a 00 00 00 00 05 00 00 01', SECTORS.of(2));
  assert.deepEqual([run(await verified), run(await written)], ['good', 'good']);
  assert.deepEqual((await one.send('28 00 00 00 00 05 00 00 01')).data, SECTORS.of(2));
});

test('VERIFY can compare every block with one', async () => {
  const { one } = fakePair();
  await one.send('2a 00 00 00 00 00 00 00 03', SECTORS.of(7, 3));
  assert.equal(run(await one.send('2f 06 00 00 00 00 00 00 03', SECTORS.of(7))), 'good');
  assert.equal(run(await one.send('2f 06 00 00 00 00 00 00 04', SECTORS.of(7))), 'e/1d/00');
});

test('PRE-FETCH looks at its range', async () => {
  const { one } = fakePair();
  assert.equal(run(await one.send('34 00 00 00 00 00 00 00 08')), 'good');
  assert.equal(run(await one.send('90 00 00 00 00 00 00 01 00 00')), OUT_OF_RANGE);
});

test('nothing writes to what is read-only', async () => {
  const writes = ['2a', '0a', '8a', '2e', '41 08', '93 08', '42', '89', '8b'];
  for (const session of [
    new FakeSession(fakeUnit({ readOnly: true }), 'one'),
    new FakeSession(fakeUnit({ device: new RamDevice(UNIT_BYTES, { readOnly: true }) }), 'one'),
    new FakeSession(fakeUnit(), 'one', true),
  ]) {
    for (const cdb of writes) assert.equal(run(await session.send(cdb, SECTORS.of(0))), '7/27/00', cdb);
    assert.equal(run(await session.send('28 00 00 00 00 00 00 00 01')), 'good');
    const { data } = await session.send('1a 00 3f 00 ff');
    assert.equal(data![2]! & 0x80, 0x80, 'and MODE SENSE says so');
  }
});

test('failures of storage become SCSI sense data', async () => {
  const expected: Record<StorageErrorCode, string> = {
    unreadable: '3/11/00',
    'pool-full': '7/27/07',
    'no-space': '7/27/07',
    'read-only': '7/27/00',
    'drive-failed': '4/44/00',
    'group-failed': '4/44/00',
    invalid: '4/44/00',
    conflict: '2/04/03',
    closed: '2/04/03',
    cancelled: '2/04/03',
    locked: '2/04/03',
    'not-found': '2/04/03',
  };
  for (const [code, sense] of Object.entries(expected)) {
    const fail = () => Promise.reject(new StorageError(code as StorageErrorCode, 'x'));
    const failNow = () => {
      throw new StorageError(code as StorageErrorCode, 'x');
    };
    for (const write of [fail, failNow]) {
      const device: BlockDevice = { ...blank(), write, read: write };
      const { one } = fakePair({ device });
      assert.equal(run(await one.send('2a 00 00 00 00 00 00 00 01', SECTORS.of(1))), sense);
      assert.equal(run(await one.send('28 00 00 00 00 00 00 00 01')), sense);
      assert.equal(run(await one.send('89 00 00 00 00 00 00 00 00 00 00 00 00 01', SECTORS.of(0, 2))), sense);
    }
  }
  const { one } = fakePair({ device: { ...blank(), read: () => Promise.reject(new Error('surprise')) } });
  assert.equal(run(await one.send('28 00 00 00 00 00 00 00 01')), '4/44/00');
});

function blank(): BlockDevice {
  return {
    sizeBytes: UNIT_BYTES,
    readOnly: false,
    read: () => undefined,
    write: () => undefined,
    flush: () => Promise.resolve(),
    discard: () => undefined,
    mapped: () => [],
  };
}
