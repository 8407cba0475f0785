import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { inodeOf } from '../namespace/exports.ts';
import { ANONYMOUS, ops, type Attributes4, type Compound4, type Operation4 } from '../testing/client4.ts';
import { MemoryFilesystem } from '../testing/memory-filesystem.ts';
import { serve, type ServeOptions } from '../testing/serve.ts';
import { Attribute } from './attributes/attribute.ts';
import { Op } from './opcodes.ts';
import { Status4 } from './status.ts';

type Compound = (...operations: readonly Operation4[]) => Promise<Compound4>;

/** The same operations in 4.0 and in 4.1. */
const VERSIONS = ['4.0', '4.1'] as const;

async function open(context: TestContext, version: string, options?: ServeOptions) {
  const served = await serve(context, options);
  const client = await (version === '4.0' ? served.client40('tester') : served.client41('tester'));
  const compound: Compound = (...operations) => client.compound(...operations);
  return { ...served, compound };
}

async function handleOf(compound: Compound, ...path: string[]): Promise<Buffer> {
  const { results } = await compound(ops.putRoot(), ...path.map((name) => ops.lookup(name)), ops.get());
  return results[path.length + 1] as Buffer;
}

for (const version of VERSIONS) {
  test(`${version}: the pseudo root shows the way to the exports a client may use`, async (context) => {
    const { compound, server } = await open(context, version);
    const add = (path: string, id: bigint, isOpen: boolean) =>
      server.addExport({
        paths: [path],
        filesystem: new MemoryFilesystem({ id }),
        authorise: () => (isOpen ? { ...ACCESS } : undefined),
      });
    add('/a/b/deep', 2n, true);
    add('/a/hidden', 3n, false);
    const list = async (...path: string[]) => {
      const answer = await compound(
        ops.putRoot(),
        ...path.map((name) => ops.lookup(name)),
        ops.readdir(0n, 8192, Attribute.filesystemId, Attribute.mountedOnFileId),
      );
      const { entries } = answer.results[path.length + 1] as {
        entries: { name: string; attributes: Attributes4 }[];
      };
      return entries.map(({ name, attributes: { values } }) => {
        const fsid = values.u64();
        values.u64();
        return [name, fsid, values.size()];
      });
    };
    assert.deepEqual(await list(), [
      ['a', 0n, inodeOf('/a')],
      ['share', 1n, inodeOf('/share')],
    ]);
    assert.deepEqual(await list('a', 'b'), [['deep', 2n, inodeOf('/a/b/deep')]]);
    assert.equal((await compound(ops.putRoot(), ops.lookup('a'), ops.lookup('hidden'))).status, Status4.noEntry);
    const up = await compound(ops.putRoot(), ops.lookup('share'), ops.parent(), ops.get(), ops.parent());
    assert.equal(up.status, Status4.noEntry);
    assert.ok((up.results[3] as Buffer).equals(await handleOf(compound)));
    assert.equal((await compound(ops.putRoot(), ops.mkdir('new'))).status, Status4.readOnly);
  });

  test(`${version}: attributes are read, set, and compared`, async (context) => {
    const { compound, filesystem } = await open(context, version);
    filesystem.quotas.set(0, { usedBytes: 5, softBytes: 10, hardBytes: 20 });
    const share = await handleOf(compound, 'share');
    await compound(ops.put(share), ops.mkdir('d', { mode: 0o751, owner: '7', group: '8@example.com' }));
    const wanted = [
      Attribute.type,
      Attribute.mode,
      Attribute.owner,
      Attribute.ownerGroup,
      Attribute.quotaAvailableHard,
      Attribute.quotaUsed,
    ];
    const { results } = await compound(ops.put(share), ops.lookup('d'), ops.getattr(...wanted));
    const { numbers, values } = results[2] as Attributes4;
    assert.deepEqual(numbers, wanted);
    const seen = [values.u32(), values.u32(), values.text(9), values.text(9), values.size(), values.size()];
    assert.deepEqual(seen, [2, 0o751, '7', '8', 20, 5]);
    const directory = await handleOf(compound, 'share', 'd');
    const set = await compound(ops.put(directory), ops.setattr(ANONYMOUS, { mode: 0o700, mtime: [5, 6] }));
    assert.deepEqual(set.results[1], [Attribute.mode, Attribute.setModified]);
    const status = async (operation: Operation4) => (await compound(ops.put(directory), operation)).status;
    assert.equal(await status(ops.verify({ mode: 0o700 })), 0);
    assert.equal(await status(ops.verify({ mode: 0o701 })), Status4.notSame);
    assert.equal(await status(ops.verify({ mode: 0o700 }, true)), Status4.same);
    assert.equal(await status(ops.setattr(ANONYMOUS, { owner: 'unknown@nowhere' })), Status4.badOwner);
    assert.equal(await status(ops.setattr(ANONYMOUS, { size: 1 })), Status4.isDirectory);
    assert.equal(await status(ops.getattr(Attribute.setModified)), Status4.invalid);
    const everything = Array.from({ length: 90 }, (_, number) => number).filter((number) => ![48, 54].includes(number));
    const all = await compound(ops.put(directory), ops.getattr(...everything));
    const supported = await compound(ops.put(directory), ops.getattr(Attribute.supported));
    assert.equal(all.status, 0);
    const bits = (supported.results[1] as Attributes4).values;
    const words = bits.array(4, () => bits.u32());
    const isSupported = (number: number) => ((words[number >> 5] ?? 0) & (1 << (number % 32))) !== 0;
    assert.deepEqual((all.results[1] as Attributes4).numbers, everything.filter(isSupported));
    assert.ok(isSupported(Attribute.setAccessed) && isSupported(Attribute.acl));
  });

  test(`${version}: names are made, moved, linked and removed`, async (context) => {
    const { compound } = await open(context, version);
    const share = await handleOf(compound, 'share');
    const status = async (...operations: readonly Operation4[]) =>
      (await compound(ops.put(share), ...operations)).status;
    assert.equal(await status(ops.mkdir('d')), 0);
    assert.equal(await status(ops.mkdir('d')), Status4.exists);
    assert.equal(await status(ops.symlink('l', 'target')), 0);
    const link = await compound(ops.put(share), ops.lookup('l'), ops.readlink());
    assert.equal(link.results[2], 'target');
    assert.equal(await status(ops.lookup('l'), ops.lookup('x')), Status4.symlink);
    assert.equal(
      await status(ops.lookup('d'), ops.readlink()),
      version === '4.0' ? Status4.invalid : Status4.wrongType,
    );
    assert.equal(await status(ops.lookup('l'), ops.save(), ops.put(share), ops.link('l2')), 0);
    assert.equal(await status(ops.lookup('d'), ops.save(), ops.put(share), ops.link('d2')), Status4.isDirectory);
    assert.equal(await status(ops.save(), ops.lookup('d'), ops.rename('l', 'moved')), 0);
    assert.equal(await status(ops.remove('d')), Status4.notEmpty);
    assert.equal(await status(ops.save(), ops.rename('l2', 'd')), Status4.exists);
    assert.equal(await status(ops.lookup('d'), ops.remove('moved')), 0);
    assert.equal(await status(ops.remove('d')), 0);
    assert.equal(await status(ops.remove('..')), Status4.badName);
    assert.equal(await status(ops.lookup('.')), Status4.badName);
    assert.equal(await status(ops.lookup('')), Status4.invalid);
    assert.equal(await status(ops.lookup('n'.repeat(256))), Status4.nameTooLong);
    assert.equal(await status(ops.restore()), Status4.noSavedFileHandle);
    assert.equal((await compound(ops.get())).status, Status4.noFileHandle);
    assert.equal((await compound(ops.put(Buffer.alloc(24, 9)))).status, Status4.badHandle);
    const answer = await compound(ops.put(share), ops.mkdir('d'), ops.put(share), ops.remove('d'));
    const [made, removed] = [answer.results[1] as { change: Change }, answer.results[3] as Change];
    assert.ok(made.change.atomic && removed.before === made.change.after && removed.after > removed.before);
  });

  test(`${version}: a directory is listed in pieces of any size`, async (context) => {
    const { compound } = await open(context, version);
    const share = await handleOf(compound, 'share');
    for (let index = 0; index < 100; index += 10) {
      const made = Array.from({ length: 10 }, (_, more) => [ops.put(share), ops.mkdir(`d${index + more}`)]);
      await compound(...made.flat());
    }
    for (const bytes of [256, 4096, 100_000]) {
      const names = new Set<string>();
      for (let cookie = 0n, eof = false; !eof;) {
        const { results } = await compound(ops.put(share), ops.readdir(cookie, bytes, Attribute.fileId));
        const page = results[1] as { entries: { name: string; cookie: bigint }[]; eof: boolean };
        for (const { name } of page.entries) names.add(name);
        eof = page.eof;
        cookie = page.entries[page.entries.length - 1]!.cookie;
      }
      assert.equal(names.size, 100);
    }
    assert.equal((await compound(ops.put(share), ops.readdir(0n, 20, Attribute.fileId))).status, Status4.tooSmall);
    assert.equal((await compound(ops.put(share), ops.readdir(2n, 4096))).status, Status4.badCookie);
  });

  test(`${version}: an ACL is what POSIX can hold of it, and comes back with the same meaning`, async (context) => {
    const { compound, filesystem, client3 } = await open(context, version);
    const root = await client3();
    const { handle } = await root.create(root.root, 'f', { mode: 0o600, uid: 1 });
    const [read, write] = [0x1, 0x6];
    const acl = [
      [0, 0, read | write, 'OWNER@'],
      [0, 0, read, '1000'],
      [1, 0x40, write, '500'],
      [0, 0x40, read | write, '500'],
      [0, 0, read, 'EVERYONE@'],
    ] as const;
    assert.equal((await compound(ops.put(handle), ops.setattr(ANONYMOUS, { acl }))).status, 0);
    const access = async (uid: number, gid = 9) => (await client3({ uid, gid })).access(handle, 0x3f);
    assert.equal(await access(1), 0x0d);
    assert.equal(await access(1000), 0x01);
    assert.equal(await access(1001, 500), 0x01);
    assert.equal(await access(1002), 0x01);
    const { results } = await compound(ops.put(handle), ops.getattr(Attribute.acl));
    const { values } = results[1] as Attributes4;
    const back = values.array(20, () => [values.u32(), values.u32(), values.u32(), values.text(20)] as const);
    const before = filesystem.acl({ inode: 3, generation: 1 });
    assert.equal((await compound(ops.put(handle), ops.setattr(ANONYMOUS, { acl: back }))).status, 0);
    assert.deepEqual(filesystem.acl({ inode: 3, generation: 1 }), before);
  });

  test(`${version}: what there is no support for is refused by its name`, async (context) => {
    const { compound } = await open(context, version);
    const share = await handleOf(compound, 'share');
    const answer = async (op: number) => {
      const { done } = await compound(ops.put(share), ops.raw(op));
      return done[1];
    };
    assert.deepEqual(await answer(Op.openAttributes), [Op.openAttributes, Status4.notSupported]);
    assert.deepEqual(await answer(Op.delegPurge), [Op.delegPurge, Status4.notSupported]);
    assert.deepEqual(await answer(59), [Op.illegal, Status4.illegalOperation]);
    assert.deepEqual(await answer(2), [Op.illegal, Status4.illegalOperation]);
    const layout = await answer(Op.layoutGet);
    if (version === '4.0') assert.deepEqual(layout, [Op.illegal, Status4.illegalOperation]);
    else assert.deepEqual(layout, [Op.layoutGet, Status4.notSupported]);
    assert.deepEqual(await answer(Op.lookup), [Op.lookup, Status4.badXdr]);
    const info = await compound(
      ops.put(share),
      ops.mkdir('d'),
      ops.put(share),
      { ...ops.lookup('d'), op: Op.securityInfo, read: (body) => body.array(9, () => body.u32()) },
      ops.get(),
    );
    assert.deepEqual(info.results[3], [1, 0]);
    assert.equal(info.status, version === '4.0' ? 0 : Status4.noFileHandle);
  });
}

