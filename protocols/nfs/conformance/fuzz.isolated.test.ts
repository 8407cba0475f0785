import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Random } from '../../../testing/random.ts';
import { until } from '../../../testing/waiting.ts';
import { ANONYMOUS, Client41, ops, writeCompound, writeSet4, type Operation4 } from '../testing/client4.ts';
import { Client3, Proc3, writeSet3 } from '../testing/client3.ts';
import { RpcClient } from '../testing/rpc-client.ts';
import { serve, type Served } from '../testing/serve.ts';
import { serveVolume } from '../testing/serve-volume.ts';
import { Op } from '../v4/opcodes.ts';
import { Attribute } from '../v4/attributes/attribute.ts';
import type { XdrWriter } from '../xdr/writer.ts';

/**
 * Goal: no message makes the server crash, hang or grow. Method: valid calls of every procedure and operation, with bytes
 * changed, words set to extremes, pieces cut out, doubled or moved; many over one connection until it is ended, and now
 * and then a look whether a client that does nothing wrong is still served.
 */
const isTorture = process.env['GRANARY_TORTURE'] === '1';
const MESSAGES = isTorture ? 100_000 : 1_500;
const MESSAGES_OVER_VOLUME = isTorture ? 100_000 : 1_000;
const LOOK_EVERY = 500;
const MIB = 1024 * 1024;
const EXTREMES = [0, 1, 2, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 4096, 65536];

type Attacked = Omit<Served, 'filesystem'>;

interface Victims {
  readonly root: Buffer;
  readonly file: Buffer;
}

function version3(rpc: RpcClient, { root, file }: Victims): Buffer[] {
  const call = (procedure: number, write: Parameters<RpcClient['message']>[3]) =>
    rpc.message(100003, 3, procedure, write);
  return [
    call(Proc3.getattr, (args) => args.opaque(file)),
    call(Proc3.setattr, (args) => writeSet3(args.opaque(file), { mode: 0o600, size: 10, mtime: 'now' })),
    call(Proc3.lookup, (args) => args.opaque(root).text('file')),
    call(Proc3.access, (args) => args.opaque(file).u32(0x3f)),
    call(Proc3.readlink, (args) => args.opaque(file)),
    call(Proc3.read, (args) => args.opaque(file).size(0).u32(4096)),
    call(Proc3.write, (args) => args.opaque(file).size(0).u32(8).u32(2).opaque(Buffer.alloc(8, 1))),
    call(Proc3.create, (args) => writeSet3(args.opaque(root).text('new').u32(0), { mode: 0o600 })),
    call(Proc3.mkdir, (args) => writeSet3(args.opaque(root).text('dir'), { mode: 0o700 })),
    call(Proc3.symlink, (args) => {
      writeSet3(args.opaque(root).text('link'), {});
      args.text('target');
    }),
    call(Proc3.mknod, (args) => writeSet3(args.opaque(root).text('pipe').u32(7), {})),
    call(Proc3.remove, (args) => args.opaque(root).text('new')),
    call(Proc3.rmdir, (args) => args.opaque(root).text('dir')),
    call(Proc3.rename, (args) => args.opaque(root).text('new').opaque(root).text('renamed')),
    call(Proc3.link, (args) => args.opaque(file).opaque(root).text('linked')),
    call(Proc3.readdir, (args) => args.opaque(root).u64(0n).u64(0n).u32(4096)),
    call(Proc3.readdirplus, (args) => args.opaque(root).u64(0n).u64(0n).u32(4096).u32(4096)),
    call(Proc3.fsstat, (args) => args.opaque(root)),
    call(Proc3.fsinfo, (args) => args.opaque(root)),
    call(Proc3.pathconf, (args) => args.opaque(root)),
    call(Proc3.commit, (args) => args.opaque(file).u64(0n).u32(0)),
    rpc.message(100005, 3, 1, (args) => args.text('/share')),
    rpc.message(100005, 3, 2, () => undefined),
    rpc.message(100005, 3, 5, () => undefined),
  ];
}

