import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '@granary/client/errors';
import { whenPersonLeaves } from '../src/api/leaving.ts';
import { csrfHeaders, sameSession, setCsrfToken } from '../src/api/token.ts';
import { isOver, untilAnswered } from '../src/app/until-answered.ts';

/** Goal: nothing of one person goes on, or is seen, when another one has the browser. */

test('what is kept is dropped when the person leaves, and when another one has signed in, but not at a sign-in', () => {
  let drops = 0;
  const stop = whenPersonLeaves(() => (drops += 1));
  setCsrfToken('of alice');
  assert.equal(drops, 0);
  // Another role of the same session.
  setCsrfToken('of alice');
  assert.equal(drops, 0);
  setCsrfToken('of bob');
  assert.equal(drops, 1);
  setCsrfToken(undefined);
  assert.equal(drops, 2);
  assert.deepEqual(csrfHeaders(), {});
  stop();
  setCsrfToken('of alice');
  setCsrfToken(undefined);
  assert.equal(drops, 2);
});

test('work of many calls learns that its session is over, also when another one has begun', () => {
  setCsrfToken('of alice');
  const isSame = sameSession();
  assert.ok(isSame());
  setCsrfToken(undefined);
  assert.ok(!isSame());
  setCsrfToken('of bob');
  assert.ok(!isSame());
  setCsrfToken(undefined);
});

test('a service that does not answer is asked again; nobody is asked to sign in meanwhile', async () => {
  const answers = [new TypeError('fetch failed'), new ApiError(503, 'stopping'), 'alice'];
  const told: boolean[] = [];
  const ask = () => {
    const next = answers.shift() ?? '';
    return next instanceof Error ? Promise.reject(next) : Promise.resolve(next);
  };
  const waiting = { tell: (isUnanswered: boolean) => told.push(isUnanswered), pause: () => Promise.resolve() };
  assert.equal(await untilAnswered(ask, waiting), 'alice');
  assert.deepEqual(told, [true, true, false]);
});

test('a service that knows of no session says so at once', async () => {
  for (const refusal of [new ApiError(401, 'Invalid credentials'), new ApiError(5, 'Invalid credentials')]) {
    assert.ok(isOver(refusal));
    await assert.rejects(
      untilAnswered(() => Promise.reject(refusal), { tell: () => assert.fail('it answered') }),
      /credentials/,
    );
  }
  assert.ok(!isOver(new ApiError(403, 'not allowed')));
});
