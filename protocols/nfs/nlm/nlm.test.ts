import assert from 'node:assert/strict';
import { createServer, type Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import { until } from '../../../testing/waiting.ts';
import { ops } from '../testing/client4.ts';
import { MemoryFilesystem } from '../testing/memory-filesystem.ts';
import type { RpcClient } from '../testing/rpc-client.ts';
import { serve, type ServeOptions } from '../testing/serve.ts';
import { MemoryRecorder } from '../recovery/recorder.ts';
import { RecordReader } from '../rpc/record-reader.ts';
import { XdrReader } from '../xdr/reader.ts';
import { XdrWriter } from '../xdr/writer.ts';
import { Status4 } from '../v4/status.ts';
import { RpcCallbacks, type HostCallbacks } from './callbacks.ts';
import { NlmStatus } from './messages.ts';

const NLM = 100021;
const Proc = { test: 1, lock: 2, cancel: 3, unlock: 4, share: 20, unshare: 21, freeAll: 23 } as const;

interface Wanted {
  readonly handle: Buffer;
  readonly exclusive?: boolean;
  readonly block?: boolean;
  readonly reclaim?: boolean;
  readonly offset?: bigint;
  readonly length?: bigint;
  readonly process?: number;
}

/** One host, whose processes lock. */
class Host {
  readonly rpc: RpcClient;
  readonly name: string;

  constructor(rpc: RpcClient, name: string) {
    this.rpc = rpc;
    this.name = name;
  }

  #lock(args: XdrWriter, { handle, process = 1, offset = 0n, length = 10n }: Wanted): void {
    args.text(this.name).opaque(handle).text(`owner-${process}`).i32(process).u64(offset).u64(length);
  }

  async ask(procedure: number, wanted: Wanted): Promise<XdrReader> {
    const { exclusive = true, block = false, reclaim = false } = wanted;
    const body = await this.rpc.request(NLM, 4, procedure, (args) => {
      args.text('cookie');
      if (procedure === Proc.lock || procedure === Proc.cancel) args.bool(block);
      if (procedure !== Proc.unlock) args.bool(exclusive);
      this.#lock(args, wanted);
      if (procedure === Proc.lock) args.bool(reclaim).i32(1);
    });
    assert.equal(body.text(20), 'cookie');
    return body;
  }

  async status(procedure: number, wanted: Wanted): Promise<number> {
    return (await this.ask(procedure, wanted)).u32();
  }

  async share(procedure: number, handle: Buffer, access: number, deny: number): Promise<number> {
    const body = await this.rpc.request(NLM, 4, procedure, (args) => {
      args.text('cookie').text(this.name).opaque(handle).text('owner').u32(deny).u32(access).bool(false);
    });
    body.text(20);
    return body.u32();
  }
}

class FakeCallbacks implements HostCallbacks {
  readonly grants: string[] = [];
  readonly restarts: string[] = [];
  accepts = true;

  granted(address: string, { processId, offset }: { processId: number; offset: bigint }): Promise<boolean> {
    this.grants.push(`${address} ${processId} ${offset}`);
    return Promise.resolve(this.accepts);
  }

  restarted(address: string, serverName: string): Promise<void> {
    this.restarts.push(`${address} ${serverName}`);
    return Promise.resolve();
  }
}

async function open(context: TestContext, options: ServeOptions = {}) {
  const callbacks = new FakeCallbacks();
  const served = await serve(context, { callbacks, ...options });
  const client = await served.client3();
  const { handle } = await client.create(client.root, 'f', { mode: 0o666 });
  const hosts = [new Host(await served.connect(), 'one'), new Host(await served.connect(), 'two')] as const;
  return { ...served, callbacks, client, handle, hosts };
}

