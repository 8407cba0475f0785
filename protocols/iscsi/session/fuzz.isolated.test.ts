import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import fc from 'fast-check';
import { until } from '../../../testing/waiting.ts';
import { turns } from '../../../testing/turns.ts';
import type { IscsiEvent } from '../events.ts';
import type { Lun } from '../testing/index.ts';
import { RawClient, commandPdu, dataOutPdu, loginPdu, pdu } from './testing/raw-client.ts';
import { serve } from './testing/serve.ts';

/** Not to be hit by a write with one byte of its address changed. */
const MARK_LBA = 0x1234;
const MEBIBYTE = 1024 * 1024;

/** A server, a session that must not notice anything, and a way to see that it did not. */
async function besiege(context: TestContext) {
  const served = await serve(context, { limits: { closeTimeoutMs: 200, connectionsMax: 64 } });
  const { lun } = await served.open();
  await lun.write(MARK_LBA, Buffer.alloc(4096, 0x5a));
  return { ...served, lun };
}

async function stillServes(lun: Lun, events: IscsiEvent[]): Promise<void> {
  assert.ok((await lun.read(MARK_LBA, 8)).equals(Buffer.alloc(4096, 0x5a)));
  assert.deepEqual(
    events.filter(({ type }) => type === 'internal-error'),
    [],
  );
}

/** Sends bytes on a connection of its own and waits until the server is rid of them. */
async function attack(port: number, bytes: Uint8Array, loggedIn: boolean): Promise<void> {
  const client = await RawClient.open(port);
  if (loggedIn) {
    client.send(loginPdu('800000aa0000', ['InitialR2T', 'No'], ['ImmediateData', 'Yes']));
    await until(() => client.receive().length > 0, 'the login is answered');
  }
  client.send(bytes);
  client.socket.end();
  await until(() => client.isClosed, 'the connection is gone');
}

/** What a well-behaved initiator might send, one after the other. */
function conversation(): Buffer[] {
  const block = Buffer.alloc(512, 1);
  return [
    commandPdu({ tag: 1, number: 0, cdb: '00' }),
    commandPdu({ tag: 2, number: 1, cdb: '12 00 00 00 ff', expected: 255 }),
    commandPdu({ tag: 3, number: 2, cdb: '28 00 00 00 00 00 00 00 08', expected: 4096 }),
    commandPdu({ tag: 4, number: 3, cdb: '2a 00 00 00 00 00 00 00 01', expected: 512, data: block, flags: 0xa1 }),
    commandPdu({ tag: 5, number: 4, cdb: '2a 00 00 00 00 00 00 00 02', expected: 1024, data: block, flags: 0x21 }),
    dataOutPdu(5, 0xffffffff, 0, 512, block),
    commandPdu({ tag: 6, number: 5, cdb: '2a 00 00 00 00 00 00 00 04', expected: 2048, flags: 0xa1 }),
    dataOutPdu(6, 0, 0, 0, Buffer.alloc(2048, 2)),
    commandPdu({
      tag: 7,
      number: 6,
      cdb: '42 00 00 00 00 00 00 00 18',
      expected: 24,
      data: Buffer.alloc(24),
      flags: 0xa1,
    }),
    commandPdu({
      tag: 8,
      number: 7,
      cdb: '5f 06 00 00 00 00 00 00 18',
      expected: 24,
      data: Buffer.alloc(24),
      flags: 0xa1,
    }),
    pdu(0x40, 0x80, (header) => header.writeUInt32BE(9, 16), Buffer.from('ping')),
    pdu(0x42, 0x81, (header) => header.writeUInt32BE(10, 16)),
    pdu(0x44, 0x80, (header) => header.writeUInt32BE(0xffffffff, 20), Buffer.from('SendTargets=All\0')),
    pdu(0x46, 0x80, (header) => header.writeUInt32BE(11, 16)),
  ];
}

test('random bytes end their connection and nothing else', async (context) => {
  const { port, lun, events } = await besiege(context);
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 600 }), fc.boolean(), async (bytes, loggedIn) => {
      await attack(port, bytes, loggedIn);
      await stillServes(lun, events);
    }),
    { numRuns: 60 },
  );
});

test('valid PDUs with bytes changed end their connection at most', async (context) => {
  const { port, lun, events } = await besiege(context);
  const whole = Buffer.concat(conversation());
  const change = fc.tuple(fc.nat(whole.length - 1), fc.integer({ min: 0, max: 255 }));
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 12 }), async (changes) => {
      const bytes = Buffer.from(whole);
      for (const [at, value] of changes) bytes[at] = value;
      await attack(port, bytes, true);
      await lun.clearUnitAttentions();
      await stillServes(lun, events);
    }),
    // A SNACK has no command number, whether it is marked as immediate or not.
    { numRuns: 150, examples: [[[[0, 0x10]]]] },
  );
});

test('PDUs cut short, repeated and shuffled end their connection at most', async (context) => {
  const { port, lun, events } = await besiege(context);
  const pieces = conversation();
  const piece = fc.tuple(fc.nat(pieces.length - 1), fc.boolean(), fc.nat(100));
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 20 }), fc.boolean(), async (chosen, loggedIn) => {
      const bytes = chosen.map(([index, cut, length]) => pieces[index]!.subarray(0, cut ? length : undefined));
      await attack(port, Buffer.concat(bytes), loggedIn);
      await lun.clearUnitAttentions();
      await stillServes(lun, events);
    }),
    { numRuns: 80 },
  );
});

