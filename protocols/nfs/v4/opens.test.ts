import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ANONYMOUS, CURRENT, ops, type Opened4, type StateId4 } from '../testing/client4.ts';
import { serve } from '../testing/serve.ts';
import { Attribute } from './attributes/attribute.ts';
import { Op } from './opcodes.ts';
import { Status4 } from './status.ts';

const [READ, WRITE] = [1, 2];
const ADA = { uid: 1000, gid: 100 };

for (const version of ['client40', 'client41'] as const) {
  test(`${version}: a file is created, opened, written, read and closed`, async (context) => {
    const { server, filesystem, ...served } = await serve(context);
    const client = await served[version]('tester');
    const opened = await client.open({ name: 'f', create: 'guarded', set: { mode: 0o640 } });
    assert.equal(opened.status, 0);
    const data = Buffer.from('content');
    const written = await client.compound(ops.put(opened.handle), ops.write(opened.state, 5, data));
    assert.deepEqual(written.results[1], { count: 7, committed: 2, verifier: filesystem.writeVerifier });
    const { results } = await client.compound(ops.put(opened.handle), ops.read(opened.state, 0, 100), ops.commit());
    assert.deepEqual(results[1], { eof: true, data: Buffer.from('\0\0\0\0\0content') });
    assert.equal((await client.open({ name: 'f', create: 'guarded' })).status, Status4.exists);
    assert.equal((await client.open({ name: 'missing' })).status, Status4.noEntry);
    const closing = version === 'client40' ? 4 : 0;
    const sequence = 'nextSequence' in client ? client.nextSequence('owner') : closing;
    assert.equal((await client.compound(ops.put(opened.handle), ops.close(opened.state, sequence))).status, 0);
    const after = await client.compound(ops.put(opened.handle), ops.read(opened.state, 0, 1));
    assert.equal(after.status, Status4.badStateId);
    assert.equal(server.locks.size, 0);
  });

  test(`${version}: share reservations hold against other owners, other clients, and version 3`, async (context) => {
    const served = await serve(context);
    const [one, two] = [await served[version]('one'), await served.client40('two')];
    const first = await one.open({ name: 'f', create: 'unchecked', access: READ, deny: WRITE });
    assert.equal(first.status, 0);
    assert.equal((await two.open({ name: 'f', access: READ })).status, 0);
    assert.equal((await two.open({ name: 'f', access: WRITE, owner: 'b' })).status, Status4.shareDenied);
    assert.equal((await two.open({ name: 'f', access: READ, deny: READ, owner: 'c' })).status, Status4.shareDenied);
    const anonymous = await two.compound(ops.put(first.handle), ops.write(ANONYMOUS, 0, Buffer.from('x')));
    assert.equal(anonymous.status, Status4.locked);
    const third = await served.client3();
    assert.equal((await third.write(first.handle, 0, Buffer.from('x'))).status, Status4.access);
    assert.equal((await third.read(first.handle, 0, 1)).status, 0);
    const sequence = 'nextSequence' in one ? one.nextSequence('owner') : 0;
    await one.compound(ops.put(first.handle), ops.close(first.state, sequence));
    assert.equal((await two.open({ name: 'f', access: WRITE, owner: 'd' })).status, 0);
  });

  test(`${version}: opening again widens an open, and it can be narrowed`, async (context) => {
    const served = await serve(context);
    const client = await served[version]('tester');
    const sequence = () => ('nextSequence' in client ? client.nextSequence('owner') : 0);
    const first = await client.open({ name: 'f', create: 'unchecked', access: READ });
    const put = ops.put(first.handle);
    const write = (state: StateId4) => client.compound(put, ops.write(state, 0, Buffer.from('x')));
    assert.equal((await write(first.state)).status, Status4.openMode);
    const second = await client.open({ name: 'f', access: WRITE });
    assert.ok(second.state.other.equals(first.state.other));
    assert.equal(second.state.sequence, first.state.sequence + 1);
    assert.equal((await write(second.state)).status, 0);
    assert.equal((await write(first.state)).status, Status4.oldStateId);
    assert.equal((await write({ ...second.state, sequence: 99 })).status, Status4.badStateId);
    const { results, status } = await client.compound(put, ops.downgrade(second.state, READ, 0, sequence()));
    assert.equal(status, 0);
    const narrowed = results[1] as StateId4;
    assert.equal((await write(narrowed)).status, Status4.openMode);
    assert.equal((await client.compound(put, ops.downgrade(narrowed, WRITE, 0, sequence()))).status, Status4.invalid);
  });

  test(`${version}: an open file outlives its name until it is closed`, async (context) => {
    const served = await serve(context);
    const client = await served[version]('tester');
    const { state, handle } = await client.open({ name: 'f', create: 'unchecked' });
    await client.compound(ops.put(handle), ops.write(state, 0, Buffer.from('still here')));
    assert.equal((await client.compound(ops.putRoot(), ops.lookup('share'), ops.remove('f'))).status, 0);
    const { results } = await client.compound(ops.put(handle), ops.read(state, 0, 100));
    assert.deepEqual((results[1] as { data: Buffer }).data.toString(), 'still here');
    const sequence = 'nextSequence' in client ? client.nextSequence('owner') : 0;
    await client.compound(ops.put(handle), ops.close(state, sequence));
    assert.equal(served.filesystem.fileCount, 1);
    assert.equal((await client.compound(ops.put(handle), ops.getattr(Attribute.size))).status, Status4.stale);
  });

  test(`${version}: exclusive create, truncation, kinds of files and permissions`, async (context) => {
    const served = await serve(context);
    const root = await served.client3();
    const client = await served[version]('tester', ADA);
    const verifier = Buffer.from('exclusiv');
    const first = await client.open({ name: 'x', create: verifier });
    const again = await client.open({ name: 'x', create: verifier, owner: 'b' });
    assert.ok(again.handle.equals(first.handle));
    assert.equal((await client.open({ name: 'x', create: Buffer.alloc(8), owner: 'c' })).status, Status4.exists);
    await root.write(first.handle, 0, Buffer.from('12345'));
    assert.equal((await client.open({ name: 'x', create: 'unchecked', set: { size: 0 }, owner: 'd' })).status, 0);
    assert.equal((await root.getattr(first.handle)).attributes!.size, 0);
    await root.mkdir(root.root, 'd');
    await root.symlink(root.root, 'l', 'x');
    await root.mknod(root.root, 'p', 7);
    await root.create(root.root, 'secret', { mode: 0o600 });
    await root.create(root.root, 'readable', { mode: 0o444 });
    assert.equal((await client.open({ name: 'd', owner: 'e' })).status, Status4.isDirectory);
    assert.equal((await client.open({ name: 'l', owner: 'f' })).status, Status4.symlink);
    const pipe = version === 'client40' ? Status4.symlink : Status4.wrongType;
    assert.equal((await client.open({ name: 'p', owner: 'g' })).status, pipe);
    assert.equal((await client.open({ name: 'secret', access: READ, owner: 'h' })).status, Status4.access);
    assert.equal((await client.open({ name: 'readable', access: READ, owner: 'i' })).status, 0);
    assert.equal((await client.open({ name: 'readable', access: WRITE, owner: 'j' })).status, Status4.access);
    assert.equal((await client.open({ name: 'x', access: 0, owner: 'k' })).status, Status4.invalid);
    assert.equal((await client.open({ name: 'x', deny: 4, owner: 'l' })).status, Status4.invalid);
  });
}

