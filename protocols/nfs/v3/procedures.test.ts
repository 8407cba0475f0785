import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client3, Proc3, type Wcc } from '../testing/client3.ts';
import { MemoryFilesystem } from '../testing/memory-filesystem.ts';
import { serve } from '../testing/serve.ts';
import { Status3 } from './status.ts';

const ADA = { uid: 1000, gid: 100, groups: [101, 102] };
const BOB = { uid: 1001, gid: 200 };

/** The reply lets a client see that nothing happened between its last look and this change. */
function followsOn(previous: Wcc['after'], wcc: Wcc): void {
  assert.deepEqual(wcc.before, { size: previous!.size, mtime: previous!.mtime, ctime: previous!.ctime });
  assert.ok(wcc.after);
}

test('GETATTR and SETATTR: modes, owners, sizes, times and the guard', async (context) => {
  const { client3 } = await serve(context);
  const client = await client3();
  const { handle, attributes } = await client.create(client.root, 'f', { mode: 0o640 });
  assert.deepEqual([attributes!.type, attributes!.mode, attributes!.size], [1, 0o640, 0]);
  const changed = await client.setattr(handle, { mode: 0o755, uid: 7, gid: 8, size: 5000, mtime: [1234, 5678] });
  followsOn(attributes, changed.wcc);
  const { attributes: now } = await client.getattr(handle);
  assert.deepEqual([now!.mode, now!.uid, now!.gid, now!.size, now!.mtime], [0o755, 7, 8, 5000, '1234.5678']);
  assert.equal((await client.setattr(handle, { mode: 0 }, '1.1')).status, Status3.notSync);
  assert.equal((await client.setattr(handle, { atime: 'now' }, now!.ctime)).status, 0);
  assert.equal((await client.setattr(handle, { size: 2 ** 60 })).status, Status3.tooLarge);
  assert.equal((await client.setattr(client.root, { size: 1 })).status, Status3.isDirectory);
});

test('LOOKUP: names, dots, and what is not there', async (context) => {
  const { client3 } = await serve(context);
  const client = await client3();
  const { handle: directory } = await client.mkdir(client.root, 'd');
  const { handle: file } = await client.create(directory, 'f');
  assert.ok((await client.lookup(directory, 'f')).handle.equals(file));
  assert.ok((await client.lookup(directory, '.')).handle.equals(directory));
  assert.ok((await client.lookup(directory, '..')).handle.equals(client.root));
  const missing = await client.lookup(directory, 'g');
  assert.equal(missing.status, Status3.noEntry);
  assert.ok(missing.directory, 'the directory’s attributes come with the failure');
  assert.equal((await client.lookup(file, 'x')).status, Status3.notDirectory);
  assert.equal((await client.lookup(directory, 'n'.repeat(256))).status, Status3.nameTooLong);
  assert.equal((await client.lookup(directory, 'a/b')).status, Status3.invalid);
  assert.equal((await client.lookup(directory, '')).status, Status3.invalid);
  assert.equal((await client.lookup(client.root, '..')).status, Status3.access);
});

test('ACCESS tells what the mode grants to whom', async (context) => {
  const { client3 } = await serve(context);
  const root = await client3();
  const { handle } = await root.create(root.root, 'f', { mode: 0o640, uid: ADA.uid, gid: ADA.gid });
  const { handle: directory } = await root.mkdir(root.root, 'd', { mode: 0o750, uid: ADA.uid, gid: 101 });
  const ada = await client3(ADA);
  const bob = await client3(BOB);
  assert.equal(await ada.access(handle, 0x3f), 0x01 | 0x04 | 0x08);
  assert.equal(await bob.access(handle, 0x3f), 0);
  assert.equal(await ada.access(directory, 0x3f), 0x01 | 0x02 | 0x04 | 0x08 | 0x10);
  assert.equal(await (await client3({ uid: 5, gid: 5, groups: [101] })).access(directory, 0x3f), 0x01 | 0x02);
  assert.equal(await ada.access(handle, 0x01), 0x01);
});

