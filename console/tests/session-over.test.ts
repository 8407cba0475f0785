import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '@granary/client/errors';
import { arrayApi } from '@granary/contract/array';
import { portalApi } from '@granary/contract/portal';
import { isSessionOver } from '../src/api/session-over.ts';

/** A connection to a service that says this of the session. */
function saying(status: number, body: object) {
  const asked: string[] = [];
  const answer: typeof fetch = (url) => {
    asked.push(new URL(url).pathname);
    return Promise.resolve(new Response(JSON.stringify(body), { status }));
  };
  return { asked, connection: { url: 'http://service.example', fetch: answer } };
}

const refusal = new ApiError(401, 'Invalid credentials.');

test('a mistyped password in a form is refused, and the session goes on', async () => {
  const portal = saying(200, { session: { id: 1 } });
  assert.equal(await isSessionOver(refusal, portalApi, portal.connection), false);
  assert.deepEqual(portal.asked, ['/api/sessions/current']);
  const array = saying(200, { response: { status: 0, session: { id: 1 } } });
  assert.equal(await isSessionOver(new ApiError(5, 'Invalid credentials.'), arrayApi, array.connection), false);
});

test('a call is refused because the session is over where the service knows of none', async () => {
  const portal = saying(401, { status: 'error', message: 'Invalid credentials.' });
  assert.equal(await isSessionOver(refusal, portalApi, portal.connection), true);
  const array = saying(200, { response: { status: 5, message: 'Invalid credentials.' } });
  assert.equal(await isSessionOver(new ApiError(5, 'Invalid credentials.'), arrayApi, array.connection), true);
});

test('other errors say nothing of the session, and ask for nothing', async () => {
  const portal = saying(401, {});
  assert.equal(await isSessionOver(new ApiError(404, 'There is no user 7.'), portalApi, portal.connection), false);
  assert.deepEqual(portal.asked, []);
});
