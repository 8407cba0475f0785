import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ArrayId, CloudId } from './ids.ts';

function subjectOf(array: ArrayId): string {
  return `array:${array}`;
}

test('the id of another kind of thing does not compile as the id of an array', () => {
  const [array, cloud]: [ArrayId, CloudId] = [7, 7];
  assert.equal(subjectOf(array), 'array:7');
  assert.equal(subjectOf(7), 'array:7');
  // @ts-expect-error -- this is the rule
  assert.equal(subjectOf(cloud), 'array:7');
});