test('4.0: requests of an owner are numbered: one that comes again is answered the same, others are refused', async (context) => {
  const { client40, filesystem } = await serve(context);
  const client = await client40('tester');
  const path = [ops.putRoot(), ops.lookup('share')];
  const open = (name: string, sequence: number) =>
    client.compound(...path, ops.open({ name, create: 'guarded', sequence, clientId: client.clientId }), ops.get());
  const first = await open('f', 10);
  const again = await open('f', 10);
  assert.deepEqual([again.status, again.results], [first.status, first.results]);
  const { state } = first.results[2] as Opened4;
  const put = ops.put(first.results[3] as Buffer);
  assert.equal((await client.compound(put, ops.confirm(state, 12))).status, Status4.badSequenceId);
  const confirmed = await client.compound(put, ops.confirm(state, 11));
  const confirmedAgain = await client.compound(put, ops.confirm(state, 11));
  assert.deepEqual(confirmedAgain.results, confirmed.results);
  const current = confirmed.results[1] as StateId4;
  assert.equal((await open('f', 12)).status, Status4.exists);
  assert.equal((await open('f', 12)).status, Status4.exists, 'a failure is repeated, too');
  assert.equal((await open('g', 14)).status, Status4.badSequenceId);
  const closed = await client.compound(put, ops.close(current, 13));
  assert.equal(closed.status, 0);
  const closedAgain = await client.compound(put, ops.close(current, 13));
  assert.deepEqual(closedAgain.results, closed.results);
  assert.equal((await client.compound(put, ops.close(current, 14))).status, Status4.badStateId);
  assert.equal(filesystem.fileCount, 2);
});

test('4.1: the current stateid saves a round trip, and an open by file handle needs no name', async (context) => {
  const { client41 } = await serve(context);
  const client = await client41('tester');
  const answer = await client.compound(
    ops.putRoot(),
    ops.lookup('share'),
    ops.open({ name: 'f', create: 'unchecked' }),
    ops.write(CURRENT, 0, Buffer.from('one')),
    ops.read(CURRENT, 0, 10),
    ops.get(),
    ops.close(CURRENT),
  );
  assert.equal(answer.status, 0);
  assert.equal((answer.results[4] as { data: Buffer }).data.toString(), 'one');
  const handle = answer.results[5] as Buffer;
  const byHandle = await client.compound(ops.put(handle), ops.open({ claim: 'handle', access: READ }));
  assert.equal(byHandle.status, 0);
  const { state } = byHandle.results[1] as Opened4;
  const tested = await client.compound({
    op: Op.testStateId,
    write: (args) => {
      args.u32(2).u32(state.sequence).fixed(state.other).u32(1).fixed(Buffer.alloc(12, 7));
    },
    read: (body) => body.array(9, () => body.u32()),
  });
  assert.deepEqual(tested.results[0], [0, Status4.badStateId]);
  const freed = await client.compound(ops.raw(Op.freeStateId, (args) => args.u32(state.sequence).fixed(state.other)));
  assert.equal(freed.status, Status4.locksHeld);
});
