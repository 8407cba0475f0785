import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Vault } from '../auth/vault.ts';
import { ManualClock } from '../clock.ts';
import { EventLog } from '../events/events.ts';
import { serve } from '../http/testing/server.ts';
import { temporaryStore } from '../testing/temporary-store.ts';
import { MetricsToken } from './token.ts';

const elsewhere = '192.0.2.1';

test('the token of metrics opens them to programs on other machines, and nothing else', async (t) => {
  const { app, store } = await serve(t, 'portal');
  const vault = new Vault(Buffer.alloc(32, 7));
  const events = new EventLog(new ManualClock(0));
  const token = new MetricsToken({ store, vault });
  const ask = async (key: string | undefined, url = '/metrics', remoteAddress = elsewhere) => {
    const headers = key === undefined ? {} : { authorization: `Bearer ${key}`, 'x-token': key };
    return (await app.inject({ url, remoteAddress, headers })).statusCode;
  };
  assert.equal(await ask(undefined, '/metrics', '127.0.0.1'), 200);
  assert.deepEqual([await ask(undefined), await ask('guess')], [401, 401]);
  const first = await token.create(events, 'dana');
  assert.deepEqual([await ask(first), await ask(`${first}x`), await ask(undefined)], [200, 401, 401]);
  assert.equal(await ask(first, '/api/things/7'), 401);
  const second = await token.create(events, 'dana');
  assert.deepEqual([await ask(first), await ask(second), token.current() === second], [401, 200, true]);
  await token.delete(events, 'dana');
  assert.deepEqual([await ask(second), await ask(''), token.current()], [401, 401, null]);
});

test('the token of metrics is on disk only sealed, and in no event', async (t) => {
  const store = temporaryStore(t);
  const token = new MetricsToken({ store, vault: new Vault(Buffer.alloc(32, 1)) });
  const made = await token.create(new EventLog(new ManualClock(0)), 'dana');
  const kept = store.read((db) => JSON.stringify([db.all('SELECT * FROM settings'), db.all('SELECT * FROM events')]));
  assert.ok(!kept.includes(made));
});