test('SYMLINK and READLINK', async (context) => {
  const { client3 } = await serve(context);
  const client = await client3();
  const { handle, attributes } = await client.symlink(client.root, 'l', '../a/ü');
  assert.equal(attributes!.type, 5);
  assert.equal((await client.readlink(handle)).target, '../a/ü');
  assert.equal((await client.readlink(client.root)).status, Status3.invalid);
  assert.equal((await client.symlink(client.root, 'm', 'x'.repeat(5000))).status, Status3.nameTooLong);
});

test('READ and WRITE: ends, holes, sizes and durability', async (context) => {
  const { client3, filesystem } = await serve(context, { access: { sync: false } });
  const client = await client3();
  const { handle, attributes } = await client.create(client.root, 'f');
  const written = await client.write(handle, 100_000, Buffer.from('hello'), 0);
  assert.deepEqual([written.count, written.committed, written.verifier], [5, 0, filesystem.writeVerifier]);
  followsOn(attributes, written.wcc);
  assert.equal(filesystem.uncommitted, 1);
  const committed = await client.commit(handle);
  assert.deepEqual([committed.status, committed.verifier], [0, written.verifier]);
  assert.equal(filesystem.uncommitted, 0);
  assert.equal((await client.write(handle, 0, Buffer.from('x'), 1)).committed, 2);
  assert.equal(filesystem.uncommitted, 0);
  const end = await client.read(handle, 99_998, 100);
  assert.deepEqual([end.data.toString(), end.eof], ['\0\0hello', true]);
  assert.deepEqual(await client.read(handle, 0, 1).then(({ data, eof }) => [data.toString(), eof]), ['x', false]);
  assert.deepEqual(await client.read(handle, 200_000, 1).then(({ data, eof }) => [data.length, eof]), [0, true]);
  assert.equal((await client.read(client.root, 0, 1)).status, Status3.isDirectory);
  assert.equal((await client.write(handle, 2 ** 60, Buffer.from('x'))).status, Status3.tooLarge);
  const large = Buffer.alloc(1024 * 1024, 'granary ');
  assert.equal((await client.write(handle, 3, large)).count, large.length);
  assert.ok((await client.read(handle, 3, large.length)).data.equals(large));
});

test('with sync every write is durable when it is answered', async (context) => {
  const { client3, filesystem } = await serve(context, { access: { sync: true } });
  const client = await client3();
  const { handle } = await client.create(client.root, 'f');
  assert.equal((await client.write(handle, 0, Buffer.from('x'), 0)).committed, 2);
  assert.equal(filesystem.uncommitted, 0);
});

test('READ and WRITE ask the mode; the owner always may, and who may execute may read', async (context) => {
  const { client3 } = await serve(context);
  const root = await client3();
  const [ada, bob] = [await client3(ADA), await client3(BOB)];
  const { handle } = await root.create(root.root, 'f', { mode: 0o001, uid: ADA.uid });
  assert.equal((await ada.write(handle, 0, Buffer.from('x'))).status, 0);
  assert.equal((await bob.read(handle, 0, 1)).status, 0);
  assert.equal((await bob.write(handle, 0, Buffer.from('x'))).status, Status3.access);
  await root.setattr(handle, { mode: 0 });
  assert.equal((await bob.read(handle, 0, 1)).status, Status3.access);
  assert.equal((await bob.setattr(handle, { size: 0 })).status, Status3.access);
});

test('CREATE: unchecked, guarded and exclusive', async (context) => {
  const { client3 } = await serve(context);
  const client = await client3();
  const first = await client.create(client.root, 'f', { mode: 0o600 });
  await client.write(first.handle, 0, Buffer.from('content'));
  const again = await client.create(client.root, 'f', { mode: 0o644, size: 0 });
  assert.ok(again.handle.equals(first.handle));
  assert.deepEqual([again.attributes!.size, again.attributes!.mode], [0, 0o600]);
  assert.equal((await client.create(client.root, 'f', {}, true)).status, Status3.exists);
  await client.mkdir(client.root, 'd');
  assert.equal((await client.create(client.root, 'd')).status, Status3.exists);
  const verifier = Buffer.from('fedcba9876543210', 'hex');
  const exclusive = await client.create(client.root, 'x', verifier);
  assert.equal(exclusive.status, 0);
  assert.ok((await client.create(client.root, 'x', verifier)).handle.equals(exclusive.handle));
  assert.equal((await client.create(client.root, 'x', Buffer.alloc(8, 1))).status, Status3.exists);
  assert.equal((await client.create(client.root, '..')).status, Status3.exists);
});

