import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UNIT_BLOCKS, fakePair, run } from '../testing/fake-session.ts';
import { answerWithoutUnit } from '../dispatch.ts';

test('a unit introduces itself', async () => {
  const { one } = fakePair({ vendor: 'ACME', product: 'Volume', revision: '2.0' });
  const { data } = await one.send('12 00 00 00 ff');
  assert.equal(data!.toString('latin1', 8, 36), 'ACME    Volume          2.0 ');
  assert.equal(data![0], 0);
  assert.equal(data![2], 6);
  assert.equal(data!.length, data![4]! + 5);
  assert.deepEqual(
    [0, 1, 2, 3].map((index) => data!.readUInt16BE(58 + 2 * index)),
    [0x00a0, 0x0960, 0x0460, 0x04c0],
  );
});

test('no more is sent than the initiator has room for', async () => {
  const { one } = fakePair();
  assert.equal((await one.send('12 00 00 00 05')).data?.length, 5);
  assert.equal((await one.send('12 01 83 00 06')).data?.length, 6);
});

test('every page that is listed can be read, and no other', async () => {
  const { one } = fakePair();
  const { data } = await one.send('12 01 00 00 ff');
  const listed = [...data!.subarray(4)];
  assert.deepEqual(listed, [0x00, 0x80, 0x83, 0x86, 0xb0, 0xb1, 0xb2]);
  for (let page = 0; page < 256; page++) {
    const cdb = Buffer.of(0x12, 1, page, 0x0f, 0xff, 0);
    const outcome = await one.send(cdb);
    assert.equal(run(outcome), listed.includes(page) ? 'good' : '5/24/00', `page ${page}`);
    if (outcome.data) assert.equal(outcome.data.readUInt16BE(2), outcome.data.length - 4);
  }
  assert.equal(run(await one.send('12 00 80 00 ff')), '5/24/00', 'a page without EVPD');
});

test('the identification names the unit, the port and the target', async () => {
  const { one } = fakePair({ serial: 'S1', naa: '6001405aaaaaaaaabbbbbbbbcccccccc' });
  const { data } = await one.send('12 01 83 02 ff');
  const found: string[] = [];
  for (let at = 4; at < data!.length;) {
    const length = data![at + 3]!;
    const value = data!.subarray(at + 4, at + 4 + length);
    const type = data![at + 1]! & 0x0f;
    found.push(
      `${(data![at + 1]! >> 4) & 3}:${type}:${type === 3 || type === 4 ? value.toString('hex') : value.toString()}`,
    );
    at += 4 + length;
  }
  assert.deepEqual(
    found.map((text) => text.replaceAll('\0', '')),
    [
      '0:3:6001405aaaaaaaaabbbbbbbbcccccccc',
      '0:1:GRANARY S1',
      '1:4:00000001',
      '1:8:iqn.2026-01.com.example:target,t,0x0001',
      '2:8:iqn.2026-01.com.example:target',
    ],
  );
  assert.equal((await one.send('12 01 80 00 ff')).data!.toString('latin1', 4), 'S1');
});

test('the limits that are reported are those that hold', async () => {
  const { one, unit } = fakePair();
  const { data } = await one.send('12 01 b0 00 ff');
  assert.equal(data!.length, 64);
  assert.equal(data!.readUInt32BE(8), unit.transferBlocksMax);
  assert.equal(data!.readUInt32BE(28), 512, 'extents of 256 KiB');
  assert.equal(data![5], 255, 'COMPARE AND WRITE');
  const provisioning = (await one.send('12 01 b2 00 ff')).data!;
  assert.deepEqual([...provisioning.subarray(4)], [0, 0xe4, 2, 0]);
});

test('the capacity is reported in both ways, with physical blocks of 4096 bytes', async () => {
  const { one } = fakePair();
  const ten = (await one.send('25 00')).data!;
  assert.deepEqual([ten.readUInt32BE(0), ten.readUInt32BE(4)], [UNIT_BLOCKS - 1, 512]);
  const sixteen = (await one.send('9e 10 00 00 00 00 00 00 00 00 00 00 00 20')).data!;
  assert.deepEqual([Number(sixteen.readBigUInt64BE(0)), sixteen.readUInt32BE(8)], [UNIT_BLOCKS - 1, 512]);
  assert.deepEqual([sixteen[13], sixteen[14]], [3, 0xc0]);
  assert.equal(run(await one.send('25 00 00 00 00 01')), '5/24/00');
});

test('units too large for READ CAPACITY(10) say so', async () => {
  const device = { ...fakePair().unit.device, sizeBytes: 2 ** 32 * 512 * 2 };
  const { one } = fakePair({ device });
  assert.equal((await one.send('25 00')).data!.readUInt32BE(0), 0xffffffff);
});

test('where there is no unit a few commands are answered all the same', () => {
  const { one } = fakePair();
  const cdb = (hex: string) => Buffer.concat([Buffer.from(hex.replaceAll(' ', ''), 'hex'), Buffer.alloc(16)]);
  assert.equal(answerWithoutUnit(cdb('12 00 00 00 ff'), one).data![0], 0x7f);
  assert.equal(run(answerWithoutUnit(cdb('12 01 83 00 ff'), one)), '5/24/00');
  assert.equal(answerWithoutUnit(cdb('a0 00 00 00 00 00 00 00 00 ff'), one).data!.readUInt32BE(0), 24);
  assert.equal(answerWithoutUnit(cdb('03 00 00 00 ff'), one).data![12], 0x25);
  assert.equal(run(answerWithoutUnit(cdb('00'), one)), '5/25/00');
});
