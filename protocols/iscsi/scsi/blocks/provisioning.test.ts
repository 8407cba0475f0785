import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BlockDevice } from '@granary/storage';
import { SECTORS, UNIT_BLOCKS, fakePair, run } from '../testing/fake-session.ts';

function unmapList(...ranges: [lba: number, blocks: number][]): Buffer {
  const list = Buffer.alloc(8 + 16 * ranges.length);
  list.writeUInt16BE(list.length - 2, 0);
  list.writeUInt16BE(16 * ranges.length, 2);
  for (const [index, [lba, blocks]] of ranges.entries()) {
    list.writeBigUInt64BE(BigInt(lba), 8 + 16 * index);
    list.writeUInt32BE(blocks, 16 + 16 * index);
  }
  return list;
}

function unmapCdb(length: number): Buffer {
  const cdb = Buffer.alloc(10);
  cdb[0] = 0x42;
  cdb.writeUInt16BE(length, 7);
  return cdb;
}

test('what is unmapped reads as zeros, and GET LBA STATUS says so', async () => {
  const { one } = fakePair();
  await one.send('2a 00 00 00 00 00 00 00 20', SECTORS.of(5, 32));
  const list = unmapList([8, 8], [16, 8]);
  assert.equal(run(await one.send(unmapCdb(list.length), list)), 'good');
  const { data } = await one.send('28 00 00 00 00 08 00 00 08');
  assert.deepEqual(data, SECTORS.of(0, 8));
  const status = (await one.send('9e 12 00 00 00 00 00 00 00 00 00 00 00 48')).data!;
  const parts = Array.from({ length: (status.length - 8) / 16 }, (_, index) => [
    Number(status.readBigUInt64BE(8 + 16 * index)),
    status.readUInt32BE(16 + 16 * index),
    status[20 + 16 * index],
  ]);
  assert.deepEqual(parts, [
    [0, 8, 0],
    [8, 16, 1],
    [24, 8, 0],
    [32, UNIT_BLOCKS - 32, 1],
  ]);
  assert.equal(status.readUInt32BE(0), status.length - 4);
});

test('UNMAP takes empty lists and refuses what it cannot do', async () => {
  const { one } = fakePair();
  assert.equal(run(await one.send(unmapCdb(0))), 'good');
  assert.equal(run(await one.send(unmapCdb(4), Buffer.alloc(4))), '5/1a/00');
  const nothing = unmapList([5, 0]);
  assert.equal(run(await one.send(unmapCdb(nothing.length), nothing)), 'good');
  const beyond = unmapList([UNIT_BLOCKS - 1, 2]);
  assert.equal(run(await one.send(unmapCdb(beyond.length), beyond)), '5/21/00');
  const many = unmapList(...Array.from({ length: 257 }, (): [number, number] => [0, 1]));
  assert.equal(run(await one.send(unmapCdb(many.length), many)), '5/26/00');
  assert.equal(run(await one.send('42 01')), '5/24/00', 'anchoring');
});

test('GET LBA STATUS asks the device for as much as a descriptor can count, and for no more runs than fit', async () => {
  const asked: [number, number | undefined][] = [];
  const device: BlockDevice = {
    sizeBytes: 2 ** 43,
    readOnly: false,
    read: () => undefined,
    write: () => undefined,
    flush: () => Promise.resolve(),
    discard: () => undefined,
    mapped(_, length, runsMax) {
      asked.push([length, runsMax]);
      return [{ length, mapped: false }];
    },
  };
  const { one } = fakePair({ device });
  const { data } = await one.send('9e 12 00 00 00 00 00 00 00 08 00 00 10 00');
  assert.equal(data?.readUInt32BE(16), 0xffff_fff8);
  await one.send('9e 12 00 00 00 03 00 00 00 00 00 00 00 18');
  assert.deepEqual(asked, [
    [0xffff_fff8 * 512, 255],
    [0xffff_fff8 * 512, 1],
  ]);
});

test('GET LBA STATUS beyond the end is refused', async () => {
  const { one } = fakePair();
  assert.equal(run(await one.send('9e 12 00 00 00 00 00 10 00 00 00 00 00 18')), '5/21/00');
});

test('WRITE SAME repeats one block', async () => {
  const { one } = fakePair();
  assert.equal(run(await one.send('41 00 00 00 00 02 00 00 05', SECTORS.of(3))), 'good');
  const { data } = await one.send('28 00 00 00 00 00 00 00 08');
  assert.deepEqual(data, Buffer.concat([SECTORS.of(0, 2), SECTORS.of(3, 5), SECTORS.of(0)]));
});

test('WRITE SAME gives space back when asked to and the block is zeros, or there is none', async () => {
  for (const [cdb, block] of [
    ['41 08 00 00 00 00 00 00 08', SECTORS.of(0)],
    ['93 08 00 00 00 00 00 00 00 00 00 00 00 08', SECTORS.of(0)],
    ['93 09 00 00 00 00 00 00 00 00 00 00 00 08', undefined],
  ] as const) {
    const { one, unit } = fakePair();
    await one.send('2a 00 00 00 00 00 00 00 08', SECTORS.of(5, 8));
    assert.equal(run(await one.send(cdb, block)), 'good');
    assert.equal(unit.device.mapped(0, 4096)[0]?.mapped, false);
  }
});

test('WRITE SAME with UNMAP writes a block that is not zeros', async () => {
  const { one } = fakePair();
  await one.send('41 08 00 00 00 00 00 00 08', SECTORS.of(6));
  assert.deepEqual((await one.send('28 00 00 00 00 00 00 00 08')).data, SECTORS.of(6, 8));
});

test('WRITE SAME that sends no block writes zeros', async () => {
  const { one } = fakePair();
  await one.send('2a 00 00 00 00 00 00 00 01', SECTORS.of(5));
  assert.equal(run(await one.send('93 01 00 00 00 00 00 00 00 00 00 00 00 01')), 'good');
  assert.deepEqual((await one.send('28 00 00 00 00 00 00 00 01')).data, SECTORS.of(0));
});

test('WRITE SAME wants a length, one block, and no anchor', async () => {
  const { one } = fakePair();
  assert.equal(run(await one.send('41 00', SECTORS.of(0))), '5/24/00');
  assert.equal(run(await one.send('41 00 00 00 00 00 00 00 01', SECTORS.of(0, 2))), '5/24/00');
  assert.equal(run(await one.send('41 00 00 00 00 00 00 00 01', Buffer.alloc(100))), '5/24/00');
  assert.equal(run(await one.send('41 18 00 00 00 00 00 00 01', SECTORS.of(0))), '5/24/00');
});
