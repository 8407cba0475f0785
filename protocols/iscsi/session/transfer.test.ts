import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { allocate, release } from '@granary/storage';
import { until } from '../../../testing/waiting.ts';
import { turns } from '../../../testing/turns.ts';
import type { BufferSource } from '../buffers.ts';
import { RawClient, commandPdu, loginPdu } from './testing/raw-client.ts';
import { GatedDevice, UNIT_BYTES, serve } from './testing/serve.ts';

function pattern(bytes: number, seed: number): Buffer {
  const buffer = Buffer.alloc(bytes);
  for (let at = 0; at < bytes; at++) buffer[at] = (at * 31 + (at >> 9) * 7 + seed) & 0xff;
  return buffer;
}

/** Counts what is given and taken back, and spoils what was taken back. */
class WatchedBuffers implements BufferSource {
  readonly out = new Set<Buffer>();
  mostBytes = 0;

  allocate(bytes: number): Buffer {
    const buffer = allocate(bytes);
    this.out.add(buffer);
    this.mostBytes = Math.max(this.mostBytes, this.bytes);
    return buffer;
  }

  release(buffer: Buffer): void {
    assert.ok(this.out.delete(buffer), 'every buffer is released once, and the very one that was given');
    buffer.fill(0xdd);
    release(buffer);
  }

  get bytes(): number {
    return [...this.out].reduce((sum, buffer) => sum + buffer.length, 0);
  }
}

const KEYS = fc.record({
  InitialR2T: fc.constantFrom('Yes', 'No'),
  ImmediateData: fc.constantFrom('Yes', 'No'),
  MaxRecvDataSegmentLength: fc.constantFrom('512', '3000', '8192', '262144'),
  MaxBurstLength: fc.constantFrom('512', '5000', '65536', '1048576'),
  FirstBurstLength: fc.constantFrom('512', '4096', '65536', '262144'),
  MaxOutstandingR2T: fc.constantFrom('1', '3'),
});

test('what is written is read, whatever was agreed at login', async (context) => {
  const buffers = new WatchedBuffers();
  const { open, events } = await serve(context, { buffers });
  const lengths = fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 5 });
  const digests = fc.record({ header: fc.boolean(), data: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(KEYS, digests, lengths, async (keys, digest, blocks) => {
      const { session, lun } = await open({ keys, digests: digest });
      let lba = 1;
      const pieces = blocks.map((count, index) => {
        const piece = { lba, data: pattern(count * 512, index) };
        lba += count;
        return piece;
      });
      await Promise.all(pieces.map((piece) => lun.write(piece.lba, piece.data)));
      const back = await Promise.all(pieces.map((piece) => lun.read(piece.lba, piece.data.length / 512)));
      for (const [index, piece] of pieces.entries()) assert.ok(back[index]!.equals(piece.data));
      await session.close();
    }),
    { numRuns: 40 },
  );
  assert.equal(events.filter(({ type }) => type === 'internal-error').length, 0);
  await until(() => buffers.out.size === 0, 'all buffers are back');
});

test('the largest transfer goes through and the next larger is refused', async (context) => {
  const { open, server } = await serve(context);
  const { lun } = await open();
  const data = pattern(server.limits.transferBytesMax, 3);
  await lun.write(0, data);
  assert.ok((await lun.read(0, data.length / 512)).equals(data));
  await assert.rejects(lun.read(0, data.length / 512 + 1));
  await assert.rejects(lun.write(0, Buffer.alloc(data.length + 512)));
  await lun.testUnitReady();
});

test('commands run in the order they came when the device answers at once', async (context) => {
  const { open } = await serve(context);
  const { lun } = await open();
  const writes = Array.from({ length: 100 }, (_, index) => lun.write(5, Buffer.alloc(512, index)));
  await Promise.all(writes);
  assert.equal((await lun.read(5, 1))[0], 99);
});

