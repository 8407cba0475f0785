import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { namesOf, recordsOf, tableOf } from './table.ts';

interface Told {
  readonly name: string | null;
  readonly size: number;
  readonly isRare?: true;
}

const NAMES = namesOf<Told>({ name: true, size: true, isRare: true });

test('records are the same on the other side, with fields they have and without those they do not have', () => {
  const told: fc.Arbitrary<Told> = fc
    .tuple(fc.option(fc.string()), fc.integer(), fc.boolean())
    .map(([name, size, isRare]) => ({ name, size, ...(isRare && { isRare }) }));
  fc.assert(
    fc.property(fc.array(told), (records) => {
      const crossed = structuredClone(tableOf(NAMES, records));
      assert.deepEqual(recordsOf(NAMES, crossed), records);
    }),
  );
});
