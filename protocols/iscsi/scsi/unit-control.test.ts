import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { RamDevice } from '../testing/ram-device.ts';
import { OPERATIONS } from './operations.ts';
import { usageMap } from './identity/report-opcodes.ts';
import { Attention, Sense, encodeSense } from './sense.ts';
import { UNIT_BYTES, fakePair, run } from './testing/fake-session.ts';
import { decodeLun, encodeLun } from './unit-control.ts';

test('unit attentions come one by one, before anything is done', async () => {
  const { one } = fakePair();
  one.attachment.raise(Attention.powerOn);
  one.attachment.raise(Attention.capacityChanged);
  one.attachment.raise(Attention.capacityChanged);
  assert.equal((await one.send('12 00 00 00 ff')).status, 0, 'INQUIRY does not care');
  assert.equal(run(await one.send('00')), '6/29/00');
  assert.equal(run(await one.send('28 00 00 00 00 00 00 00 01')), '6/2a/09');
  assert.equal(run(await one.send('00')), 'good');
});

test('REQUEST SENSE takes a unit attention away and tells it', async () => {
  const { one } = fakePair();
  one.attachment.raise(Attention.reset);
  const fixed = (await one.send('03 00 00 00 ff')).data!;
  assert.deepEqual([fixed[2], fixed[12], fixed[13]], [6, 0x29, 0x03]);
  const none = (await one.send('03 01 00 00 ff')).data!;
  assert.deepEqual([none[0], none[1]], [0x72, 0]);
  assert.equal(run(await one.send('00')), 'good');
});

test('REPORT LUNS tells what the initiator sees and takes that attention away', async () => {
  const { one } = fakePair();
  one.attachment.raise(Attention.reportedLunsChanged);
  const { data } = await one.send('a0 00 00 00 00 00 00 00 10 00');
  assert.equal(data!.readUInt32BE(0), 24);
  assert.deepEqual(
    [8, 16, 24].map((at) => decodeLun(data!, at)),
    [0, 3, 300],
  );
  assert.equal(run(await one.send('00')), 'good');
  assert.equal((await one.send('a0 00 01 00 00 00 00 00 10 00')).data!.readUInt32BE(0), 0);
  assert.equal(run(await one.send('a0 00 09 00 00 00 00 00 10 00')), '5/24/00');
});

test('LUNs come out of their field as they went in', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 0x3fff }), (lun) => {
      const field = Buffer.alloc(8);
      encodeLun(lun, field, 0);
      assert.equal(decodeLun(field, 0), lun);
    }),
  );
  assert.equal(decodeLun(Buffer.from('c101000000000000', 'hex'), 0), -1);
  assert.equal(decodeLun(Buffer.from('0001000100000000', 'hex'), 0), -1);
});

test('a stopped unit has everything on its medium', async () => {
  const device = new RamDevice(UNIT_BYTES);
  const { one } = fakePair({ device });
  await one.send('1b 00 00 00 01');
  assert.equal(device.flushes, 0);
  await one.send('1b 00 00 00 00');
  assert.equal(device.flushes, 1);
  assert.equal(run(await one.send('1b 00 00 00 02')), '5/24/00', 'there is nothing to eject');
});

test('the small ones answer', async () => {
  const { one } = fakePair();
  for (const cdb of ['00', '1e 00 00 00 01', '1d 04', '37 00 0d 00 00 00 00 00 08', 'b7 0d 00 00 00 00 00 00 00 08']) {
    assert.equal(run(await one.send(cdb)), 'good', cdb);
  }
  assert.equal(run(await one.send('1d 00')), '5/24/00');
  assert.equal(run(await one.send('ff')), '5/20/00');
  assert.equal(run(await one.send('9e 1f')), '5/24/00');
});

test('RESERVE(6) keeps others out until RELEASE, a reset or the end of the session', async () => {
  const { one, other, unit } = fakePair();
  assert.equal(run(await one.send('16')), 'good');
  assert.equal(run(await one.send('16')), 'good');
  for (const cdb of ['16', '56', '00', '28 00 00 00 00 00 00 00 01', '5e 00 00 00 00 00 00 00 ff']) {
    assert.equal(run(await other.send(cdb)), 'conflict', cdb);
  }
  assert.equal(run(await other.send('17')), 'good');
  assert.equal(run(await other.send('12 00 00 00 ff')), 'good');
  assert.equal(run(await other.send('00')), 'conflict');
  assert.equal(run(await one.send('57')), 'good');
  assert.equal(run(await other.send('16')), 'good');
  await unit.reset();
  assert.equal(run(await one.send('00')), '6/29/03');
  assert.equal(run(await one.send('16')), 'good');
  unit.detach(one.attachment);
  other.attachment.attentions.length = 0;
  assert.equal(run(await other.send('16')), 'good');
});

test('REPORT SUPPORTED OPERATION CODES lists what is dispatched, each with a map of its CDB', async () => {
  const { one } = fakePair();
  const all = (await one.send('a3 0c 00 00 00 00 00 00 ff ff')).data!;
  assert.equal(all.readUInt32BE(0), OPERATIONS.length * 8);
  for (const operation of OPERATIONS) {
    const map = usageMap(operation);
    const lengths: Record<number, number> = { 0: 6, 1: 10, 2: 10, 4: 16, 5: 12 };
    assert.equal(map.length, lengths[operation.opcode >> 5], `length of ${operation.opcode.toString(16)}`);
    const action = operation.serviceAction;
    const cdb = Buffer.from(`a30c${action === undefined ? '01' : '02'}000000000000ff`.padEnd(24, '0'), 'hex');
    cdb[3] = operation.opcode;
    cdb.writeUInt16BE(action ?? 0, 4);
    const { data } = await one.send(cdb);
    assert.equal(data![1], 3);
    assert.deepEqual(data!.subarray(4), map);
    assert.equal(map[0], operation.opcode);
  }
  const timeouts = (await one.send('a3 0c 80 00 00 00 00 00 ff ff')).data!;
  assert.equal(timeouts.readUInt32BE(0), OPERATIONS.length * 20);
  assert.equal((await one.send('a3 0c 01 ff 00 00 00 00 ff ff')).data![1], 1, 'not supported');
  assert.equal(run(await one.send('a3 0c 01 9e 00 00 00 00 ff ff')), '5/24/00');
  assert.equal(run(await one.send('a3 0c 02 28 00 00 00 00 ff ff')), '5/24/00');
});

test('sense is written in both formats', () => {
  const sense = { ...Sense.miscompare, information: 0x1234 };
  const fixed = encodeSense(sense);
  assert.deepEqual([fixed[0], fixed[2], fixed.readUInt32BE(3), fixed[12]], [0xf0, 0xe, 0x1234, 0x1d]);
  const descriptors = encodeSense(sense, true);
  assert.deepEqual([descriptors[0], descriptors[1], descriptors[7]], [0x72, 0xe, 12]);
  assert.equal(Number(descriptors.readBigUInt64BE(12)), 0x1234);
  assert.equal(encodeSense({ ...sense, information: 2 ** 40 })[0], 0x70, 'too large for 32 bits');
});
