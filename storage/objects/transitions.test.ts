import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { noncurrentPolicyDue, policyDue } from './lifecycle.ts';

const DAY = 86_400_000;
const version = { key: 'a/b', size: 1000, modifiedAt: 0, attributes: {} };
const rule = { id: 'r', enabled: true, prefix: 'a/' };

test('of the transitions that are due the last one holds, whatever their order', () => {
  const days = fc.uniqueArray(fc.nat(50), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(days, fc.nat(60), (all, today) => {
      const transitions = all.map((each) => ({ storageClass: `c${each}`, policy: each + 1, days: each }));
      const due = all.filter((each) => each <= today);
      const expected = due.length === 0 ? undefined : Math.max(...due) + 1;
      assert.equal(policyDue({ lifecycle: [{ ...rule, transitions }] }, version, today * DAY), expected);
      const one = transitions.map((each) => ({ ...rule, id: each.storageClass, transitions: [each] }));
      assert.equal(policyDue({ lifecycle: one }, version, today * DAY), expected, 'each by a rule of its own');
    }),
  );
});

test('rules that are off or mean other objects move nothing, and small objects are spared where that is asked', () => {
  const transitions = [{ storageClass: 'cold', policy: 1, days: 0 }];
  const due = (more: object, settings: object = {}) =>
    policyDue({ lifecycle: [{ ...rule, transitions, ...more }], ...settings }, version, DAY);
  assert.equal(due({}), 1);
  assert.equal(due({ enabled: false }), undefined);
  assert.equal(due({ prefix: 'b' }), undefined);
  assert.equal(due({ tags: { a: 'b' } }), undefined);
  assert.equal(due({}, { transitionsSpareSmall: true }), undefined);
  assert.equal(due({ sizeGreaterThan: 10 }, { transitionsSpareSmall: true }), 1);
});

test('hidden versions move by the days since they were hidden, but for the newest few', () => {
  const noncurrentTransitions = [{ storageClass: 'cold', policy: 1, days: 2, keep: 1 }];
  const due = (newer: number, now: number) =>
    noncurrentPolicyDue(
      { lifecycle: [{ ...rule, noncurrentTransitions }] },
      version,
      { hiddenAt: 5 * DAY, newer },
      now,
    );
  assert.deepEqual([due(1, 7 * DAY - 1), due(1, 7 * DAY), due(0, 9 * DAY)], [undefined, 1, undefined]);
});
