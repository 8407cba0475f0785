import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test, type TestContext } from 'node:test';
import { turns } from '../../testing/turns.ts';
import { until } from '../../testing/waiting.ts';
import { writeSetting, type Store } from '../store/index.ts';
import { serve } from './testing/server.ts';

const request = { url: '/api/things/7', headers: { 'x-token': 'member' } };

/** Starts a change whose sync ends when the returned function is called. */
async function heldSync(t: TestContext, store: Store): Promise<(error: Error | null) => void> {
  let end: ((error: Error | null) => void) | undefined;
  const held = t.mock.method(fs, 'fdatasync', (_fd: number, done: (error: Error | null) => void) => (end = done));
  store.write((tx) => writeSetting(tx, 'a', '1')).catch(() => undefined);
  await until(() => end !== undefined);
  held.mock.restore();
  return (error) => end?.(error);
}

test('a reply waits until everything it may show is durable', async (t) => {
  const { app, store } = await serve(t, 'portal');
  const endSync = await heldSync(t, store);
  const reply = app.inject(request);
  const early = await Promise.race([reply, turns().then(() => 'still waiting')]);
  assert.equal(early, 'still waiting');
  endSync(null);
  assert.equal((await reply).statusCode, 200);
  assert.equal(store.whenDurable(), undefined);
});

test('after a failed sync callers learn that changes are refused until the next start, and what to do', async (t) => {
  const { app, store } = await serve(t, 'portal');
  const endSync = await heldSync(t, store);
  const reply = app.inject(request);
  await turns();
  endSync(new Error('EIO'));
  const { statusCode, body } = await reply;
  assert.equal(statusCode, 503);
  assert.match(body, /refused until the server is started again; repair its disk first/);
  await assert.rejects(
    store.write((tx) => writeSetting(tx, 'a', '2')),
    { code: 'not-durable' },
  );
  assert.equal((await app.inject(request)).statusCode, 200, 'reads go on');
});

test('closing a store makes the change in flight durable and acknowledges it', async (t) => {
  const { store } = await serve(t, 'portal');
  let end: (() => void) | undefined;
  const held = t.mock.method(fs, 'fdatasync', (_fd: number, done: () => void) => (end = done));
  const changes = [1, 2].map((n) => store.write((tx) => writeSetting(tx, 'a', String(n))));
  await until(() => end !== undefined);
  held.mock.restore();
  const late = store.write((tx) => writeSetting(tx, 'a', '3'));
  store.close();
  await Promise.all([...changes, late]);
  end?.();
});
