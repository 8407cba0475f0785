import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ops, type StateId4 } from '../testing/client4.ts';
import { serve } from '../testing/serve.ts';
import { Op } from './opcodes.ts';
import { Status4 } from './status.ts';

const ALL = 2n ** 64n - 1n;

for (const version of ['client40', 'client41'] as const) {
  test(`${version}: ranges are locked, tested, split and unlocked`, async (context) => {
    const served = await serve(context);
    const [one, two] = [await served[version]('one'), await served[version]('two')];
    const next = (client: typeof one) => ('nextSequence' in client ? client.nextSequence('owner') : 0);
    const first = await one.open({ name: 'f', create: 'unchecked' });
    const second = await two.open({ name: 'f' });
    const put = ops.put(first.handle);
    let sequence = 0;
    const taken = await one.compound(
      put,
      ops.lock({
        offset: 0n,
        length: 100n,
        sequence: ++sequence,
        open: { state: first.state, sequence: next(one), clientId: one.clientId },
      }),
    );
    assert.equal(taken.status, 0);
    let state = taken.results[1] as StateId4;
    const refused = await two.compound(
      put,
      ops.lock({
        exclusive: false,
        offset: 50n,
        open: { state: second.state, sequence: next(two), clientId: two.clientId, owner: 'other' },
        sequence: 1,
      }),
    );
    assert.equal(refused.status, Status4.denied);
    const { rest } = refused;
    assert.deepEqual(
      [rest.u64(), rest.u64(), rest.u32(), rest.u64(), rest.text(20)],
      [0n, 100n, 2, one.clientId, 'locker'],
    );
    const test = async (offset: bigint, length: bigint) =>
      (await two.compound(put, ops.lockt(true, offset, length, two.clientId, 'other'))).status;
    assert.equal(await test(99n, 1n), Status4.denied);
    assert.equal(await test(100n, ALL), 0);
    const unlocked = await one.compound(put, ops.unlock(state, 40n, 20n, ++sequence));
    assert.equal(unlocked.status, 0);
    state = unlocked.results[1] as StateId4;
    assert.equal(await test(40n, 20n), 0);
    assert.equal(await test(39n, 1n), Status4.denied);
    const more = await one.compound(put, ops.lock({ state, offset: 200n, length: ALL, sequence: ++sequence }));
    assert.equal(more.status, 0);
    state = more.results[1] as StateId4;
    assert.equal(await test(2n ** 63n, 1n), Status4.denied);
    for (const [offset, length] of [
      [0n, 0n],
      [10n, ALL - 5n],
    ] as const) {
      assert.equal((await one.compound(put, ops.lock({ state, offset, length, sequence: 9 }))).status, Status4.invalid);
    }
    const closed = await one.compound(put, ops.close(first.state, next(one)));
    assert.equal(closed.status, 0);
    assert.equal(await test(0n, ALL), 0);
    assert.equal((await one.compound(put, ops.unlock(state, 0n, 1n, sequence + 1))).status, Status4.badStateId);
  });

  test(`${version}: an exclusive lock needs an open for writing`, async (context) => {
    const served = await serve(context);
    const client = await served[version]('one');
    const opened = await client.open({ name: 'f', create: 'unchecked', access: 1 });
    const next = () => ('nextSequence' in client ? client.nextSequence('owner') : 0);
    const lock = async (exclusive: boolean) => {
      const open = { state: opened.state, sequence: next(), clientId: client.clientId };
      return (await client.compound(ops.put(opened.handle), ops.lock({ exclusive, sequence: 1, open }))).status;
    };
    assert.equal(await lock(true), Status4.openMode);
    assert.equal(await lock(false), 0);
  });
}

test('4.0: a lock request that comes again gets the same result; RELEASE_LOCKOWNER waits for the last unlock', async (context) => {
  const { client40, server } = await serve(context);
  const client = await client40('one');
  const { state, handle } = await client.open({ name: 'f', create: 'unchecked' });
  const put = ops.put(handle);
  const open = { state, sequence: client.nextSequence('owner'), clientId: client.clientId };
  const first = await client.compound(put, ops.lock({ sequence: 1, open }));
  const again = await client.compound(put, ops.lock({ sequence: 1, open }));
  assert.deepEqual(again.results, first.results);
  const locked = first.results[1] as StateId4;
  const second = await client.compound(put, ops.lock({ state: locked, offset: 50n, sequence: 2 }));
  const secondAgain = await client.compound(put, ops.lock({ state: locked, offset: 50n, sequence: 2 }));
  assert.deepEqual([secondAgain.status, secondAgain.results], [0, second.results]);
  assert.equal((await client.compound(put, ops.lock({ state: locked, sequence: 7 }))).status, Status4.badSequenceId);
  const release = ops.raw(Op.releaseLockOwner, (args) => args.u64(client.clientId).text('locker'));
  assert.equal((await client.compound(release)).status, Status4.locksHeld);
  const current = second.results[1] as StateId4;
  const unlocked = await client.compound(put, ops.unlock(current, 0n, ALL, 3));
  assert.equal(unlocked.status, 0);
  assert.equal((await client.compound(release)).status, 0);
  assert.ok(server.locks.size > 0, 'the open is still there');
});

test('4.1: FREE_STATEID takes a lock stateid once it holds no lock', async (context) => {
  const { client41 } = await serve(context);
  const client = await client41('one');
  const { state, handle } = await client.open({ name: 'f', create: 'unchecked' });
  const put = ops.put(handle);
  const locked = await client.compound(put, ops.lock({ open: { state } }));
  const lock = locked.results[1] as StateId4;
  const free = (id: StateId4) => ops.raw(Op.freeStateId, (args) => args.u32(id.sequence).fixed(id.other));
  assert.equal((await client.compound(free(lock))).status, Status4.locksHeld);
  const unlocked = await client.compound(put, ops.unlock({ ...lock, sequence: 0 }, 0n, ALL));
  assert.equal((await client.compound(free(unlocked.results[1] as StateId4))).status, 0);
});
