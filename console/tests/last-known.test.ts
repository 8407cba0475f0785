import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError, ConnectionError } from '@granary/client/errors';
import { failureOf, isAway, orLastKnown } from '../src/api/last-known.ts';

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

test('an array that starts again takes nothing off its pages; what is gone goes', async () => {
  const starting = new ApiError(409, 'Array tank is starting; reaching it needs it to be created.');
  assert.equal(
    await orLastKnown(
      () => Promise.reject(starting),
      () => 'before',
    ),
    'before',
  );
  assert.equal(failureOf({ error: starting, data: 'before' }), null);
  assert.equal(failureOf({ error: starting, data: undefined }), starting);
  const gone = new ApiError(20_001, 'There is no volume volume-00000007.');
  assert.equal(failureOf({ error: gone, data: 'before' }), gone);
  assert.equal(isAway(new TypeError('Failed to fetch')), true);
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
