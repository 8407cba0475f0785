import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { until } from '../../testing/waiting.ts';
import { turns } from '../../testing/turns.ts';
import { Initiator, LoginError, RamDevice, ScsiError } from './testing/index.ts';
import { GatedDevice, TARGET, UNIT_BYTES, serve } from './session/testing/serve.ts';
import { crowd } from '../../kernel/edge/testing/crowd.ts';

const HOST = '127.0.0.1';
const ALICE = 'iqn.2026-01.com.example:alice';
const BOB = 'iqn.2026-01.com.example:bob';
const CHAP = { user: 'alice', secret: 'twelve bytes!' };
const MUTUAL = { ...CHAP, mutualUser: 'array', mutualSecret: 'another secret' };

function device(): RamDevice {
  return new RamDevice(1024 * 1024);
}

const naa = (index: number) => `30000000000001${index.toString(16).padStart(2, '0')}`;

function status(expected: number) {
  return (error: unknown) => error instanceof LoginError && error.statusClass * 256 + error.statusDetail === expected;
}

test('discovery shows the targets that are for the initiator and no others', async (context) => {
  const { server, port } = await serve(context, { authorise: (name) => (name === ALICE ? {} : undefined) });
  server.addTarget({ iqn: 'iqn.2026-01.com.example:open', authorise: () => ({}) });
  const seen = async (initiatorName: string) => Initiator.discover({ host: HOST, port, initiatorName });
  const alice = await seen(ALICE);
  assert.deepEqual(alice.map(({ name }) => name).sort(), ['iqn.2026-01.com.example:open', TARGET].sort());
  assert.deepEqual(alice[0]?.addresses, [`127.0.0.1:${port},1`]);
  assert.deepEqual(
    (await seen(BOB)).map(({ name }) => name),
    ['iqn.2026-01.com.example:open'],
  );
});

test('SendTargets can ask for one target, or for the one it is logged in to', async (context) => {
  const { server, open } = await serve(context);
  server.addTarget({ iqn: 'iqn.2026-01.com.example:open', authorise: () => ({}) });
  const { session } = await open();
  const named = async (name: string) => (await session.text({ SendTargets: name })).map(([, value]) => value)[0];
  assert.equal(await named('iqn.2026-01.com.example:open'), 'iqn.2026-01.com.example:open');
  assert.equal(await named(''), TARGET);
  assert.equal(await named('iqn.2026-01.com.example:none'), undefined);
});

test('a list of targets too long for one answer comes in pieces', async (context) => {
  const { server, port } = await serve(context);
  for (let index = 0; index < 300; index++) {
    server.addTarget({ iqn: `iqn.2026-01.com.example:disk-${index}`, authorise: () => ({}) });
  }
  const keys = { MaxRecvDataSegmentLength: '1024' };
  assert.equal((await Initiator.discover({ host: HOST, port, keys })).length, 301);
});

test('discovery can be closed to unauthenticated initiators', async (context) => {
  const { port } = await serve(context, {
    authoriseDiscovery: (name) => (name === ALICE ? { chap: CHAP } : undefined),
  });
  const chap = { username: CHAP.user, secret: CHAP.secret };
  assert.equal((await Initiator.discover({ host: HOST, port, initiatorName: ALICE, chap })).length, 1);
  await assert.rejects(Initiator.discover({ host: HOST, port, initiatorName: ALICE }), status(0x0201));
  await assert.rejects(Initiator.discover({ host: HOST, port, initiatorName: BOB, chap }), status(0x0203));
});

test('only those who are let in log in, and with the right secret', async (context) => {
  const { login, events } = await serve(context, {
    authorise: (name) => (name === ALICE ? { chap: MUTUAL } : undefined),
  });
  const chap = { username: CHAP.user, secret: CHAP.secret };
  await assert.rejects(login({ initiatorName: BOB, chap }), status(0x0203));
  await assert.rejects(login({ initiatorName: ALICE }), status(0x0201));
  await assert.rejects(login({ initiatorName: ALICE, withoutSecurityStage: true }), status(0x0201));
  await assert.rejects(login({ initiatorName: ALICE, chap: { ...chap, secret: 'wrong secret!' } }), status(0x0201));
  await (await login({ initiatorName: ALICE, chap })).close();
  const mutual = { username: MUTUAL.mutualUser, secret: MUTUAL.mutualSecret };
  for (const algorithms of [[5], [7], [8]]) {
    await (await login({ initiatorName: ALICE, chap: { ...chap, mutual, algorithms } })).close();
  }
  await assert.rejects(
    login({ initiatorName: ALICE, chap: { ...chap, mutual: { ...mutual, secret: 'not the one' } } }),
  );
  const refused = events.filter(({ type }) => type === 'login-refused');
  assert.equal(refused.length, 4);
});

