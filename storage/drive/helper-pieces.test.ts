import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { callerOrder, helperOrder } from './helper-pieces.ts';

it('gives every piece to one of two threads, however they take turns', () => {
  const turns = fc.array(fc.boolean(), { minLength: 1, maxLength: 64 });
  fc.assert(
    fc.property(turns, fc.nat(), (isHelpers, number) => {
      const count = isHelpers.length;
      const split = number % count;
      const begun = { asker: 0, helper: 0 };
      const taken = isHelpers.map((isHelper) =>
        isHelper ? helperOrder(begun.helper++, split, count) : callerOrder(begun.asker++, split, count),
      );
      assert.deepEqual(
        taken.sort((a, b) => a - b),
        isHelpers.map((_, piece) => piece),
      );
    }),
  );
});

it('has a helper without company go from front to end', () => {
  assert.deepEqual(
    [0, 1, 2, 3].map((own) => helperOrder(own, 0, 4)),
    [0, 1, 2, 3],
  );
});
