import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Initiator, LoginError, ScsiError } from '@granary/protocols/iscsi/testing';
import { awakeMs } from '../../../../testing/timing.ts';
import { targetOf } from '../../controllers/target.ts';
import {
  ALICE,
  BOB,
  createVolume,
  insist,
  server,
  servedVolume,
  unit,
  VOLUME,
  VOLUME_BYTES,
} from '../../controllers/testing/served-volume.ts';
import { partOf } from '../../parts.ts';

const EMBEDDED = '../../embedded/open-engine.ts';
const OTHER = 'volume-00000002';
const TARGET = targetOf('vsa-00000001');
const NOT_FOUND = 0x0203;
const NOT_AUTHENTICATED = 0x0201;

const refusedWith = (status: number) => (error: unknown) =>
  error instanceof LoginError && error.statusClass * 256 + error.statusDetail === status;

const isScsiError = (error: unknown) => error instanceof ScsiError;

test('a server comes in by its name and its address, by both where both are given, and by neither never', async (t) => {
  const { engine, login, host, events } = await servedVolume(t, EMBEDDED);
  await assert.rejects(login(), refusedWith(NOT_FOUND));
  await engine.putServer(server({ initiator: null, address: null }));
  await assert.rejects(login(), refusedWith(NOT_FOUND));
  await engine.putServer(server({ address: '10.1.2.3' }));
  await assert.rejects(login(), refusedWith(NOT_FOUND));
  for (const address of ['127.0.0.0/8', '127.0.0.1']) {
    await engine.putServer(server({ address }));
    await (await login()).close();
    await assert.rejects(login({ initiatorName: BOB }), refusedWith(NOT_FOUND));
  }
  await engine.putServer(server({ initiator: null, address: '127.0.0.0/8' }));
  await (await login({ initiatorName: BOB })).close();
  const found = await Initiator.discover({ host, port: 3260, initiatorName: BOB });
  assert.deepEqual(found, [{ name: TARGET, addresses: [`${host}:3260,1`] }]);
  await engine.removeServer('srv-00000001');
  await assert.rejects(login({ initiatorName: BOB }), refusedWith(NOT_FOUND));
  await assert.rejects(Initiator.discover({ host, port: 3260, initiatorName: BOB }), refusedWith(NOT_FOUND));
  const types = events.map(({ type }) => type);
  assert.equal(types.filter((type) => type === 'session-opened').length, 3, 'discovery is no session');
  assert.equal(types.filter((type) => type === 'login-refused').length, 2, 'each initiator is reported once');
});

test('of several servers an initiator could be, the one described most closely counts', async (t) => {
  const { engine, login } = await servedVolume(t, EMBEDDED);
  await createVolume(engine, OTHER);
  await engine.putServer(server({ id: 'srv-1', initiator: null, address: '127.0.0.0/8', units: [unit(1, VOLUME)] }));
  await engine.putServer(server({ id: 'srv-2', initiator: null, address: '127.0.0.1', units: [unit(2, VOLUME)] }));
  await engine.putServer(server({ id: 'srv-3', units: [unit(3, OTHER)] }));
  await engine.putServer(server({ id: 'srv-4', address: '127.0.0.1', units: [unit(4, OTHER)] }));
  const seen = async (initiatorName: string) => (await login({ initiatorName })).lun(0).reportLuns();
  assert.deepEqual(await seen(BOB), [2]);
  assert.deepEqual(await seen(ALICE), [4]);
  const { sessions } = await engine.report(0);
  assert.deepEqual(sessions.map(({ server: id }) => id).sort(), ['srv-2', 'srv-4']);
});

