import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { until } from '../../../testing/waiting.ts';
import { turns } from '../../../testing/turns.ts';
import { Client3, Proc3 } from '../testing/client3.ts';
import { RpcClient } from '../testing/rpc-client.ts';
import { serve, type ServeOptions } from '../testing/serve.ts';
import { RecordReader } from './record-reader.ts';
import { ReplayCache } from './replay-cache.ts';

const NFS = 100003;
const MIB = 1024 * 1024;

async function open(context: TestContext, options?: ServeOptions) {
  const served = await serve(context, options);
  return { ...served, rpc: await served.connect() };
}

test('programs, versions and procedures that are not there are refused as the RFC says', async (context) => {
  const { rpc } = await open(context);
  const answer = async (program: number, version: number, procedure: number) => {
    const { stat, status, body } = await rpc.call(program, version, procedure);
    return [stat, status, ...(status === 2 ? [body.u32(), body.u32()] : [])];
  };
  assert.deepEqual(await answer(NFS, 3, 0), [0, 0]);
  assert.deepEqual(await answer(100099, 1, 0), [0, 1]);
  assert.deepEqual((await answer(NFS, 2, 0)).slice(0, 3), [0, 2, 3]);
  assert.deepEqual(await answer(NFS, 3, 22), [0, 3]);
  assert.deepEqual(await answer(NFS, 3, 1), [0, 4]);
  assert.deepEqual(await answer(100005, 1, 0), [0, 2, 3, 3]);
});

test('another version of RPC and other kinds of credentials are denied', async (context) => {
  const { rpc } = await open(context);
  const message = rpc.message(NFS, 3, 1, () => undefined);
  const other = Buffer.from(message);
  other.writeUInt32BE(3, 12);
  const mismatch = await rpc.exchange(other);
  assert.deepEqual([mismatch.stat, mismatch.status, mismatch.body.u32(), mismatch.body.u32()], [1, 0, 2, 2]);
  const kerberos = rpc.message(NFS, 3, 1, () => undefined);
  kerberos.writeUInt32BE(6, 28);
  const weak = await rpc.exchange(kerberos);
  assert.deepEqual([weak.stat, weak.status, weak.body.u32()], [1, 1, 5]);
  const broken = rpc.message(NFS, 3, 1, () => undefined);
  // More groups than there may be.
  broken.writeUInt32BE(17, 28 + 8 + 4 + 8 + 8);
  const bad = await rpc.exchange(broken);
  assert.deepEqual([bad.stat, bad.status, bad.body.u32()], [1, 1, 1]);
});

test('who shows no credentials is anonymous', async (context) => {
  const { connect, filesystem } = await serve(context);
  const rpc = await connect();
  rpc.credentials = undefined;
  const client = await Client3.mount(rpc, '/share');
  const { attributes } = await client.create(client.root, 'f');
  assert.equal(attributes!.uid, 65534);
  assert.equal(filesystem.fileCount, 2);
});

test('records in any number of pieces and fragments are put together', () => {
  const seen: string[] = [];
  const text = 'one record in pieces';
  const fragment = (part: string, last: boolean) => {
    const head = Buffer.alloc(4);
    head.writeUInt32BE(((last ? 0x8000_0000 : 0) | part.length) >>> 0);
    return Buffer.concat([head, Buffer.from(part)]);
  };
  const streams = [
    fragment(text, true),
    Buffer.concat([fragment(text.slice(0, 3), false), fragment('', false), fragment(text.slice(3), true)]),
    Buffer.concat([fragment(text, false), fragment('', true)]),
  ];
  for (const stream of streams) {
    for (let size = 1; size <= stream.length; size++) {
      const reader = new RecordReader(100, (record) => seen.push(record.toString()));
      for (let at = 0; at < stream.length; at += size) reader.push(stream.subarray(at, at + size));
      assert.deepEqual(seen.splice(0), [text]);
      assert.equal(reader.isWithin, false);
    }
  }
});

test('garbage, records too large and calls that are none end their connection and nothing else', async (context) => {
  const { port, rpc, events } = await open(context);
  const client = await Client3.mount(rpc, '/share');
  for (const hex of ['ffffffff', '7fffffff', `80000008${'00000001'.repeat(2)}`, '80000000', '00000000'.repeat(70)]) {
    const attacker = await RpcClient.open(port);
    attacker.socket.write(Buffer.from(hex, 'hex'));
    await until(() => attacker.socket.closed, 'the connection is ended');
  }
  assert.equal((await client.getattr(client.root)).status, 0);
  assert.deepEqual(
    events.filter(({ type }) => type === 'internal-error'),
    [],
  );
});

test('a change that is sent again is not done again, also while it is under way and on another connection', async (context) => {
  const { rpc, connect, filesystem } = await open(context);
  const client = await Client3.mount(rpc, '/share');
  await client.create(client.root, 'f');
  const message = rpc.message(NFS, 3, Proc3.remove, (args) => args.opaque(client.root).text('f'));
  let release: () => void = () => undefined;
  filesystem.onChange = () => new Promise((resolve) => (release = resolve));
  const first = rpc.exchange(message);
  const other = await connect();
  const second = other.exchange(message);
  await turns();
  release();
  const replies = [await first, await second, await other.exchange(message)];
  for (const { bytes } of replies) assert.ok(bytes.equals(replies[0]!.bytes));
  assert.equal(replies[0]!.body.u32(), 0);
  filesystem.onChange = () => undefined;
  assert.equal((await client.remove(client.root, 'f')).status, 2);
});

