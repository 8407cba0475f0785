import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertBrief } from '../kernel/edge/testing/blocking.ts';
import { arrayApi, peerApi } from './array/index.ts';
import { cloudApi } from './cloud/index.ts';
import { operations, type Api } from './endpoint.ts';
import { objectsApi } from './objects/index.ts';
import { portalApi } from './portal/index.ts';

/** A text may be twice as long as the schema says before it is refused without a look at it. */
const LENGTH_MAX = 16_384;

function patternsIn(value: unknown, found: Map<string, number>): void {
  if (typeof value !== 'object' || value === null) return;
  const { pattern, maxLength } = value as { pattern?: unknown; maxLength?: unknown };
  if (typeof pattern === 'string') {
    const length = Math.min(LENGTH_MAX, 2 * (typeof maxLength === 'number' ? maxLength : LENGTH_MAX));
    found.set(pattern, Math.max(length, found.get(pattern) ?? 0));
  }
  for (const part of Object.values(value)) patternsIn(part, found);
}

const pieces = [
  'a',
  'A',
  '0',
  '.',
  '-',
  '_',
  ' ',
  '/',
  ':',
  '@',
  ',',
  '+',
  '*',
  'é',
  '\n',
  'a.',
  'a-',
  '0.',
  'a ',
  '::',
  'a@',
  '1,',
  '0:',
  '[0]',
  ' ,',
];

test('no pattern of a parameter takes long, whatever the text', async () => {
  const found = new Map<string, number>();
  for (const api of [portalApi, cloudApi, arrayApi, objectsApi, peerApi] as Api[]) {
    for (const { endpoint } of operations(api)) patternsIn(endpoint.params, found);
  }
  assert.ok(found.size > 10, `${found.size} patterns`);
  for (const [pattern, length] of found) {
    const expression = new RegExp(pattern, 'u');
    await assertBrief(`the pattern ${pattern}`, () => {
      for (const piece of pieces) {
        const text = piece.repeat(Math.ceil(length / piece.length)).slice(0, length);
        expression.test(text);
        expression.test(`${text}!`);
        expression.test(`${text}\0`);
      }
    });
  }
});
