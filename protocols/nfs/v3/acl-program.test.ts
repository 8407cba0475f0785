import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Client3 } from '../testing/client3.ts';
import { serve } from '../testing/serve.ts';
import type { XdrReader } from '../xdr/reader.ts';
import type { XdrWriter } from '../xdr/writer.ts';
import { Status3 } from './status.ts';

const ACL = 100227;
type Entry = readonly [tag: number, id: number, permissions: number];

function entries(body: XdrReader): Entry[] {
  body.u32();
  return body.array(100, () => [body.u32(), body.u32(), body.u32()] as const);
}

async function get({ rpc }: Client3, handle: Buffer, mask = 15) {
  const body = await rpc.request(ACL, 3, 1, (args) => args.opaque(handle).u32(mask));
  const status = body.u32();
  body.optional(() => body.fixed(84));
  if (status !== 0) return { status, access: [], default: [] };
  body.u32();
  return { status, access: entries(body), default: entries(body) };
}

async function set({ rpc }: Client3, handle: Buffer, mask: number, access: Entry[], inherited: Entry[] = []) {
  const write = (args: XdrWriter, list: Entry[]) =>
    args.u32(list.length).array(list, ([tag, id, permissions]) => args.u32(tag).u32(id).u32(permissions));
  const body = await rpc.request(ACL, 3, 2, (args) => {
    write(args.opaque(handle).u32(mask), access);
    write(args, inherited);
  });
  return body.u32();
}

test('a file without an ACL shows its mode, and one that is set holds and comes back', async (context) => {
  const { client3 } = await serve(context);
  const client = await client3();
  const { handle } = await client.create(client.root, 'f', { mode: 0o640, uid: 7, gid: 8 });
  const plain = await get(client, handle);
  const ofMode: Entry[] = [
    [1, 7, 6],
    [4, 8, 4],
    [16, 0, 4],
    [32, 0, 0],
  ];
  assert.deepEqual([plain.access, plain.default], [ofMode, []]);
  const named: Entry[] = [
    [1, 7, 6],
    [2, 1000, 4],
    [4, 8, 0],
    [16, 0, 4],
    [32, 0, 0],
  ];
  assert.equal(await set(client, handle, 1, named), 0);
  assert.deepEqual((await get(client, handle)).access, named);
  assert.equal(await (await client3({ uid: 1000, gid: 1 })).access(handle, 0x3f), 1);
  assert.equal(await (await client3({ uid: 1001, gid: 1 })).access(handle, 0x3f), 0);
  assert.equal(await set(await client3({ uid: 1000, gid: 1 }), handle, 1, named), Status3.perm);
  assert.deepEqual((await get(client, handle, 2)).access, [], 'only their number was asked for');
});

test('directories hand their default ACL on; files have none', async (context) => {
  const { client3 } = await serve(context);
  const client = await client3();
  const { handle } = await client.mkdir(client.root, 'd');
  const { handle: file } = await client.create(client.root, 'f');
  const inherited: Entry[] = [
    [0x1001, 0, 7],
    [0x1002, 1000, 7],
    [0x1004, 0, 5],
    [0x1010, 0, 7],
    [0x1020, 0, 0],
  ];
  assert.equal(await set(client, handle, 4, [], inherited), 0);
  assert.deepEqual((await get(client, handle)).default, inherited);
  const made = await client.create(handle, 'made');
  assert.equal(await (await client3({ uid: 1000, gid: 1 })).access(made.handle, 0x3f), 0x2d);
  assert.equal(await set(client, file, 4, [], inherited), Status3.access);
});