test('CHAP, one-way and mutual, is as the server has it; a new secret has to be shown at once', async (t) => {
  const { engine, login } = await servedVolume(t, EMBEDDED);
  const chap = { user: 'alice', secret: 'twelve bytes!' };
  const mutualChap = { user: 'array', secret: 'another secret' };
  await engine.putServer(server({ chap, mutualChap, isChapRequired: true }));
  const own = { username: chap.user, secret: chap.secret };
  await assert.rejects(login(), refusedWith(NOT_AUTHENTICATED));
  await assert.rejects(login({ chap: { ...own, secret: 'not that one' } }), refusedWith(NOT_AUTHENTICATED));
  const mutual = { username: mutualChap.user, secret: mutualChap.secret };
  await assert.rejects(login({ chap: { ...own, mutual: { ...mutual, secret: 'a wrong secret' } } }));
  const session = await login({ chap: { ...own, mutual } });
  await engine.putServer(server({ chap: { ...chap, secret: 'thirteen bytes' }, isChapRequired: true }));
  await insist(async () => assert.equal(session.isOpen, false), 5_000);
  await assert.rejects(login({ chap: own }), refusedWith(NOT_AUTHENTICATED));
  await (await login({ chap: { ...own, secret: 'thirteen bytes' } })).close();
});

test('each server sees its volumes under its own numbers; a shared volume is one disk to all', async (t) => {
  const { engine, login } = await servedVolume(t, EMBEDDED);
  await createVolume(engine, OTHER);
  await engine.putServer(server({ id: 'srv-1', units: [unit(0, VOLUME), unit(300, OTHER)] }));
  await engine.putServer(server({ id: 'srv-2', initiator: BOB, units: [unit(7, OTHER, true)] }));
  const [alice, bob] = [await login(), await login({ initiatorName: BOB })];
  assert.deepEqual(await alice.lun(0).reportLuns(), [0, 300]);
  assert.deepEqual(await bob.lun(0).reportLuns(), [7]);
  const [here, there] = [alice.lun(300), bob.lun(7)];
  for (const lun of [here, there]) await lun.clearUnitAttentions();
  await here.write(0, Buffer.alloc(512, 0x5a));
  assert.equal((await there.read(0, 1))[0], 0x5a);
  await assert.rejects(there.write(0, Buffer.alloc(512)), isScsiError);
  const page = async (lun: typeof here) => (await lun.inquiry(0x83)).toString('hex');
  assert.ok((await page(here)).includes(unit(0, OTHER).wwid));
  assert.ok((await page(there)).includes(unit(0, OTHER).wwid));
  assert.equal((await here.inquiry(0x80)).subarray(4).toString('latin1'), unit(0, OTHER).wwid);
});

test('what changes is seen by those who are logged in, at once', async (t) => {
  const { engine, login } = await servedVolume(t, EMBEDDED);
  await createVolume(engine, OTHER);
  await engine.putServer(server());
  const session = await login();
  const lun = session.lun(0);
  await lun.clearUnitAttentions();
  const reported = async () => (await lun.clearUnitAttentions()).map(({ asc, ascq }) => [asc, ascq]);
  await engine.putServer(server({ units: [unit(0, VOLUME), unit(5, OTHER)] }));
  assert.deepEqual(await reported(), [[0x3f, 0x0e]]);
  const added = session.lun(5);
  await added.clearUnitAttentions();
  await engine.expandVolume(VOLUME, 2 * VOLUME_BYTES);
  assert.deepEqual(await reported(), [[0x2a, 0x09]]);
  assert.equal((await lun.readCapacity()).blocks, (2 * VOLUME_BYTES) / 512);
  await engine.deleteVolume(OTHER);
  await assert.rejects(added.read(0, 1), isScsiError);
  assert.deepEqual(await reported(), [[0x3f, 0x0e]]);
  await engine.putServer(server({ units: [unit(0, VOLUME, true)] }));
  await assert.rejects(lun.write(0, Buffer.alloc(512)), isScsiError);
  await engine.removeServer('srv-00000001');
  await insist(async () => assert.equal(session.isOpen, false), 5_000);
});