const ACCESS = { readOnly: false, squash: 'none', anonymousUid: 1, anonymousGid: 1, sync: true } as const;

interface Change {
  readonly atomic: boolean;
  readonly before: bigint;
  readonly after: bigint;
}

test('minor versions that do not exist are refused, and compounds with too many operations', async (context) => {
  const { connect, server } = await serve(context);
  const rpc = await connect();
  const body = await rpc.request(100003, 4, 1, (args) => args.text('tag').u32(2).u32(0));
  assert.deepEqual([body.u32(), body.text(10), body.u32()], [Status4.minorVersionMismatch, 'tag', 0]);
  const many = await rpc.request(100003, 4, 1, (args) =>
    args
      .text('')
      .u32(0)
      .u32(server.limits.compoundOperationsMax + 1),
  );
  assert.equal(many.u32(), Status4.resource);
});

test('snapshots are shown below .snapshot, to read', async (context) => {
  const snapshot = new MemoryFilesystem({ id: 77n });
  const as = { uid: 0, gid: 0, groups: [] };
  await snapshot.create(as, snapshot.root, Buffer.from('old'), { type: 'file' }, {});
  const snapshots = {
    list: () => [{ name: 'tuesday', filesystemId: 77n }],
    open: (id: bigint) => (id === 77n ? snapshot : undefined),
  };
  const { client40, client3 } = await serve(context, { export: { snapshots } });
  const client = await client40('tester');
  const path = [ops.putRoot(), ops.lookup('share'), ops.lookup('.snapshot')];
  const { results } = await client.compound(...path, ops.readdir(0n, 4096, Attribute.filesystemId));
  const { entries } = results[3] as { entries: { name: string; attributes: Attributes4 }[] };
  assert.deepEqual(
    entries.map(({ name, attributes }) => [name, attributes.values.u64()]),
    [['tuesday', 77n]],
  );
  const tuesday = [...path, ops.lookup('tuesday')];
  assert.equal((await client.compound(...tuesday, ops.lookup('old'))).status, 0);
  assert.equal((await client.compound(...tuesday, ops.mkdir('new'))).status, Status4.readOnly);
  const up = await client.compound(...tuesday, ops.parent(), ops.parent(), ops.get(), ...path.slice(0, 2), ops.get());
  assert.ok((up.results[6] as Buffer).equals(up.results[9] as Buffer));
  assert.equal((await client.compound(...path, ops.lookup('monday'))).status, Status4.noEntry);
  const third = await client3();
  const directory = await third.lookup(third.root, '.snapshot');
  assert.deepEqual(await third.names(directory.handle), ['tuesday']);
  const found = await third.lookup(directory.handle, 'tuesday');
  assert.equal((await third.lookup(found.handle, 'old')).status, 0);
  assert.equal((await third.remove(found.handle, 'old')).status, Status4.readOnly);
  assert.equal((await third.getattr(found.handle)).attributes!.fsid, 77n);
});
