import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LockTable, ShareBits } from './lock-table.ts';

const file = { filesystemId: 7n, inode: 3, generation: 1 };
const owner = { clientId: 1n, name: Buffer.from('a'), processId: 1 };

test('an open that denies writing goes together with readers only', () => {
  const table = new LockTable();
  const locks = table.of(file);
  const open = { access: ShareBits.read, deny: ShareBits.write };
  assert.equal(locks.shareConflict(open), undefined);
  locks.shares.add(open);
  assert.equal(locks.shareConflict({ access: ShareBits.read, deny: 0 }), undefined);
  assert.equal(locks.shareConflict({ access: ShareBits.both, deny: 0 }), open);
  assert.equal(locks.shareConflict({ access: ShareBits.write, deny: ShareBits.read }), open);
  assert.equal(locks.shareConflict({ access: ShareBits.both, deny: 0 }, open), undefined);
  assert.ok(table.isDenied(file, ShareBits.write));
  assert.ok(!table.isDenied(file, ShareBits.read));
  assert.ok(!table.isDenied({ ...file, generation: 2 }, ShareBits.write));
});

test('a file is forgotten with its last lock, and waiters are called at each release', () => {
  const table = new LockTable();
  const locks = table.of(file);
  locks.ranges.lock(owner, { start: 0n, end: 10n }, true);
  let calls = 0;
  const waiter = () => {
    calls += 1;
    if (calls === 2) locks.waiters.delete(waiter);
  };
  locks.waiters.add(waiter);
  table.unlock(file, owner, { start: 0n, end: 5n });
  assert.deepEqual([calls, table.size], [1, 1]);
  table.unlockAll(file, owner);
  assert.deepEqual([calls, table.size], [2, 0]);
});
