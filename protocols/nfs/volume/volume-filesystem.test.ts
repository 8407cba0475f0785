import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ANONYMOUS, ops } from '../testing/client4.ts';
import { serveVolume } from '../testing/serve-volume.ts';
import { Status3 } from '../v3/status.ts';

const MIB = 1024 * 1024;

test('a tree over a volume: made, listed, renamed, read and removed', async (context) => {
  const { client3 } = await serveVolume(context);
  const client = await client3();
  const { handle: directory } = await client.mkdir(client.root, 'd');
  const names = Array.from({ length: 300 }, (_, index) => `file-${index}`);
  const made = await Promise.all(names.map((name) => client.create(directory, name, { mode: 0o640, uid: 5 })));
  for (const { status, attributes } of made) assert.deepEqual([status, attributes!.uid], [0, 5]);
  for (const plus of [false, true]) {
    assert.deepEqual((await client.names(directory, 2048, plus)).sort(), [...names].sort());
  }
  const data = Buffer.alloc(3 * MIB, 'granary');
  const { handle } = made[0]!;
  for (let at = 0; at < data.length; at += MIB) await client.write(handle, at, data.subarray(at, at + MIB), 0);
  assert.equal((await client.commit(handle)).status, 0);
  for (let at = 0; at < data.length; at += MIB) {
    assert.ok((await client.read(handle, at, MIB)).data.equals(data.subarray(at, at + MIB)));
  }
  const alone = await client.create(directory, 'alone');
  assert.ok(alone.wcc.before && alone.wcc.after, 'a change without concurrent changes is reported exactly');
  assert.equal((await client.rename(directory, 'file-1', client.root, 'moved')).status, 0);
  assert.equal((await client.rmdir(client.root, 'd')).status, Status3.notEmpty);
  assert.equal((await client.remove(directory, 'file-2')).status, 0);
  assert.equal((await client.getattr(made[2]!.handle)).status, Status3.stale);
  assert.equal((await client.link(handle, client.root, 'linked')).attributes!.links, 2);
  const link = await client.symlink(client.root, 'sym', 'to/there');
  assert.equal((await client.readlink(link.handle)).target, 'to/there');
  const verifier = Buffer.from('verifier');
  const exclusive = await client.create(client.root, 'x', verifier);
  assert.ok((await client.create(client.root, 'x', verifier)).handle.equals(exclusive.handle));
  assert.equal((await client.create(client.root, 'x', Buffer.alloc(8))).status, Status3.exists);
});

test('opens, ACLs, quotas and unlinked files by 4.1 over a volume', async (context) => {
  const { client3, client41, inner } = await serveVolume(context);
  const root = await client3();
  const client = await client41('tester', { uid: 1000, gid: 1000 });
  const { state, handle } = await client.open({ name: 'f', create: 'unchecked', set: { mode: 0o600 } });
  await client.compound(ops.put(handle), ops.write(state, 0, Buffer.from('held')));
  const acl = [
    [0, 0, 0x7, 'OWNER@'],
    [0, 0, 0x1, '2000'],
  ] as const;
  assert.equal((await client.compound(ops.put(handle), ops.setattr(ANONYMOUS, { acl }))).status, 0);
  assert.equal(await (await client3({ uid: 2000, gid: 1 })).access(handle, 0x3f), 1);
  assert.equal(await (await client3({ uid: 2001, gid: 1 })).access(handle, 0x3f), 0);
  await root.remove(root.root, 'f');
  const { results } = await client.compound(ops.put(handle), ops.read(state, 0, 10));
  assert.equal((results[1] as { data: Buffer }).data.toString(), 'held');
  assert.equal((await client.compound(ops.put(handle), ops.close(state))).status, 0);
  await inner.whenIdle();
  assert.equal((await root.getattr(handle)).status, Status3.stale);
  await inner.quotas.set([{ scope: 'user', id: 1000, limitBytes: MIB, limitInodes: undefined }]);
  await inner.quotas.setState({ user: true, group: false, project: false });
  const full = await client.open({ name: 'g', create: 'unchecked', set: { mode: 0o600 } });
  const write = (at: number) => client.compound(ops.put(full.handle), ops.write(full.state, at, Buffer.alloc(MIB / 2)));
  assert.equal((await write(0)).status, 0);
  assert.equal((await write(MIB)).status, 0);
  assert.equal((await write(2 * MIB)).status, Status3.quota);
});

test('a volume that is full says so, and works again after a file is removed', async (context) => {
  const { client3, inner } = await serveVolume(context, 64 * MIB);
  const client = await client3();
  const { handle } = await client.create(client.root, 'large');
  let status = 0;
  for (let at = 0; status === 0; at += MIB) ({ status } = await client.write(handle, at, Buffer.alloc(MIB, 1), 2));
  assert.equal(status, Status3.noSpace);
  assert.equal((await client.remove(client.root, 'large')).status, 0);
  await inner.whenIdle();
  const again = await client.create(client.root, 'again');
  assert.equal((await client.write(again.handle, 0, Buffer.alloc(MIB, 2), 2)).status, 0);
});
