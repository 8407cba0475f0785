import assert from 'node:assert/strict';
import { test } from 'node:test';
import { turns } from '../../../testing/turns.ts';
import { Client40, Client41, ops } from '../testing/client4.ts';
import { serve } from '../testing/serve.ts';
import { Op } from './opcodes.ts';
import { Status4 } from './status.ts';

const OTHER_VERIFIER = Buffer.from('another1');
const CONFIRMED = 0x8000_0000;

test('a request that comes again in its slot is not done again', async (context) => {
  const { client41, filesystem } = await serve(context);
  const client = await client41('tester');
  const make = (slot: number, sequence: number, keep: boolean, name: string) =>
    client.bare(client.sequence(slot, sequence, keep), ops.putRoot(), ops.lookup('share'), ops.mkdir(name));
  const first = await make(1, 1, true, 'd');
  const again = await make(1, 1, true, 'd');
  assert.deepEqual([again.status, again.done, again.results], [0, first.done, first.results]);
  assert.equal(filesystem.fileCount, 2);
  assert.equal((await make(1, 3, true, 'x')).status, Status4.sequenceMisordered);
  assert.equal((await make(1, 0, true, 'x')).status, Status4.sequenceMisordered);
  assert.equal((await make(1, 2, false, 'e')).status, 0);
  assert.equal((await make(1, 2, false, 'e')).status, Status4.retryUncachedReply);
  assert.equal((await make(99, 1, false, 'x')).status, Status4.badSlot);
  assert.equal(filesystem.fileCount, 3);
});

test('a retransmission while the first request is under way gets NFS4ERR_DELAY', async (context) => {
  const { client41, filesystem } = await serve(context);
  const client = await client41('tester');
  let release: () => void = () => undefined;
  filesystem.onChange = () => new Promise((resolve) => (release = resolve));
  const make = () => client.bare(client.sequence(1, 1), ops.putRoot(), ops.lookup('share'), ops.mkdir('d'));
  const first = make();
  await turns();
  assert.equal((await make()).status, Status4.delay);
  release();
  assert.equal((await first).status, 0);
  assert.equal((await make()).status, 0);
});

test('a compound that breaks off leaves its slot free', async (context) => {
  const { client41 } = await serve(context);
  const client = await client41('tester');
  const broken = await client.rpc.call(100003, 4, 1, (args) => {
    client.sequence(1, 1).write(args.text('').u32(1).u32(3).u32(Op.sequence));
  });
  assert.deepEqual([broken.stat, broken.status], [0, 4]);
  assert.equal((await client.bare(client.sequence(1, 2), ops.putRoot())).status, 0);
});

test('an export that is taken away takes its opens and locks along, after what is under way', async (context) => {
  const { client40, client41, server, filesystem } = await serve(context);
  const [one, two] = [await client40('one'), await client41('two')];
  await one.open({ name: 'f', create: 'unchecked' });
  const { state, handle } = await two.open({ name: 'f' });
  assert.equal((await two.compound(ops.put(handle), ops.lock({ open: { state } }))).status, 0);
  let release: () => void = () => undefined;
  filesystem.onChange = () => new Promise((resolve) => (release = resolve));
  const writing = two.compound(ops.put(handle), ops.write(state, 0, Buffer.from('x')));
  await turns();
  let isRemoved = false;
  const removed = server.removeExport(filesystem.id).then(() => (isRemoved = true));
  await turns();
  assert.equal(isRemoved, false);
  release();
  assert.equal((await writing).status, 0);
  await removed;
  assert.equal(server.locks.size, 0);
  assert.equal((await two.compound(ops.put(handle))).status, Status4.stale);
});

test('4.1 wants a session first, once, and some operations alone', async (context) => {
  const { client41, connect } = await serve(context);
  const client = await client41('tester');
  assert.equal((await client.bare(ops.putRoot())).status, Status4.operationNotInSession);
  const twice = await client.bare(client.sequence(1, 1), client.sequence(2, 1));
  assert.equal(twice.status, Status4.sequencePosition);
  const destroy = ops.raw(Op.destroyClientId, (args) => args.u64(client.clientId));
  assert.equal((await client.bare(destroy, destroy)).status, Status4.notOnlyOperation);
  assert.equal((await client.bare(destroy)).status, Status4.clientIdBusy);
  const endSession = ops.raw(Op.destroySession, (args) => args.fixed(client.sessionId));
  assert.equal((await client.bare(endSession)).status, 0);
  assert.equal((await client.bare(client.sequence(0, 2))).status, Status4.badSession);
  assert.equal((await client.bare(destroy)).status, 0);
  assert.equal((await client.bare(destroy)).status, Status4.staleClientId);
  const retired = await Client41.connect(await connect(), 'other');
  assert.deepEqual((await retired.compound(ops.raw(Op.renew, (args) => args.u64(1n)))).done, [
    [Op.renew, Status4.notSupported],
  ]);
});

