import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError, ConnectionError } from '@granary/client/errors';
import { orLastKnown } from '../src/api/last-known.ts';

/** Goal: a connection that is lost for a moment takes nothing off the page. */

const lost = () => Promise.reject(new ConnectionError('', new TypeError('fetch failed')));

test('what is known stays while nobody answers; a refusal is shown', async () => {
  assert.equal(await orLastKnown(lost, () => 'before'), 'before');
  const refused = () => Promise.reject(new ApiError(404, 'gone'));
  await assert.rejects(
    orLastKnown(refused, () => 'before'),
    /gone/,
  );
});

test('what was never known fails', async () => {
  await assert.rejects(
    orLastKnown(lost, () => undefined),
    ConnectionError,
  );
});

test('an answer takes the place of what was known', async () => {
  assert.equal(
    await orLastKnown(
      () => Promise.resolve('now'),
      () => 'before',
    ),
    'now',
  );
});
