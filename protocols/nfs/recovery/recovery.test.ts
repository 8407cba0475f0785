import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { until } from '../../../testing/waiting.ts';
import { Client40, Client41, ops, type Opened4 } from '../testing/client4.ts';
import { MemoryFilesystem } from '../testing/memory-filesystem.ts';
import { serve } from '../testing/serve.ts';
import { Op } from '../v4/opcodes.ts';
import { Status4 } from '../v4/status.ts';
import { MemoryRecorder } from './recorder.ts';

/** A server that ends and comes back with what it has on record. */
async function restartable(context: TestContext) {
  const recorder = new MemoryRecorder();
  const filesystem = new MemoryFilesystem();
  const clock = { now: 0 };
  const start = () => serve(context, { recorder, filesystem, now: () => clock.now });
  const first = await start();
  const restart = async () => {
    await first.server.close();
    return start();
  };
  return { ...first, recorder, clock, restart };
}

test('without anything on record there is no grace period', async (context) => {
  const { server } = await serve(context);
  assert.equal(server.isInGrace, false);
});

test('4.0: after a restart a client gets its opens and locks back, and others wait', async (context) => {
  const { client40, restart, clock } = await restartable(context);
  const before = await client40('holder');
  const opened = await before.open({ name: 'f', create: 'unchecked' });
  const restarted = await restart();
  const { server, filesystem } = restarted;
  assert.equal(server.isInGrace, true);
  // It does not know yet and goes on with what it has.
  const client = new Client40(await restarted.connect(), 'holder');
  const stale = await client.compound(ops.put(opened.handle), ops.read(opened.state, 0, 1));
  assert.equal(stale.status, Status4.staleStateId);
  const renew = await client.compound(ops.raw(Op.renew, (args) => args.u64(before.clientId)));
  assert.equal(renew.status, Status4.staleClientId);
  await client.identify(Buffer.from('verifier'));
  const { clientId } = client;
  const claim = (sequence: number) => ops.open({ claim: 'previous', clientId, sequence });
  const put = ops.put(opened.handle);
  const reclaimed = await client.compound(put, claim(1));
  assert.equal(reclaimed.status, 0);
  const { state, flags } = reclaimed.results[1] as Opened4;
  assert.equal(flags & 2, 0, 'what is claimed again needs no confirmation: the kernel of Linux cannot give one');
  const open = { state, sequence: 2, clientId };
  const locked = await client.compound(put, ops.lock({ reclaim: true, sequence: 1, open }));
  assert.equal(locked.status, 0);
  const outsider = await restarted.client40('outsider');
  assert.equal((await outsider.open({ name: 'f' })).status, Status4.grace);
  const anonymous = { sequence: 0, other: Buffer.alloc(12) };
  assert.equal((await outsider.compound(put, ops.read(anonymous, 0, 1))).status, Status4.grace);
  const badClaim = ops.open({ claim: 'previous', clientId: outsider.clientId, sequence: 1, owner: 'x' });
  assert.equal((await outsider.compound(put, badClaim)).status, Status4.reclaimBad);
  clock.now += server.limits.graceMs;
  server.watch();
  await until(() => !server.isInGrace, 'the grace period ends');
  // Leases ran on meanwhile.
  const late = await restarted.client40('late');
  const lateClaim = ops.open({ claim: 'previous', clientId: late.clientId, sequence: 1 });
  assert.equal((await late.compound(put, lateClaim)).status, Status4.noGrace);
  assert.equal((await late.open({ name: 'f', owner: 'y' })).status, 0);
  assert.equal(filesystem.fileCount, 2);
});

test('4.1: the grace period ends as soon as every client has sent RECLAIM_COMPLETE', async (context) => {
  const { client41, restart } = await restartable(context);
  const before = await client41('holder');
  const opened = await before.open({ name: 'f', create: 'unchecked', access: 3, deny: 2 });
  const restarted = await restart();
  const client = new Client41(await restarted.connect(), 'holder');
  client.sessionId = before.sessionId;
  client.slots.push(1);
  assert.equal((await client.compound(ops.putRoot())).status, Status4.badSession);
  await client.identify();
  await client.createSession();
  const put = ops.put(opened.handle);
  const reclaimed = await client.compound(put, ops.open({ claim: 'previous', access: 3, deny: 2 }));
  assert.equal(reclaimed.status, 0);
  const { state } = reclaimed.results[1] as Opened4;
  assert.equal((await client.compound(put, ops.lock({ reclaim: true, open: { state } }))).status, 0);
  assert.equal(restarted.server.isInGrace, true);
  const complete = ops.raw(Op.reclaimComplete, (args) => args.bool(false));
  assert.equal((await client.compound(complete)).status, 0);
  assert.equal(restarted.server.isInGrace, false);
  assert.equal((await client.compound(put, ops.open({ claim: 'previous', owner: 'z' }))).status, Status4.noGrace);
  const other = await restarted.client41('other');
  assert.equal((await other.open({ name: 'f', access: 2 })).status, Status4.shareDenied, 'what was claimed holds');
});

test('a client that was silent for longer than its lease loses what it holds, and its right to claim it', async (context) => {
  const { client40, client41, server, recorder, clock, events } = await restartable(context);
  const silent = await client40('silent');
  const opened = await silent.open({ name: 'f', create: 'unchecked', deny: 3 });
  const other = await client41('other');
  assert.equal((await other.open({ name: 'f' })).status, Status4.shareDenied);
  assert.equal(recorder.load().length, 2);
  clock.now += server.limits.leaseMs / 2;
  await other.compound(ops.putRoot());
  clock.now += server.limits.leaseMs / 2 + 1;
  server.watch();
  await until(() => events.some(({ type }) => type === 'client-expired'), 'the lease runs out');
  assert.equal((await other.open({ name: 'f' })).status, 0);
  assert.equal((await silent.compound(ops.put(opened.handle), ops.read(opened.state, 0, 1))).status, Status4.expired);
  await until(() => recorder.load().length === 1, 'the record is gone');
});

test('a client that does not come back within the grace period cannot reclaim anything after the next restart', async (context) => {
  const { client40, restart, recorder, clock } = await restartable(context);
  await client40('gone');
  const { server, events } = await restart();
  clock.now += server.limits.graceMs;
  server.watch();
  await until(() => recorder.load().length === 0, 'the record is gone');
  assert.deepEqual(events, [
    { type: 'grace-began', clients: 1 },
    { type: 'grace-ended', missing: 1 },
  ]);
});