test('a target that is not there is not found', async (context) => {
  const { login } = await serve(context);
  await assert.rejects(login({ targetName: 'iqn.2026-01.com.example:none' }), status(0x0203));
});

test('units come, go and grow under a live session, and initiators are notified', async (context) => {
  const { open, target } = await serve(context);
  const { session, lun } = await open();
  const attentions = async () => (await lun.clearUnitAttentions()).map(({ asc, ascq }) => [asc, ascq]);
  assert.deepEqual(await lun.reportLuns(), [0]);
  target.setLun(300, { device: device(), serial: 'unit-300', naa: naa(1) });
  assert.deepEqual(await attentions(), [[0x3f, 0x0e]]);
  assert.deepEqual(await lun.reportLuns(), [0, 300]);
  const added = session.lun(300);
  await added.clearUnitAttentions();
  assert.equal((await added.readCapacity()).blocks, 2048);
  target.lunResized(0);
  assert.deepEqual(await attentions(), [[0x2a, 0x09]]);
  await target.removeLun(300);
  assert.deepEqual(await attentions(), [[0x3f, 0x0e]]);
  await assert.rejects(
    added.testUnitReady(),
    (error: unknown) => error instanceof ScsiError && error.sense?.asc === 0x25,
  );
});

test('removing a unit waits until the device is done', async (context) => {
  const gated = new GatedDevice(UNIT_BYTES);
  const { open, target } = await serve(context, { device: gated });
  const { lun } = await open();
  const read = lun.execute(Buffer.from('28000000000000000100', 'hex'), { expectIn: 512 });
  await until(() => gated.waiting === 1, 'it is at the device');
  let removed = false;
  const removal = target.removeLun(0).then(() => (removed = true));
  await turns();
  assert.equal(removed, false);
  gated.openUp();
  await removal;
  assert.equal((await read).status, 0x40);
});

test('each initiator sees the units it is given, under its own numbers, read-only if so said', async (context) => {
  let bobMaySee = true;
  const { open, login, target } = await serve(context, {
    authorise: (name) => {
      if (name === ALICE) return { luns: new Map([[0, { lun: 7 }]]) };
      return bobMaySee
        ? {
            luns: new Map([
              [0, { lun: 0 }],
              [1, { lun: 7, readOnly: true }],
            ]),
          }
        : undefined;
    },
  });
  target.setLun(7, { device: device(), serial: 'unit-7', naa: naa(7) });
  const alice = await open({ initiatorName: ALICE });
  await alice.lun.write(0, Buffer.alloc(512, 0x77));
  const bob = await login({ initiatorName: BOB });
  assert.deepEqual(await bob.lun(0).reportLuns(), [0, 1]);
  await bob.lun(1).clearUnitAttentions();
  assert.equal((await bob.lun(1).read(0, 1))[0], 0x77);
  await assert.rejects(bob.lun(1).write(0, Buffer.alloc(512)), ScsiError);
  bobMaySee = false;
  target.accessChanged();
  await until(() => !bob.isOpen, 'Bob is out');
  assert.ok(alice.session.isOpen);
});

test('two targets that show the same volume show one unit with one reservation', async (context) => {
  const { server, target, device: shared, open } = await serve(context);
  const second = server.addTarget({ iqn: 'iqn.2026-01.com.example:second', authorise: () => ({}) });
  second.setLun(0, { device: shared, serial: 'unit-0', naa: '3000000000000001' });
  assert.throws(() => second.setLun(1, { device: device(), serial: 'unit-0', naa: naa(1) }), /serial/);
  const one = await open();
  const other = await open({ targetName: second.iqn });
  assert.equal((await one.lun.execute(Buffer.of(0x16, 0, 0, 0, 0, 0))).status, 0);
  assert.equal((await other.lun.execute(Buffer.of(0x16, 0, 0, 0, 0, 0))).status, 0x18);
  await target.removeLun(0);
  assert.equal((await other.lun.execute(Buffer.of(0x16, 0, 0, 0, 0, 0))).status, 0);
});

