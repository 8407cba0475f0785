import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SECTORS, fakePair, run } from '../testing/fake-session.ts';

/** MODE SELECT(6) of the control page. */
function controlPage(change: (page: Buffer) => void): Buffer {
  const list = Buffer.from('00000000 0a0a00100040000000000000'.replaceAll(' ', ''), 'hex');
  change(list.subarray(4));
  return list;
}

const SELECT = '15 10 00 00 10';

test('the pages are there one by one and all at once', async () => {
  const { one } = fakePair();
  const all = (await one.send('1a 08 3f 00 ff')).data!;
  assert.equal(all.length, all[0]! + 1);
  const codes: number[] = [];
  for (let at = 4; at < all.length; at += 2 + all[at + 1]!) codes.push(all[at]!);
  assert.deepEqual(codes, [0x01, 0x08, 0x0a, 0x1c]);
  for (const code of codes) assert.equal((await one.send(Buffer.of(0x1a, 8, code, 0, 255, 0))).data![4], code);
  assert.equal(run(await one.send('1a 08 05 00 ff')), '5/24/00');
  assert.equal(run(await one.send('1a 08 ca 00 ff')), '5/39/00', 'saved pages');
});

test('the cache is on, and FUA is there to get around it', async () => {
  const { one } = fakePair();
  const { data } = await one.send('1a 08 08 00 ff');
  assert.equal(data![4 + 2]! & 0x04, 0x04);
  assert.equal(data![2], 0x10);
});

test('the block descriptor tells the size, long or short', async () => {
  const { one, unit } = fakePair();
  const six = (await one.send('1a 00 0a 00 ff')).data!;
  assert.deepEqual([six[3], six.readUInt32BE(4), six.readUIntBE(9, 3)], [8, unit.blocks, 512]);
  const ten = (await one.send('5a 10 0a 00 00 00 00 00 ff')).data!;
  assert.deepEqual([ten.readUInt16BE(6), Number(ten.readBigUInt64BE(8)), ten.readUInt32BE(20)], [16, unit.blocks, 512]);
  assert.equal(ten.length, ten.readUInt16BE(0) + 2);
});

test('software write protection can be switched on and off, and others are notified', async () => {
  const { one, other } = fakePair();
  const on = controlPage((page) => (page[4] = 0x08));
  assert.equal(run(await one.send(SELECT, on)), 'good');
  assert.equal(run(await one.send('2a 00 00 00 00 00 00 00 01', SECTORS.of(1))), '7/27/02');
  assert.equal((await one.send('1a 08 0a 00 ff')).data![2]! & 0x80, 0x80);
  assert.equal(run(await other.send('00')), '6/2a/01');
  assert.equal(run(await other.send('00')), 'good');
  assert.equal(
    run(
      await one.send(
        SELECT,
        controlPage(() => undefined),
      ),
    ),
    'good',
  );
  assert.equal(run(await one.send('2a 00 00 00 00 00 00 00 01', SECTORS.of(1))), 'good');
});

test('sense in descriptors can be switched on', async () => {
  const { one, unit } = fakePair();
  await one.send(
    SELECT,
    controlPage((page) => (page[2] = 0x04)),
  );
  assert.equal(unit.descriptorSense, true);
});

test('what cannot be changed is not changed, and nothing else with it', async () => {
  const { one, unit } = fakePair();
  const mixed = controlPage((page) => {
    page[4] = 0x08;
    page[5] = 0;
  });
  assert.equal(run(await one.send(SELECT, mixed)), '5/26/00');
  assert.equal(unit.softwareWriteProtected, false);
  assert.equal(
    run(
      await one.send(
        '15 11 00 00 10',
        controlPage(() => undefined),
      ),
    ),
    '5/24/00',
    'saving',
  );
  assert.equal(
    run(
      await one.send(
        '15 10 00 00 08',
        controlPage(() => undefined),
      ),
    ),
    '5/1a/00',
    'half a page',
  );
  assert.equal(run(await one.send('15 10 00 00 02', Buffer.alloc(2))), '5/1a/00', 'half a header');
});