test('MKNOD makes pipes, sockets and devices and nothing else', async (context) => {
  const { client3 } = await serve(context);
  const client = await client3();
  for (const [type, name] of [
    [3, 'block'],
    [4, 'character'],
    [6, 'socket'],
    [7, 'pipe'],
  ] as const) {
    const { status, attributes } = await client.mknod(client.root, name, type, [8, 1]);
    assert.deepEqual([status, attributes!.type], [0, type]);
  }
  for (const type of [0, 1, 2, 5, 8]) {
    assert.equal((await client.mknod(client.root, 'no', type)).status, Status3.badType);
  }
});

test('REMOVE, RMDIR, RENAME and LINK with their weak cache consistency data', async (context) => {
  const { client3 } = await serve(context);
  const client = await client3();
  const { root } = client;
  const directory = await client.mkdir(root, 'd');
  const file = await client.create(root, 'f');
  followsOn(directory.wcc.after, file.wcc);
  const linked = await client.link(file.handle, directory.handle, 'g');
  assert.deepEqual([linked.status, linked.attributes!.links], [0, 2]);
  assert.equal((await client.link(file.handle, directory.handle, 'g')).status, Status3.exists);
  assert.equal((await client.link(directory.handle, root, 'h')).status, Status3.perm);
  assert.equal((await client.remove(root, 'd')).status, Status3.isDirectory);
  assert.equal((await client.rmdir(root, 'f')).status, Status3.notDirectory);
  assert.equal((await client.rmdir(root, 'd')).status, Status3.notEmpty);
  const renamed = await client.rename(root, 'f', directory.handle, 'g');
  assert.equal(renamed.status, 0, 'both are the same file');
  assert.equal((await client.rename(root, 'f', directory.handle, 'k')).status, 0);
  assert.equal((await client.rename(root, 'd', directory.handle, 'inside')).status, Status3.invalid);
  const before = (await client.getattr(directory.handle)).attributes;
  const removed = await client.remove(directory.handle, 'k');
  followsOn(before, removed.wcc);
  assert.equal((await client.remove(directory.handle, 'k')).status, Status3.noEntry);
  assert.equal((await client.remove(directory.handle, 'g')).status, 0);
  assert.equal((await client.getattr(file.handle)).status, Status3.stale);
  assert.equal((await client.rmdir(root, 'd')).status, 0);
  assert.equal((await client.rmdir(root, '.')).status, Status3.invalid);
});

test('READDIR and READDIRPLUS: small replies, cookies that outlive changes, verifiers', async (context) => {
  const { client3 } = await serve(context);
  const client = await client3();
  const { handle } = await client.mkdir(client.root, 'd');
  const wanted = Array.from({ length: 150 }, (_, index) => `file-${index}`);
  await Promise.all(wanted.map((name) => client.create(handle, name)));
  for (const [count, plus] of [
    [512, false],
    [4096, false],
    [65536, false],
    [512, true],
    [65536, true],
  ] as const) {
    assert.deepEqual((await client.names(handle, count, plus)).sort(), [...wanted].sort());
    assert.ok((await client.readdir(handle, 0n, count, plus)).size <= count);
  }
  const page = await client.readdir(handle, 0n, 1024);
  assert.deepEqual(
    page.entries.slice(0, 2).map(({ name }) => name.toString()),
    ['.', '..'],
  );
  const last = page.entries[page.entries.length - 1]!;
  for (const { name } of page.entries.slice(2)) await client.remove(handle, name);
  const { entries } = await client.readdir(handle, last.cookie, 100_000);
  assert.equal(entries.length, wanted.length - (page.entries.length - 2), 'no entry is left out, none shown twice');
  assert.equal((await client.readdir(handle, last.cookie, 1024, false, Buffer.alloc(8, 1))).status, Status3.badCookie);
  assert.equal((await client.readdir(handle, 0n, 50)).status, Status3.tooSmall);
  const plus = await client.readdir(handle, last.cookie, 8192, true);
  const [entry] = plus.entries;
  assert.equal(entry!.attributes!.fileid, entry!.fileid);
  assert.equal((await client.getattr(entry!.handle!)).attributes!.fileid, entry!.fileid);
});