test('ranges are locked, tested and unlocked', async (context) => {
  const { handle, hosts, client, server } = await open(context);
  const [one, two] = hosts;
  assert.equal(await one.status(Proc.lock, { handle, length: 100n }), NlmStatus.granted);
  assert.equal(await one.status(Proc.lock, { handle, length: 100n }), NlmStatus.granted, 'again is the same');
  assert.equal(await two.status(Proc.lock, { handle, offset: 99n }), NlmStatus.denied);
  assert.equal(await one.status(Proc.lock, { handle, offset: 99n, process: 2 }), NlmStatus.denied);
  const tested = await two.ask(Proc.test, { handle, exclusive: false, length: 0n });
  assert.deepEqual(
    [tested.u32(), tested.bool(), tested.i32(), tested.text(20), tested.u64(), tested.u64()],
    [NlmStatus.denied, true, 1, 'owner-1', 0n, 100n],
  );
  assert.equal(await one.status(Proc.unlock, { handle, offset: 50n, length: 0n }), NlmStatus.granted);
  assert.equal(await two.status(Proc.lock, { handle, offset: 50n, length: 0n }), NlmStatus.granted);
  assert.equal(await two.status(Proc.unlock, { handle, length: 0n }), NlmStatus.granted);
  assert.equal(await one.status(Proc.unlock, { handle, length: 0n }), NlmStatus.granted);
  assert.equal(server.locks.size, 0);
  assert.equal(await one.status(Proc.lock, { handle, offset: 2n ** 63n, length: 2n ** 63n + 1n }), NlmStatus.tooLarge);
  assert.equal(await one.status(Proc.lock, { handle: client.root }), NlmStatus.failed);
  assert.equal(await one.status(Proc.lock, { handle: Buffer.alloc(24) }), NlmStatus.staleHandle);
});

test('versions 3 and 4 have one table', async (context) => {
  const { handle, hosts, client40 } = await open(context);
  const [host] = hosts;
  assert.equal(await host.status(Proc.lock, { handle }), NlmStatus.granted);
  const client = await client40('tester');
  const test = async () =>
    (await client.compound(ops.put(handle), ops.lockt(true, 0n, 1n, client.clientId, 'x'))).status;
  assert.equal(await test(), Status4.denied);
  assert.equal(await host.status(Proc.unlock, { handle }), NlmStatus.granted);
  assert.equal(await test(), 0);
});

test('a request that may wait gets its lock when it is free, and the host is called', async (context) => {
  const { handle, hosts, callbacks } = await open(context);
  const [one, two] = hosts;
  await one.status(Proc.lock, { handle });
  assert.equal(await two.status(Proc.lock, { handle, block: true }), NlmStatus.blocked);
  assert.equal(await two.status(Proc.lock, { handle, block: true }), NlmStatus.blocked, 'asked again, it waits once');
  await one.status(Proc.unlock, { handle });
  await until(() => callbacks.grants.length > 0, 'the host is called');
  assert.deepEqual(callbacks.grants, ['127.0.0.1 1 0']);
  assert.equal(await one.status(Proc.lock, { handle }), NlmStatus.denied);
  assert.equal(await two.status(Proc.unlock, { handle }), NlmStatus.granted);
});

test('a host that cannot be called does not get the lock, and one that cancels is not called', async (context) => {
  const { handle, hosts, callbacks, server } = await open(context);
  const [one, two] = hosts;
  callbacks.accepts = false;
  await one.status(Proc.lock, { handle });
  await two.status(Proc.lock, { handle, block: true });
  await one.status(Proc.unlock, { handle });
  await until(() => callbacks.grants.length > 0 && server.locks.size === 0, 'the lock is free again');
  assert.equal(await one.status(Proc.lock, { handle }), NlmStatus.granted);
  assert.equal(await two.status(Proc.lock, { handle, block: true }), NlmStatus.blocked);
  assert.equal(await two.status(Proc.cancel, { handle, block: true }), NlmStatus.granted);
  assert.equal(await two.status(Proc.cancel, { handle, block: true }), NlmStatus.denied);
  await one.status(Proc.unlock, { handle });
  assert.deepEqual([callbacks.grants.length, server.locks.size], [1, 0]);
});

