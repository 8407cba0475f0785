import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { RANGE_END, RangeLocks, type LockOwner } from './ranges.ts';

const owners: LockOwner[] = [1, 2, 3].map((processId) => ({ clientId: 0n, name: Buffer.alloc(0), processId }));
const SIZE = 24;

/** What one owner holds of one byte. */
type Model = ('shared' | 'exclusive' | undefined)[][];

test('random locks and unlocks hold exactly what a table of single bytes says', () => {
  const action = fc.record({
    kind: fc.constantFrom('shared', 'exclusive', 'unlock', 'all'),
    owner: fc.nat(owners.length - 1),
    start: fc.nat(SIZE - 1),
    length: fc.integer({ min: 1, max: SIZE }),
  });
  fc.assert(
    fc.property(fc.array(action, { maxLength: 40 }), (actions) => {
      const locks = new RangeLocks();
      const model: Model = owners.map(() => Array.from({ length: SIZE }, () => undefined));
      for (const { kind, owner, start, length } of actions) {
        const end = Math.min(SIZE, start + length);
        const range = { start: BigInt(start), end: BigInt(end) };
        const who = owners[owner]!;
        if (kind === 'all') {
          locks.unlockAll(who);
          model[owner]!.fill(undefined);
        } else if (kind === 'unlock') {
          locks.unlock(who, range);
          model[owner]!.fill(undefined, start, end);
        } else {
          const isBlocked = model.some(
            (bytes, other) =>
              other !== owner &&
              bytes
                .slice(start, end)
                .some((held) => held !== undefined && (kind === 'exclusive' || held === 'exclusive')),
          );
          const conflict = locks.lock(who, range, kind === 'exclusive');
          assert.equal(conflict !== undefined, isBlocked);
          if (conflict) assert.notEqual(conflict.owner, who);
          else model[owner]!.fill(kind, start, end);
        }
        compare(locks, model);
      }
    }),
    { numRuns: 300 },
  );
});

function compare(locks: RangeLocks, model: Model): void {
  const seen: Model = owners.map(() => Array.from({ length: SIZE }, () => undefined));
  let previous = 0n;
  for (const { owner, start, end, exclusive } of locks.held) {
    assert.ok(start >= previous && start < end, 'in order');
    previous = start;
    const bytes = seen[owners.indexOf(owner)]!;
    for (let at = Number(start); at < Number(end); at++) {
      assert.equal(bytes[at], undefined, 'no byte twice');
      bytes[at] = exclusive ? 'exclusive' : 'shared';
    }
  }
  assert.deepEqual(seen, model);
}

test('neighbouring locks of one kind become one, and the last byte of all can be locked', () => {
  const locks = new RangeLocks();
  const [owner, other] = owners as [LockOwner, LockOwner];
  locks.lock(owner, { start: 0n, end: 10n }, true);
  locks.lock(owner, { start: 10n, end: 20n }, true);
  assert.equal(locks.held.length, 1);
  locks.lock(owner, { start: RANGE_END - 1n, end: RANGE_END }, true);
  assert.equal(locks.conflict(other, { start: 20n, end: RANGE_END - 1n }, true), undefined);
  assert.equal(locks.conflict(other, { start: 20n, end: RANGE_END }, false)?.start, RANGE_END - 1n);
});