test('what sessions read and write is counted, and sessions can be dropped', async (t) => {
  const { engine, open, events } = await servedVolume(t, EMBEDDED);
  await engine.putServer(server());
  const lun = await open();
  for (let at = 0; at < 10; at++) await lun.write(at * 8, Buffer.alloc(4096, at));
  for (let at = 0; at < 5; at++) await lun.read(at * 8, 8);
  const [session] = (await engine.report(0)).sessions;
  assert.ok(session);
  const { io, ...facts } = session;
  assert.deepEqual(facts, {
    protocol: 'ISCSI',
    server: 'srv-00000001',
    initiator: ALICE,
    address: '127.0.0.1',
    target: TARGET,
    controller: 'vsa-00000001-vc-0',
    connections: 1,
  });
  assert.deepEqual([io.writes.count, io.writes.bytes, io.reads.count, io.reads.bytes], [10, 40_960, 5, 20_480]);
  assert.ok(io.writes.microseconds > 0 && io.reads.microseconds > 0);
  assert.equal(await engine.dropSessions(ALICE, 'iqn.2026-01.org.example:other'), 0);
  assert.equal(await engine.dropSessions(ALICE, TARGET), 1);
  await insist(async () => assert.equal(lun.session.isOpen, false), 5_000);
  await insist(async () => assert.equal(events.filter(({ type }) => type === 'session-closed').length, 1), 5_000);
  assert.deepEqual((await engine.report(0)).sessions, []);
});

test('persistent reservations are kept through a failover and a restart', async (t) => {
  const first = await servedVolume(t, EMBEDDED);
  const put = async ({ engine }: typeof first) => {
    await engine.putServer(server({ id: 'srv-1' }));
    await engine.putServer(server({ id: 'srv-2', initiator: BOB }));
  };
  await put(first);
  const lun = await first.open();
  await reserve(lun);
  const isKeptFrom = async (served: typeof first) => {
    const bob = await served.open(0, { initiatorName: BOB });
    await assert.rejects(
      bob.write(0, Buffer.alloc(512)),
      (error) => error instanceof ScsiError && error.status === 0x18,
    );
  };
  await isKeptFrom(first);
  await partOf(first.engine, 'controllers').failover();
  await isKeptFrom(first);
  const second = await first.restart();
  await put(second);
  await isKeptFrom(second);
});

test('a thousand volumes are attached in one call, and one more costs little', async (t) => {
  const { engine, login } = await servedVolume(t, EMBEDDED);
  const names = Array.from({ length: 1000 }, (_, index) => `volume-${(index + 16).toString(16).padStart(8, '0')}`);
  for (let at = 0; at < names.length; at += 100) {
    await Promise.all(names.slice(at, at + 100).map((name) => createVolume(engine, name)));
  }
  const units = names.map((name, index) => unit(index, name));
  await engine.putServer(server({ units }));
  const session = await login();
  const more = server({ units: [...units, unit(1000, VOLUME)] });
  assert.ok((await awakeMs(() => engine.putServer(more))) < 1_000);
  const lun = session.lun(1000);
  await lun.clearUnitAttentions();
  await lun.write(0, Buffer.alloc(512, 1));
});

/** PERSISTENT RESERVE OUT: registers a key and takes the unit for itself. */
async function reserve(lun: Awaited<ReturnType<Awaited<ReturnType<typeof servedVolume>>['open']>>): Promise<void> {
  const out = async (action: number, type: number, key: number, next: number) => {
    const cdb = Buffer.alloc(10);
    cdb.set([0x5f, action, type]);
    cdb[8] = 24;
    const dataOut = Buffer.alloc(24);
    dataOut.writeBigUInt64BE(BigInt(key), 0);
    dataOut.writeBigUInt64BE(BigInt(next), 8);
    // To be kept through a loss of power.
    dataOut[20] = 1;
    assert.equal((await lun.execute(cdb, { dataOut })).status, 0);
  };
  await out(0, 0, 0, 77);
  await out(1, 3, 77, 0);
}
