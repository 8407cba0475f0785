import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accessByRules, DEFAULT_ACCESS } from '../namespace/export.ts';
import { Client3 } from '../testing/client3.ts';
import { MemoryFilesystem } from '../testing/memory-filesystem.ts';
import { serve } from '../testing/serve.ts';

const MOUNT = 100005;
const ROOT = { uid: 0, gid: 0, groups: [] };

test('MNT gives the root of an export or of a directory below it, and refuses what is not there', async (context) => {
  const { connect, filesystem, events } = await serve(context);
  const rpc = await connect();
  const { attributes } = await filesystem.create(ROOT, filesystem.root, Buffer.from('d'), { type: 'directory' }, {});
  await filesystem.create(ROOT, attributes, Buffer.from('f'), { type: 'file' }, {});
  const status = async (path: string) => (await rpc.request(MOUNT, 3, 1, (args) => args.text(path))).u32();
  assert.equal(await status('/share'), 0);
  assert.equal(await status('/share/d/'), 0);
  assert.equal(await status('/share/d/f'), 20);
  assert.equal(await status('/share/x'), 2);
  assert.equal(await status('/'), 2);
  assert.equal(await status('/share/d/../d'), 22);
  assert.deepEqual(
    events.filter(({ type }) => type === 'mounted').map((event) => 'path' in event && event.path),
    ['/share', '/share/d/'],
  );
});

test('EXPORT and DUMP show a client its own, UMNT and UMNTALL forget', async (context) => {
  const { connect, server } = await serve(context);
  server.addExport({ paths: ['/other'], filesystem: new MemoryFilesystem({ id: 2n }), authorise: () => undefined });
  const rpc = await connect();
  const exported = await rpc.request(MOUNT, 3, 5);
  assert.deepEqual(
    [exported.bool(), exported.text(100), exported.bool(), exported.bool()],
    [true, '/share', false, false],
  );
  const mounts = async () => {
    const body = await rpc.request(MOUNT, 3, 2);
    const paths: string[] = [];
    while (body.bool()) paths.push(`${body.text(100)}:${body.text(100)}`);
    return paths;
  };
  await Client3.mount(rpc, '/share');
  assert.deepEqual(await mounts(), ['127.0.0.1:/share']);
  await rpc.request(MOUNT, 3, 3, (args) => args.text('/share'));
  assert.deepEqual(await mounts(), []);
  await Client3.mount(rpc, '/share');
  await rpc.request(MOUNT, 3, 4);
  assert.deepEqual(await mounts(), []);
});

test('rules by address and network: the first that fits decides', () => {
  const authorise = accessByRules([
    { client: '10.1.2.3', readOnly: true },
    { client: '10.1.0.0/16', squash: 'all', anonymousUid: 5 },
    { client: 'fd00::/8' },
  ]);
  assert.equal(authorise('10.1.2.3')?.readOnly, true);
  assert.deepEqual([authorise('10.1.2.4')?.squash, authorise('10.1.2.4')?.anonymousUid], ['all', 5]);
  assert.equal(authorise('fd12::1')?.squash, DEFAULT_ACCESS.squash);
  assert.equal(authorise('10.2.0.1'), undefined);
  assert.equal(authorise(''), undefined);
  for (const client of ['10.1.2.3/33', 'example.com', '10.1.2.3/x', '']) {
    assert.throws(() => accessByRules([{ client }]), /no address/);
  }
});

test('a client an export is not for gets neither its root nor its files', async (context) => {
  let isAllowed = true;
  const authorise = () => (isAllowed ? DEFAULT_ACCESS : undefined);
  const { client3, connect } = await serve(context, { export: { authorise } });
  const client = await client3();
  isAllowed = false;
  assert.equal((await client.getattr(client.root)).status, 13);
  await assert.rejects(Client3.mount(await connect(), '/share'), /failed with 13/);
});

for (const [squash, uid, wanted] of [
  ['none', 0, 0],
  ['root', 0, 99],
  ['root', 7, 7],
  ['all', 7, 99],
] as const) {
  test(`with squash ${squash} user ${uid} is ${wanted}`, async (context) => {
    const { client3 } = await serve(context, { access: { squash, anonymousUid: 99, anonymousGid: 98 } });
    const client = await client3({ uid, gid: 7 });
    const { attributes } = await client.create(client.root, 'f');
    assert.deepEqual([attributes!.uid, attributes!.gid], [wanted, wanted === 99 ? 98 : 7]);
  });
}

test('groups beyond the sixteen of a request come from the names that are set up', async (context) => {
  const groupsOf = (uid: number) => (uid === 7 ? [500] : undefined);
  const { client3 } = await serve(context, { groupsOf });
  const root = await client3();
  await root.create(root.root, 'f', { mode: 0o040, gid: 500 });
  const access = async (credentials: { uid: number; gid: number; groups?: number[] }) => {
    const client = await client3(credentials);
    return client.access((await client.lookup(client.root, 'f')).handle, 1);
  };
  assert.equal(await access({ uid: 7, gid: 1 }), 1);
  assert.equal(await access({ uid: 8, gid: 1, groups: [500] }), 1);
  assert.equal(await access({ uid: 8, gid: 1 }), 0);
});

test('exports that lie one within the other, odd paths and a filesystem twice are refused', async (context) => {
  const { server } = await serve(context);
  const add = (path: string, id = 2n) =>
    server.addExport({ paths: [path], filesystem: new MemoryFilesystem({ id }), authorise: () => undefined });
  for (const path of ['/share', '/share/x', '/', 'x', '/a/../b', '/a//b', '/a/'])
    assert.throws(() => add(path), RangeError);
  assert.throws(() => add('/again', 1n), RangeError);
  add('/sharing');
});