test('logins with changed bytes never get further than a login', async (context) => {
  const { port, lun, events } = await besiege(context);
  const whole = loginPdu('800000bb0000', ['AuthMethod', 'CHAP,None'], ['HeaderDigest', 'CRC32C,None']);
  const change = fc.tuple(fc.nat(whole.length - 1), fc.integer({ min: 0, max: 255 }));
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 8 }), async (changes) => {
      const bytes = Buffer.from(whole);
      for (const [at, value] of changes) bytes[at] = value;
      await attack(port, bytes, false);
      await stillServes(lun, events);
    }),
    { numRuns: 80 },
  );
});

test('huge lengths cost nothing', async (context) => {
  const { port, lun, events } = await besiege(context);
  const before = process.memoryUsage().rss;
  for (let round = 0; round < 30; round++) {
    const huge = pdu(0x01, 0xa1, (header) => header.writeUIntBE(0xffffff, 5, 3));
    await attack(port, huge, true);
    await attack(port, huge, false);
    const wishes = Array.from({ length: 64 }, (_, index) =>
      commandPdu({
        tag: index,
        number: index,
        cdb: '8a 00 00 00 00 00 00 00 00 00 ff ff ff ff',
        expected: 0xffffffff,
        flags: 0xa1,
      }),
    );
    await attack(port, Buffer.concat(wishes), true);
  }
  await stillServes(lun, events);
  assert.ok(process.memoryUsage().rss - before < 128 * MEBIBYTE);
});

test('an initiator that asks and never reads is not listened to any further', async (context) => {
  const { port, lun, events, server } = await besiege(context);
  const client = await RawClient.open(port);
  context.after(() => client.socket.destroy());
  client.send(loginPdu('800000cc0000', ['MaxRecvDataSegmentLength', '262144']));
  await until(() => client.receive().length > 0, 'the login is answered');
  client.socket.pause();
  const before = process.memoryUsage().rss;
  const data = Buffer.alloc(8192, 1);
  const ping = pdu(0x40, 0x80, (header) => header.writeUInt32BE(1, 16), data);
  const many = Buffer.concat(Array.from({ length: 128 }, () => ping));
  for (let round = 0; round < 200 && client.socket.writableLength < 32 * MEBIBYTE; round++) {
    client.send(many);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  assert.ok(client.socket.writableLength >= 32 * MEBIBYTE, 'the server stopped reading');
  const growth = process.memoryUsage().rss - before;
  assert.ok(growth < 4 * server.limits.unsentBytesMax + 64 * MEBIBYTE, `${growth / MEBIBYTE} MiB`);
  await stillServes(lun, events);
});

test('commands outside the window are ignored and those that come early wait', async (context) => {
  const { port, lun, events } = await besiege(context);
  const client = await RawClient.open(port);
  context.after(() => client.socket.destroy());
  client.send(loginPdu('800000dd0000'));
  await until(() => client.receive().length > 0, 'the login is answered');
  const inquiry = (tag: number, number: number) => commandPdu({ tag, number, cdb: '12 00 00 00 24', expected: 36 });
  client.send(Buffer.concat([inquiry(1, 5000), inquiry(2, 0xffffffff), inquiry(4, 1), inquiry(5, 2)]));
  await turns();
  assert.equal(client.receive().length, 0);
  client.send(inquiry(3, 0));
  const answers: number[] = [];
  await until(() => {
    answers.push(...client.receive().map(({ header }) => header.readUInt32BE(16)));
    return answers.length === 3;
  }, 'all three are answered');
  assert.deepEqual(answers, [3, 4, 5]);
  await stillServes(lun, events);
});

test('a session that sends too much ahead of a missing command is ended', async (context) => {
  const { port, lun, events, server } = await besiege(context);
  const client = await RawClient.open(port);
  context.after(() => client.socket.destroy());
  client.send(loginPdu('800000de0000', ['InitialR2T', 'No']));
  await until(() => client.receive().length > 0, 'the login is answered');
  const data = Buffer.alloc(64 * 1024);
  const count = server.limits.earlyBytesMax / data.length;
  const write = (number: number) =>
    commandPdu({ tag: number, number, cdb: '2a 00 00 00 00 00 00 00 80', expected: data.length, data, flags: 0xa1 });
  for (let number = 1; number < count; number++) client.send(write(number));
  await turns();
  assert.equal(client.isClosed, false);
  client.send(write(count));
  await until(() => client.isClosed, 'the session is ended');
  await stillServes(lun, events);
});

test('data out of order fails its command and not the session', async (context) => {
  const { port, lun, events } = await besiege(context);
  const client = await RawClient.open(port);
  context.after(() => client.socket.destroy());
  client.send(loginPdu('800000ee0000', ['InitialR2T', 'No']));
  await until(() => client.receive().length > 0, 'the login is answered');
  client.send(commandPdu({ tag: 0, number: 0, cdb: '00' }));
  client.send(commandPdu({ tag: 1, number: 1, cdb: '2a 00 00 00 00 00 00 00 02', expected: 1024, flags: 0x21 }));
  client.send(dataOutPdu(1, 0xffffffff, 7, 0, Buffer.alloc(512)));
  client.send(dataOutPdu(1, 0xffffffff, 8, 512, Buffer.alloc(512)));
  client.send(commandPdu({ tag: 2, number: 2, cdb: '00' }));
  const answers: { header: Buffer; data: Buffer }[] = [];
  await until(() => {
    answers.push(...client.receive());
    return answers.length === 3;
  }, 'all are answered');
  assert.deepEqual(
    answers.map(({ header }) => [header.readUInt32BE(16), header[3]]),
    [
      [0, 2],
      [1, 2],
      [2, 0],
    ],
  );
  assert.deepEqual([answers[1]!.data[4], answers[1]!.data[14], answers[1]!.data[15]], [0x0b, 0x47, 0x05]);
  await stillServes(lun, events);
});