/** What stands beside version 3: locks, ACLs, the status monitor and the portmapper. */
function companions(rpc: RpcClient, { file }: Victims): Buffer[] {
  const owned = (args: XdrWriter) => args.text('fuzz').opaque(file).text('owner');
  const range = (args: XdrWriter) => owned(args).i32(1).u64(0n).u64(10n);
  const lock = (procedure: number, write: Parameters<RpcClient['message']>[3]) =>
    rpc.message(100021, 4, procedure, write);
  return [
    lock(1, (args) => range(args.text('cookie').bool(true))),
    lock(2, (args) => range(args.text('cookie').bool(true).bool(true)).bool(false).i32(1)),
    lock(3, (args) => range(args.text('cookie').bool(true).bool(true))),
    lock(4, (args) => range(args.text('cookie'))),
    lock(20, (args) => owned(args.text('cookie')).u32(0).u32(1).bool(false)),
    lock(21, (args) => owned(args.text('cookie')).u32(0).u32(1).bool(false)),
    lock(23, (args) => args.text('fuzz').i32(1)),
    rpc.message(100024, 1, 6, (args) => args.text('fuzz').i32(3)),
    rpc.message(100227, 3, 1, (args) => args.opaque(file).u32(15)),
    rpc.message(100227, 3, 2, (args) => args.opaque(file).u32(1).u32(1).u32(1).u32(1).u32(0).u32(6).u32(0).u32(0)),
    rpc.message(100000, 2, 3, (args) => args.u32(100003).u32(3).u32(6).u32(0)),
    rpc.message(100000, 3, 3, (args) => args.u32(100003).u32(3).text('tcp').text('').text('')),
    rpc.message(100000, 4, 4, () => undefined),
  ];
}

function operations4(clientId: bigint, { root, file }: Victims): Operation4[][] {
  const own = { clientId, owner: 'fuzz' };
  return [
    [ops.put(root), ops.open({ name: 'opened', create: 'unchecked', set: { mode: 0o600 }, ...own }), ops.get()],
    [ops.put(root), ops.open({ name: 'exclusive', create: Buffer.alloc(8, 1), ...own })],
    [ops.put(file), ops.open({ claim: 'previous', ...own })],
    [ops.put(file), ops.read(ANONYMOUS, 0, 4096), ops.write(ANONYMOUS, 0, Buffer.alloc(16)), ops.commit()],
    [ops.put(file), ops.lock({ open: { state: ANONYMOUS, clientId } })],
    [ops.put(file), ops.lockt(true, 0n, 10n, clientId, 'x')],
    [ops.put(file), ops.unlock(ANONYMOUS, 0n, 10n), ops.close(ANONYMOUS)],
    [ops.put(file), ops.confirm(ANONYMOUS, 1), ops.downgrade(ANONYMOUS, 1, 0)],
    [ops.put(root), ops.readdir(0n, 4096, ...Array.from({ length: 56 }, (_, number) => number))],
    [ops.put(file), ops.getattr(Attribute.acl, Attribute.owner, Attribute.size, Attribute.supported)],
    [ops.put(file), ops.setattr(ANONYMOUS, { mode: 0o600, acl: [[0, 0, 1, 'OWNER@']], owner: '5', mtime: [1, 2] })],
    [ops.put(file), ops.verify({ mode: 0o600 }), ops.verify({ size: 5 }, true)],
    [ops.put(root), ops.mkdir('made'), ops.put(root), ops.symlink('sym', 'x'), ops.readlink()],
    [ops.put(root), ops.save(), ops.rename('made', 'moved'), ops.restore(), ops.remove('moved'), ops.link('l')],
    [ops.putRoot(), ops.lookup('share'), ops.parent(), ops.access(0x3f)],
    [ops.raw(Op.setClientId, (args) => args.u64(1n).text('fuzz').u32(1).text('tcp').text('a').u32(1))],
    [ops.raw(Op.setClientIdConfirm, (args) => args.u64(clientId).u64(1n)), ops.raw(Op.renew, (args) => args.u64(1n))],
    [ops.raw(Op.releaseLockOwner, (args) => args.u64(clientId).text('x'))],
    [ops.put(root), ops.raw(Op.securityInfo, (args) => args.text('file'))],
    [ops.raw(Op.create, (args) => writeSet4(args.u32(3).u32(1).u32(2).text('dev'), {}))],
  ];
}

function operations41(client: Client41): Operation4[][] {
  return [
    [ops.raw(Op.exchangeId, (args) => args.u64(1n).text('fuzz41').u32(0).u32(0).u32(0))],
    [
      ops.raw(Op.createSession, (args) => {
        args.u64(client.clientId).u32(1).u32(0);
        for (let word = 0; word < 14; word++) args.u32(word % 7 === 6 ? 0 : 4096);
        args.u32(1).u32(1).u32(1).u32(0).text('machine').u32(0).u32(0).u32(0);
      }),
    ],
    [ops.raw(Op.destroySession, (args) => args.fixed(Buffer.alloc(16, 1)))],
    [ops.raw(Op.bindConnection, (args) => args.fixed(client.sessionId).u32(3).bool(false))],
    [ops.raw(Op.destroyClientId, (args) => args.u64(1n))],
    [client.sequence(3, 1), ops.raw(Op.testStateId, (args) => args.u32(1).u32(0).fixed(Buffer.alloc(12)))],
    [client.sequence(4, 1), ops.raw(Op.freeStateId, (args) => args.u32(0).fixed(Buffer.alloc(12)))],
    [client.sequence(5, 1), ops.raw(Op.reclaimComplete, (args) => args.bool(true))],
    [client.sequence(6, 1), ops.raw(Op.backChannelControl, (args) => args.u32(1).u32(1).u32(0))],
    [client.sequence(7, 1), ops.putRoot(), ops.raw(Op.securityInfoNoName, (args) => args.u32(0)), ops.get()],
  ];
}