test('the replies that are kept have a bound, and a failed request is forgotten', async () => {
  const cache = new ReplayCache(10, 4500);
  for (let index = 0; index < 50; index++) {
    await cache.run(`${index}`, () => Promise.resolve(Buffer.alloc(100)));
    assert.ok(cache.size <= 10 && cache.bytes <= 4500);
  }
  await cache.run('large', () => Promise.resolve(Buffer.alloc(10_000)));
  assert.deepEqual([cache.size, cache.bytes], [0, 0]);
  await assert.rejects(cache.run('x', () => Promise.reject(new Error('no'))));
  assert.equal(cache.size, 0);
});

test('requests in flight have a bound: the others wait on the wire and are all answered', async (context) => {
  const { rpc, filesystem } = await open(context, { limits: { requestsPerConnectionMax: 4 } });
  const client = await Client3.mount(rpc, '/share');
  let running = 0;
  let most = 0;
  filesystem.onChange = async () => {
    most = Math.max(most, ++running);
    await turns(3);
    running -= 1;
  };
  const made = await Promise.all(Array.from({ length: 200 }, (_, index) => client.create(client.root, `f${index}`)));
  for (const { status } of made) assert.equal(status, 0);
  assert.ok(most <= 4, `${most} at once`);
});

test('a client that asks and never reads is not read from any further', async (context) => {
  const { rpc, connect, server } = await open(context, { limits: { unsentBytesMax: MIB } });
  const client = await Client3.mount(rpc, '/share');
  const { handle } = await client.create(client.root, 'f');
  await client.write(handle, 0, Buffer.alloc(MIB, 1));
  const greedy = await connect();
  greedy.socket.pause();
  const before = process.memoryUsage().rss;
  const message = greedy.message(NFS, 3, Proc3.read, (args) => args.opaque(handle).size(0).u32(MIB));
  const many = Buffer.concat(Array.from({ length: 2000 }, () => message));
  // More than the system's own buffers for a socket can hold.
  for (let round = 0; round < 20 || (round < 400 && greedy.socket.writableLength === 0); round++) {
    greedy.socket.write(many);
    await delay(2);
  }
  assert.ok(greedy.socket.writableLength > 0, 'the server stopped reading');
  const growth = process.memoryUsage().rss - before;
  const bound = (server.limits.requestsPerConnectionMax + 64) * MIB + 128 * MIB;
  assert.ok(growth < bound, `${growth / MIB} MiB`);
  assert.equal((await client.getattr(handle)).status, 0);
});

test('a client that opens many silent connections loses them to others', async (context) => {
  const { connect, port, events } = await serve(context, { limits: { connectionsMax: 8 } });
  const client = await Client3.mount(await connect(), '/share');
  const silent = await Promise.all(Array.from({ length: 20 }, () => RpcClient.open(port).catch(() => undefined)));
  const late = await Client3.mount(await connect(), '/share');
  assert.equal((await late.getattr(late.root)).status, 0);
  assert.equal((await client.getattr(client.root)).status, 0);
  assert.ok(events.some(({ type }) => type === 'crowded'));
  for (const one of silent) one?.close();
});

test('a request that never ends is given up', async (context) => {
  let now = 0;
  const { port } = await serve(context, { limits: { requestTimeoutMs: 50 }, now: () => now });
  const slow = await RpcClient.open(port);
  slow.socket.write(Buffer.from('80000100', 'hex'));
  const once = await RpcClient.open(port);
  assert.equal((await once.call(NFS, 3, 0)).status, 0);
  now = 1000;
  await until(() => slow.socket.closed, 'the connection is ended');
});

test('a client that never takes its replies is dropped after a while', async (context) => {
  let now = 0;
  const { rpc, connect, events } = await open(context, { limits: { replyTimeoutMs: 50 }, now: () => now });
  const client = await Client3.mount(rpc, '/share');
  const { handle } = await client.create(client.root, 'f');
  await client.write(handle, 0, Buffer.alloc(MIB, 1));
  const greedy = await connect();
  greedy.socket.pause();
  const message = greedy.message(NFS, 3, Proc3.read, (args) => args.opaque(handle).size(0).u32(MIB));
  greedy.socket.write(Buffer.concat(Array.from({ length: 64 }, () => message)));
  assert.equal((await client.getattr(handle)).status, 0);
  await delay(50);
  now = 1000;
  const isDropped = () => events.some((event) => 'reason' in event && event.reason.includes('does not take'));
  await until(isDropped, 'the connection is dropped');
  assert.equal((await client.getattr(handle)).status, 0);
});

test('an error of the filesystem that is none of POSIX is a server fault and is reported', async (context) => {
  const { rpc, filesystem, events } = await open(context);
  const client = await Client3.mount(rpc, '/share');
  filesystem.onChange = () => {
    throw new Error('a mistake');
  };
  assert.equal((await client.create(client.root, 'f')).status, 10006);
  assert.ok(events.some(({ type }) => type === 'internal-error'));
});