test('names may hold any bytes but a slash and a zero', async (context) => {
  const { client3 } = await serve(context);
  const client = await client3();
  const name = Buffer.from(Array.from({ length: 255 }, (_, index) => (index + 1 === 0x2f ? 0xff : index + 1)));
  assert.equal((await client.create(client.root, name)).status, 0);
  const { entries } = await client.readdir(client.root);
  assert.ok(entries[2]!.name.equals(name));
  assert.equal((await client.lookup(client.root, name)).status, 0);
});

test('FSSTAT, FSINFO and PATHCONF', async (context) => {
  const filesystem = new MemoryFilesystem({ capacityBytes: 2 ** 30 });
  const { client3, server } = await serve(context, { filesystem });
  const client = await client3();
  const statistics = await client.call(Proc3.fsstat, (args) => args.opaque(client.root));
  assert.equal(statistics.u32(), 0);
  statistics.fixed(88);
  assert.deepEqual([statistics.size(), statistics.size()], [2 ** 30, 2 ** 30]);
  const info = await client.call(Proc3.fsinfo, (args) => args.opaque(client.root));
  assert.equal(info.u32(), 0);
  info.fixed(88);
  assert.equal(info.u32(), server.limits.transferBytesMax);
  const limits = await client.call(Proc3.pathconf, (args) => args.opaque(client.root));
  assert.equal(limits.u32(), 0);
  limits.fixed(88);
  assert.deepEqual([limits.u32(), limits.u32(), limits.bool()], [1000, 255, true]);
});

test('a full filesystem and a full quota have their own answers', async (context) => {
  const filesystem = new MemoryFilesystem({ capacityBytes: 1_000_000 });
  filesystem.quotas.set(ADA.uid, { usedBytes: 0, softBytes: 500, hardBytes: 1000 });
  const { client3 } = await serve(context, { filesystem });
  const [root, ada] = [await client3(), await client3(ADA)];
  const { handle } = await root.create(root.root, 'large');
  assert.equal((await root.setattr(handle, { size: 2_000_000 })).status, Status3.noSpace);
  const own = await ada.create(ada.root, 'own');
  assert.equal((await ada.write(own.handle, 0, Buffer.alloc(1001))).status, Status3.quota);
  assert.equal((await ada.write(own.handle, 0, Buffer.alloc(1000))).status, 0);
});

test('handles: garbage, files that are gone, exports that were taken away', async (context) => {
  const { client3, server, filesystem } = await serve(context);
  const client = await client3();
  const { handle } = await client.create(client.root, 'f');
  assert.equal((await client.getattr(Buffer.alloc(24, 0xff))).status, Status3.badHandle);
  assert.equal((await client.getattr(handle.subarray(0, 20))).status, Status3.badHandle);
  const other = Buffer.from(handle);
  other[23] = 9;
  assert.equal((await client.getattr(other)).status, Status3.stale);
  await server.removeExport(filesystem.id);
  assert.equal((await client.getattr(handle)).status, Status3.stale);
  await assert.rejects(Client3.mount(client.rpc, '/share'), /failed with 2/);
});

test('a read-only export refuses every change', async (context) => {
  const { client3, filesystem } = await serve(context, { access: { readOnly: true } });
  const as = { uid: 0, gid: 0, groups: [] };
  const { attributes } = await filesystem.create(as, filesystem.root, Buffer.from('f'), { type: 'file' }, {});
  const client = await client3();
  const { handle } = await client.lookup(client.root, 'f');
  const { root } = client;
  const outcomes = [
    client.setattr(handle, { mode: 0 }),
    client.write(handle, 0, Buffer.from('x')),
    client.create(root, 'g'),
    client.mkdir(root, 'g'),
    client.symlink(root, 'g', 'x'),
    client.mknod(root, 'g', 7),
    client.remove(root, 'f'),
    client.rmdir(root, 'f'),
    client.rename(root, 'f', root, 'g'),
    client.link(handle, root, 'g'),
  ];
  for (const { status } of await Promise.all(outcomes)) assert.equal(status, Status3.readOnly);
  assert.equal((await client.access(handle, 0x3f)) & 0x0c, 0);
  assert.equal(filesystem.attributes(attributes).change, attributes.change);
});
