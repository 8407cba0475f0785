import assert from 'node:assert/strict';
import { afterEach, mock, test } from 'node:test';
import { portal } from '../src/api/portal.ts';
import { sameSession, send, setCsrfToken, whenSignedOut } from '../src/api/send.ts';

/** Goal: what a refusal says of the session depends on where it came from, and on which session asked. */

const refusal = () => Response.json({ message: 'Invalid credentials' }, { status: 401 });

function ended(): () => number {
  let count = 0;
  whenSignedOut(() => (count += 1));
  return () => count;
}

afterEach(() => mock.restoreAll());

test('a refusal of the service ends the session; one of an array behind it does not', async () => {
  const count = ended();
  mock.method(globalThis, 'fetch', () => Promise.resolve(refusal()));
  setCsrfToken('a');
  await assert.rejects(send(portal.me.get, { base: '/via/7' }, {}));
  assert.equal(count(), 0);
  await assert.rejects(send(portal.me.get, { base: '' }, {}));
  assert.equal(count(), 1);
});

test('a late refusal of an earlier session does not end the one that came after it', async () => {
  const count = ended();
  let answer = (_: Response) => {};
  mock.method(globalThis, 'fetch', () => new Promise<Response>((resolve) => (answer = resolve)));
  setCsrfToken('of the first');
  const isSame = sameSession();
  const late = send(portal.me.get, { base: '' }, {});
  setCsrfToken('of the second');
  answer(refusal());
  await assert.rejects(late);
  assert.equal(count(), 0);
  assert.equal(isSame(), false);
});