/** The record mark stays true to the length most of the time, so that the change is looked at. */
function mutate(random: Random, message: Buffer): Buffer {
  let bytes: Buffer = Buffer.from(message);
  const changes = 1 + random.below(4);
  for (let change = 0; change < changes; change++) {
    const at = 4 + random.below(Math.max(1, bytes.length - 4));
    const word = 4 + 4 * random.below(Math.max(1, Math.floor((bytes.length - 4) / 4)));
    const kind = random.below(6);
    if (kind === 0) bytes[at] = random.below(256);
    else if (kind === 1 && word + 4 <= bytes.length)
      bytes.writeUInt32BE(EXTREMES[random.below(EXTREMES.length)]!, word);
    else if (kind === 2) bytes = Buffer.concat([bytes.subarray(0, word), bytes.subarray(word + 4 * random.below(8))]);
    else if (kind === 3)
      bytes = Buffer.concat([bytes.subarray(0, word), bytes.subarray(word - 4), bytes.subarray(word)]);
    else if (kind === 4) bytes = bytes.subarray(0, Math.max(8, at));
    else if (word + 4 <= bytes.length) bytes.writeUInt32BE(random.below(70), word);
  }
  bytes = Buffer.from(bytes);
  if (random.below(50) !== 0 && bytes.length >= 4) bytes.writeUInt32BE((0x8000_0000 | (bytes.length - 4)) >>> 0);
  return bytes;
}

async function attack(served: Attacked, messages: readonly Buffer[]): Promise<void> {
  const attacker = await RpcClient.open(served.port);
  // Its reply shows that all before it were looked at.
  const probe = attacker.message(100003, 3, 0, () => undefined);
  const answered = attacker.exchange(Buffer.concat([...messages, probe])).then(
    () => true,
    () => true,
  );
  // What an unfinished record swallowed is never answered: the end of the stream then ends the connection.
  attacker.socket.end();
  await answered;
  attacker.close();
}

const limits = { closeTimeoutMs: 200, clientsMax: 200 };
const callbacks = { granted: () => Promise.resolve(true), restarted: () => Promise.resolve() };

test(`${MESSAGES} mutated calls end their connection at most`, { timeout: 900_000 }, async (context) => {
  await attackAll(await serve(context, { limits, callbacks }), MESSAGES);
});

test(`${MESSAGES_OVER_VOLUME} mutated calls over a volume, too`, { timeout: 900_000 }, async (context) => {
  await attackAll(await serveVolume(context, 128 * MIB, { limits, callbacks }), MESSAGES_OVER_VOLUME);
});

async function attackAll(served: Attacked, messages: number): Promise<void> {
  const innocent: Client3 = await served.client3();
  const { handle: file } = await innocent.create(innocent.root, 'file', { mode: 0o644 });
  await innocent.write(file, 0, Buffer.from('intact'));
  const { handle: marked } = await innocent.create(innocent.root, 'marked', { mode: 0o600 });
  await innocent.write(marked, 0, Buffer.from('intact'));
  const rpc = await served.connect({ uid: 1000, gid: 1000 });
  const client41 = await served.client41('innocent');
  const victims = { root: innocent.root, file };
  const compounds = (minor: number, all: Operation4[][]) =>
    all.map((operations) => rpc.message(100003, 4, 1, (args) => writeCompound(args, minor, operations)));
  const client40 = await served.client40('innocent too');
  const valid = [
    ...version3(rpc, victims),
    ...companions(rpc, victims),
    ...compounds(0, operations4(client40.clientId, victims)),
    ...compounds(1, operations41(client41)),
  ];
  const random = new Random(18);
  const before = process.memoryUsage().rss;
  for (let sent = 0; sent < messages;) {
    const count = Math.min(messages - sent, 1 + random.below(6));
    const batch = Array.from({ length: count }, () => mutate(random, valid[random.below(valid.length)]!));
    await attack(served, batch);
    const isTime = Math.floor(sent / LOOK_EVERY) !== Math.floor((sent + count) / LOOK_EVERY);
    sent += count;
    if (!isTime) continue;
    assert.equal((await innocent.read(marked, 0, 100)).data.toString(), 'intact');
    assert.equal((await innocent.getattr(innocent.root)).status, 0);
  }
  await until(() => served.server.connectionCount <= 5, 'the connections are gone');
  const errors = served.events.filter(({ type }) => type === 'internal-error');
  assert.deepEqual(errors.slice(0, 3), []);
  const growth = (process.memoryUsage().rss - before) / MIB;
  assert.ok(growth < 128, `grew by ${growth} MiB`);
}