test('a host that restarted, or says that it has ended, holds nothing any more', async (context) => {
  const { handle, hosts, server } = await open(context);
  const [one, two] = hosts;
  await one.status(Proc.lock, { handle });
  await two.status(Proc.lock, { handle, offset: 20n });
  await two.rpc.request(100024, 1, 6, (args) => args.text('one').i32(3));
  assert.equal(await two.status(Proc.lock, { handle }), NlmStatus.granted);
  await two.rpc.request(NLM, 4, Proc.freeAll, (args) => args.text('two').i32(1));
  assert.equal(server.locks.size, 0);
});

test('who may neither read nor write a file can neither lock it nor deny it to others', async (context) => {
  const { client, connect, server } = await open(context);
  const { handle } = await client.create(client.root, 'private', { mode: 0o640, uid: 7, gid: 70 });
  const host = async (uid: number, gid: number) => new Host(await connect({ uid, gid }), `host of ${uid}`);
  const [owner, member, outsider] = [await host(7, 1), await host(8, 70), await host(9, 1)];
  assert.equal(await outsider.status(Proc.lock, { handle, exclusive: false }), NlmStatus.failed);
  assert.equal(await outsider.share(Proc.share, handle, 1, 1), NlmStatus.failed);
  assert.equal(server.locks.size, 0);
  for (const allowed of [owner, member]) {
    assert.equal(await allowed.status(Proc.lock, { handle }), NlmStatus.granted);
    assert.equal(await allowed.status(Proc.unlock, { handle }), NlmStatus.granted);
    assert.equal(await allowed.share(Proc.share, handle, 1, 1), NlmStatus.granted);
    assert.equal(await allowed.share(Proc.unshare, handle, 1, 1), NlmStatus.granted);
  }
});

test('a host has so many shares and no more', async (context) => {
  const { client, hosts } = await open(context, { limits: { opensPerClientMax: 2 } });
  const statuses: number[] = [];
  for (const name of ['a', 'b', 'c']) {
    const { handle } = await client.create(client.root, name);
    statuses.push(await hosts[0].share(Proc.share, handle, 1, 0));
  }
  assert.deepEqual(statuses, [NlmStatus.granted, NlmStatus.granted, NlmStatus.noLocks]);
});

test('shares of DOS hold against each other and against version 4', async (context) => {
  const { handle, hosts, client40, server } = await open(context);
  const [one, two] = hosts;
  assert.equal(await one.share(Proc.share, handle, 1, 2), NlmStatus.granted);
  assert.equal(await two.share(Proc.share, handle, 2, 0), NlmStatus.denied);
  assert.equal((await (await client40('tester')).open({ name: 'f', access: 2 })).status, Status4.shareDenied);
  assert.equal(await one.share(Proc.unshare, handle, 1, 2), NlmStatus.granted);
  assert.equal(await two.share(Proc.share, handle, 2, 0), NlmStatus.granted);
  assert.equal(await two.share(Proc.unshare, handle, 2, 0), NlmStatus.granted);
  assert.equal(server.locks.size, 0);
});