test('replies are kept only as large as agreed, and never larger than the client can take', async (context) => {
  const { client41, client3 } = await serve(context);
  const root = await client3();
  const { handle } = await root.create(root.root, 'f');
  await root.write(handle, 0, Buffer.alloc(100_000));
  const client = await client41('tester');
  const read = (keep: boolean, sequence: number) =>
    client.bare(client.sequence(1, sequence, keep), ops.put(handle), ops.read(NO_STATE, 0, 100_000));
  assert.equal((await read(true, 1)).status, Status4.replyTooBigToCache);
  assert.equal((await read(false, 2)).status, 0);
});

const NO_STATE = { sequence: 0, other: Buffer.alloc(12) };

test('EXCHANGE_ID and CREATE_SESSION: known, restarted and foreign clients', async (context) => {
  const { connect, server } = await serve(context);
  const rpc = await connect();
  const client = new Client41(rpc, 'tester');
  await client.identify();
  assert.equal((await client.create(4, client.createSequence + 1)).status, Status4.sequenceMisordered);
  const made = await client.create(4);
  const repeated = await client.create(4);
  assert.deepEqual(repeated.results, made.results, 'a CREATE_SESSION that comes again makes no second session');
  client.sessionId = made.results[0] as Buffer;
  client.slots.push(0, 0, 0, 0);
  await client.compound(ops.raw(Op.reclaimComplete, (args) => args.bool(false)));
  const again = await client.compound(ops.raw(Op.reclaimComplete, (args) => args.bool(false)));
  assert.equal(again.status, Status4.completeAlready);
  const known = (await client.exchange()).results[0] as { clientId: bigint; flags: number };
  assert.equal(known.clientId, client.clientId);
  assert.ok(known.flags >= CONFIRMED);
  assert.equal((await client.open({ name: 'f', create: 'unchecked' })).status, 0);
  const outsider = new Client41(await connect({ uid: 5, gid: 5 }), 'tester');
  assert.equal((await outsider.exchange(OTHER_VERIFIER)).status, Status4.clientIdInUse);
  assert.equal((await client.exchange(OTHER_VERIFIER, 0x4000_0000)).status, Status4.notSame);
  assert.equal((await client.exchange(undefined, 0x8000_0000)).status, Status4.invalid);
  const restarted = new Client41(await connect(), 'tester');
  await restarted.identify(OTHER_VERIFIER);
  assert.equal(server.locks.size, 1, 'what it held stays until the new one is confirmed');
  await restarted.createSession();
  assert.equal(server.locks.size, 0);
  assert.equal((await client.compound(ops.putRoot())).status, Status4.badSession);
  const tooEarly = await restarted.open({ name: 'f' });
  assert.equal(tooEarly.status, Status4.grace, 'before RECLAIM_COMPLETE nothing new is opened');
});

test('SETCLIENTID: the same client, one that restarted, and a foreign one', async (context) => {
  const { connect, server } = await serve(context);
  const client = await Client40.connect(await connect(), 'tester');
  const id = client.clientId;
  assert.equal((await client.open({ name: 'f', create: 'unchecked' })).status, 0);
  await client.identify(Buffer.from('verifier'));
  assert.equal(client.clientId, id);
  assert.equal(server.locks.size, 1);
  const outsider = new Client40(await connect({ uid: 5, gid: 5 }), 'tester');
  assert.equal((await outsider.setClientId(OTHER_VERIFIER)).status, Status4.clientIdInUse);
  await client.identify(OTHER_VERIFIER);
  assert.notEqual(client.clientId, id);
  assert.equal(server.locks.size, 0);
  const renew = (clientId: bigint) => client.compound(ops.raw(Op.renew, (args) => args.u64(clientId)));
  assert.equal((await renew(client.clientId)).status, 0);
  assert.equal((await renew(id)).status, Status4.expired);
  assert.equal((await renew(1n)).status, Status4.staleClientId);
  const wrong = ops.raw(Op.setClientIdConfirm, (args) => args.u64(client.clientId).u64(1n));
  assert.equal((await client.compound(wrong)).status, Status4.staleClientId);
});

test('clients, sessions and opens have bounds', async (context) => {
  const limits = { clientsMax: 3, sessionsPerClientMax: 2, opensPerClientMax: 2, slotsPerSessionMax: 4 };
  const { connect } = await serve(context, { limits });
  const client = await Client41.connect(await connect(), 'tester');
  await client.identify();
  await client.createSession();
  await client.identify();
  assert.equal((await client.create(4)).status, Status4.resource);
  assert.equal((await client.open({ name: 'a', create: 'unchecked' })).status, 0);
  assert.equal((await client.open({ name: 'b', create: 'unchecked' })).status, 0);
  assert.equal((await client.open({ name: 'c', create: 'unchecked' })).status, Status4.resource);
  await Client40.connect(await connect(), 'two');
  await Client40.connect(await connect(), 'three');
  await assert.rejects(Client40.connect(await connect(), 'four'), /10018/);
});