test('an ordered command waits for those before it and keeps those after it waiting', async (context) => {
  const device = new GatedDevice(UNIT_BYTES);
  const { open } = await serve(context, { device });
  const { lun } = await open();
  const write = (byte: number, attribute: 'simple' | 'ordered') =>
    lun.execute(Buffer.from('2a000000000000000100', 'hex'), { dataOut: Buffer.alloc(512, byte), attribute });
  const all = [write(1, 'simple'), write(2, 'ordered'), write(3, 'simple')];
  await until(() => device.waiting === 1, 'the first command is at the device');
  await turns();
  assert.equal(device.waiting, 1, 'and no other');
  device.openUp();
  await Promise.all(all);
  assert.equal((await lun.read(0, 1))[0], 3);
});

test('residuals tell what was not moved', async (context) => {
  const { open } = await serve(context);
  const { lun } = await open();
  const read = Buffer.from('28000000000000000200', 'hex');
  const less = await lun.execute(read, { expectIn: 512 });
  assert.deepEqual([less.status, less.data.length, less.residual], [0, 512, -512]);
  const more = await lun.execute(read, { expectIn: 4096 });
  assert.deepEqual([more.status, more.data.length, more.residual], [0, 1024, 3072]);
  const write = Buffer.from('2a000000000000000200', 'hex');
  assert.equal((await lun.execute(write, { dataOut: Buffer.alloc(512) })).residual, -512);
  assert.equal((await lun.execute(write, { dataOut: Buffer.alloc(4096) })).residual, 3072);
});

test('memory for writes stays within its limit while every write gets through', async (context) => {
  const device = new GatedDevice(UNIT_BYTES);
  const buffers = new WatchedBuffers();
  const limits = { writeBytesMax: 1024 * 1024, firstBurstBytesMax: 16 * 1024 };
  const { open } = await serve(context, { device, buffers, limits });
  const { lun } = await open({ keys: { FirstBurstLength: '16384' } });
  const writes = Array.from({ length: 64 }, (_, index) => lun.write(index * 200, pattern(100 * 1024, index)));
  await until(() => device.waiting >= 10, 'the limit is reached');
  await turns();
  assert.ok(buffers.bytes <= limits.writeBytesMax + 64 * limits.firstBurstBytesMax, `${buffers.bytes} bytes`);
  device.openUp();
  await Promise.all(writes);
  for (let index = 0; index < 64; index++) {
    assert.ok((await lun.read(index * 200, 200)).equals(pattern(100 * 1024, index)));
  }
  await until(() => buffers.out.size === 0, 'all buffers are back');
});

test('memory for reads stays within its limit while every read gets through', async (context) => {
  const buffers = new WatchedBuffers();
  const limits = { readBytesMax: 1024 * 1024 };
  const { open } = await serve(context, { buffers, limits });
  const { lun } = await open();
  await Promise.all(Array.from({ length: 64 }, (_, index) => lun.read(index * 16, 1024)));
  assert.ok(buffers.mostBytes <= limits.readBytesMax + 2 * 512 * 1024, `${buffers.mostBytes} bytes`);
  await until(() => buffers.out.size === 0, 'all buffers are back');
});

test('more unasked data than agreed ends the connection and leaves no buffer behind', async (context) => {
  const buffers = new WatchedBuffers();
  const { port } = await serve(context, { buffers });
  const client = await RawClient.open(port);
  client.send(loginPdu('800000cc0000', ['ImmediateData', 'Yes'], ['FirstBurstLength', '512']));
  await until(() => client.receive().length > 0, 'the login is answered');
  // The first command gets the unit attention of a new unit; then a write of two blocks with both as immediate data.
  client.send(commandPdu({ tag: 1, number: 0, cdb: '00' }));
  const data = pattern(1024, 1);
  const cdb = '2a 00 00 00 00 00 00 00 02 00';
  client.send(commandPdu({ tag: 2, number: 1, cdb, expected: data.length, data, flags: 0xa1 }));
  await until(() => client.isClosed, 'the connection ends');
  assert.equal(buffers.out.size, 0);
});