test('after a restart hosts are notified, reclaim their locks, and others wait', async (context) => {
  const recorder = new MemoryRecorder();
  const filesystem = new MemoryFilesystem();
  const first = await open(context, { recorder, filesystem });
  const { handle } = first;
  await first.hosts[0].status(Proc.lock, { handle });
  assert.equal(recorder.load().length, 1);
  await first.server.close();
  const callbacks = new FakeCallbacks();
  const clock = { now: 0 };
  const served = await serve(context, { recorder, filesystem, callbacks, serverName: 'array', now: () => clock.now });
  assert.deepEqual(callbacks.restarts, ['127.0.0.1 array']);
  const [one, two] = [new Host(await served.connect(), 'one'), new Host(await served.connect(), 'two')];
  assert.equal(await two.status(Proc.lock, { handle }), NlmStatus.grace);
  assert.equal(await two.status(Proc.lock, { handle, reclaim: true }), NlmStatus.grace);
  assert.equal(await two.status(Proc.test, { handle }), NlmStatus.grace);
  assert.equal(await one.status(Proc.lock, { handle, reclaim: true }), NlmStatus.granted);
  clock.now += served.server.limits.graceMs;
  served.server.watch();
  await until(() => !served.server.isInGrace, 'the grace period ends');
  assert.equal(await two.status(Proc.lock, { handle }), NlmStatus.denied);
  assert.equal(await one.status(Proc.lock, { handle, offset: 50n, reclaim: true }), NlmStatus.grace);
  await one.status(Proc.unlock, { handle, length: 0n });
  served.server.watch();
  await until(() => recorder.load().length === 0, 'only hosts that hold a lock are on record');
});

test('the portmapper says that everything is at one port', async (context) => {
  const { connect, port } = await serve(context);
  const rpc = await connect();
  const find = async (program: number, version: number, protocol = 6) =>
    (await rpc.request(100000, 2, 3, (args) => args.u32(program).u32(version).u32(protocol).u32(0))).u32();
  assert.deepEqual([await find(NLM, 4), await find(100003, 3), await find(100005, 3)], [port, port, port]);
  assert.deepEqual([await find(NLM, 1), await find(100003, 3, 17), await find(1, 1)], [0, 0, 0]);
  const address = await rpc.request(100000, 4, 3, (args) => args.u32(NLM).u32(4).text('tcp').text('').text(''));
  assert.equal(address.text(50), `0.0.0.0.${port >> 8}.${port & 255}`);
  const dumped = await rpc.request(100000, 2, 4);
  let entries = 0;
  for (; dumped.bool(); entries++) dumped.fixed(16);
  assert.equal(entries, 6);
});

/** A host with a portmapper, a lock manager and a status monitor at one port. */
async function fakeHost(context: TestContext, answer: (program: number, args: XdrReader, port: number) => XdrWriter) {
  const sockets = new Set<Socket>();
  const listener = createServer((socket) => {
    sockets.add(socket);
    const records = new RecordReader(10_000, (record) => {
      const args = new XdrReader(record);
      const xid = args.u32();
      args.fixed(8);
      const program = args.u32();
      args.fixed(8 + 16);
      const address = listener.address();
      const body = answer(program, args, address !== null && typeof address === 'object' ? address.port : 0);
      const reply = new XdrWriter();
      reply.u32(0).u32(xid).u32(1).u32(0).u32(0).u32(0).u32(0).fixed(body.bytes);
      reply.setU32(0, (0x8000_0000 | (reply.length - 4)) >>> 0);
      socket.write(reply.bytes);
    });
    socket.on('data', (chunk) => records.push(chunk));
    socket.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  context.after(() => {
    for (const socket of sockets) socket.destroy();
    listener.close();
  });
  const address = listener.address();
  return address !== null && typeof address === 'object' ? address.port : 0;
}

test('hosts are called where their portmapper says', async (context) => {
  const notified: string[] = [];
  const port = await fakeHost(context, (program, args, own) => {
    if (program === 100000) return new XdrWriter().u32(own);
    if (program === 100024) notified.push(`${args.text(50)} ${args.i32()}`);
    return new XdrWriter().text('cookie').u32(0);
  });
  const callbacks = new RpcCallbacks(port);
  const lock = { cookie: Buffer.from('c'), exclusive: true, caller: Buffer.from('h'), handle: Buffer.alloc(24) };
  const args = { ...lock, owner: Buffer.from('o'), processId: 1, offset: 0n, length: 1n };
  assert.equal(await callbacks.granted('127.0.0.1', args), true);
  await callbacks.restarted('127.0.0.1', 'array', 7);
  assert.deepEqual(notified, ['array 7']);
  assert.equal(await new RpcCallbacks(1).granted('127.0.0.1', args), false);
});