test('a session logged in again replaces the old one, which ends first', async (context) => {
  const gated = new GatedDevice(UNIT_BYTES);
  const { open, login, target } = await serve(context, { device: gated });
  const isid = Buffer.from('800000010000', 'hex');
  const { session, lun } = await open({ isid });
  const lost = assert.rejects(lun.write(0, Buffer.alloc(512, 1)));
  await until(() => gated.waiting === 1, 'the write is at the device');
  let back = false;
  const again = login({ isid }).then((fresh) => {
    back = true;
    return fresh;
  });
  await turns();
  assert.equal(back, false, 'the new session waits for the old write');
  gated.openUp();
  const fresh = await again;
  await lost;
  await until(() => !session.isOpen, 'the old session is gone');
  assert.equal(target.sessions().length, 1);
  await fresh.lun(0).clearUnitAttentions();
  await fresh.lun(0).testUnitReady();
});

test('sessions are listed with what they did, and can be dropped', async (context) => {
  const { open, target } = await serve(context);
  const { session, lun } = await open({ initiatorName: ALICE });
  await lun.write(0, Buffer.alloc(4096));
  await lun.read(0, 4);
  const [info] = target.sessions();
  assert.equal(info?.initiator, ALICE);
  assert.equal(info.address, '127.0.0.1');
  assert.deepEqual([info.reads, info.writes, info.bytesRead, info.bytesWritten], [1, 1, 2048, 4096]);
  assert.equal(info.commands, 4);
  assert.equal(target.dropSession(info.id), true);
  await until(() => !session.isOpen, 'it is gone');
  assert.equal(session.asyncMessages.length, 1);
  assert.equal(target.dropSession(info.id), false);
});

test('a target takes so many sessions and no more', async (context) => {
  const { open, login } = await serve(context, { limits: { sessionsPerTargetMax: 2 } });
  await open();
  await open();
  await assert.rejects(login(), status(0x0302));
});

test('one address takes so many connections and no more: sessions are not dropped for others', async (context) => {
  const { open, login, events } = await serve(context, { limits: { connectionsMax: 4 } });
  const sessions = [await open(), await open(), await open()];
  await assert.rejects(login());
  assert.ok(sessions.every(({ session }) => session.isOpen));
  assert.ok(events.some((event) => event.type === 'crowded' && event.refused === 1));
});

test('connections that do not log in lock no client out, and sessions stay', async (context) => {
  const places = 16;
  const { open, port, events } = await serve(context, { limits: { connectionsMax: places } });
  const place = { host: HOST, port };
  const { lun } = await open();
  await crowd(context, place, { from: '127.0.0.66', count: places * 3 });
  await crowd(context, place, { from: HOST, count: places * 3, sends: 'C' });
  assert.equal((await open()).session.isOpen, true);
  assert.equal((await lun.read(0, 1)).length, 512);
  assert.ok(events.some(({ type }) => type === 'crowded'));
});

test('the window never lets more commands in than agreed', async (context) => {
  const gated = new GatedDevice(UNIT_BYTES);
  const { open } = await serve(context, { device: gated, limits: { queueDepth: 8 } });
  const { session, lun } = await open();
  assert.equal(session.window, 8);
  const reads = Array.from({ length: 30 }, (_, index) => lun.read(index, 1));
  await until(() => gated.waiting === 8, 'the window is full');
  await turns();
  assert.equal(gated.waiting, 8);
  gated.openUp();
  await Promise.all(reads);
});

test('who does not log in in time, and who no longer answers, is dropped', async (context) => {
  let now = 0;
  const { open, events, port } = await serve(context, { now: () => now });
  const { connect } = await import('node:net');
  const silent = connect(port, HOST);
  context.after(() => silent.destroy());
  const { session } = await open();
  now = 16_000;
  await until(
    () => events.some((event) => 'reason' in event && /too long/.test(event.reason)),
    'the silent one is out',
  );
  await delay(1_100);
  assert.ok(session.isOpen, 'who answers pings stays');
  now = 32_000 + 16_000;
  await until(() => !session.isOpen, 'who is silent for long is out');
});

test('closing ends every session and frees the port', async (context) => {
  const { open, server } = await serve(context);
  const { session } = await open();
  await server.close();
  await until(() => !session.isOpen, 'it is gone');
});

test('what makes no sense is refused when it is set up', async (context) => {
  const { server, target } = await serve(context);
  assert.throws(() => server.addTarget({ iqn: 'disk', authorise: () => ({}) }), /iSCSI name/);
  assert.throws(() => server.addTarget({ iqn: TARGET, authorise: () => ({}) }), /already/);
  const unit = { device: device(), serial: 'x', naa: naa(1) };
  assert.throws(() => target.setLun(0, unit), /taken/);
  assert.throws(() => target.setLun(-1, unit), RangeError);
  assert.throws(() => target.setLun(1, { ...unit, naa: 'zz' }), /NAA/);
  assert.throws(() => target.setLun(1, { ...unit, serial: '' }), /serial/);
});
