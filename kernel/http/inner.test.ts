import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpoint, response, str, type Api } from '@granary/contract';
import { file, text } from '../../contract/params.ts';
import { Vault } from '../auth/vault.ts';
import { ManualClock } from '../clock.ts';
import { createLog } from '../log.ts';
import { temporaryStore } from '../testing/temporary-store.ts';
import { createApiServer, innerApi } from './index.ts';

const put = endpoint('PUT', '/inner/{name}', {
  summary: 'Bytes as they are',
  access: { roles: ['machine'] },
  params: { name: text('Its name'), mode: text('From the query'), octets: file('The body') },
  reply: response({ got: str() }),
});
const echo = endpoint('POST', '/outer', {
  summary: 'For people',
  access: { roles: ['admin'] },
  reply: response({}),
});
const about = { title: 'Test', description: 'For tests.', dialect: 'array' } as const;
const outer = { name: 'outer', ...about, groups: { outer: { echo } } } as const satisfies Api;
const inner = { name: 'inner', ...about, groups: { inner: { put } } } as const satisfies Api;

test('an inner interface takes octets, has keys of its own, and is not on the pages for people', async (t) => {
  const app = await createApiServer({
    api: outer,
    handlers: { outer: { echo: () => ({}) } },
    authenticate: ({ headers }) => (headers['x-token'] === 'person' ? { id: 'user:1', role: 'admin' } : undefined),
    inner: [
      innerApi(
        inner,
        { inner: { put: ({ name, mode, octets }) => ({ got: `${name} ${mode} ${octets.bytes.join()}` }) } },
        ({ headers }) => (headers['x-token'] === 'machine' ? { id: 'machine:1', role: 'machine' } : undefined),
      ),
    ],
    store: temporaryStore(t),
    vault: new Vault(Buffer.alloc(32)),
    clock: new ManualClock(0),
    log: createLog('test', 'silent'),
    version: '1',
  });
  t.after(() => app.close());
  const send = async (method: 'PUT' | 'POST', url: string, token: string, bytes = Buffer.of(0, 255, 10)) => {
    const headers = { 'x-token': token, 'content-type': 'application/octet-stream' };
    const reply = await app.inject({ method, url, headers, payload: bytes });
    return { http: reply.statusCode, ...reply.json<{ response: { status: number; got?: string } }>().response };
  };
  const taken = await send('PUT', '/api/inner/a?mode=b', 'machine');
  assert.deepEqual([taken.status, taken.got], [0, 'a b 0,255,10']);
  assert.equal((await send('PUT', '/api/inner/a?mode=b', 'person')).status, 5);
  assert.equal((await send('POST', '/api/outer', 'machine', Buffer.alloc(0))).status, 5);
  assert.equal((await send('POST', '/api/outer', 'person')).status, 10, 'octets are for the inner one alone');
  assert.equal((await send('PUT', '/api/inner/a?mode=b', 'machine', Buffer.alloc(11 * 2 ** 20))).http, 413);
  assert.equal((await send('PUT', '/api/inner/a?mode=b', 'machine', Buffer.alloc(8 * 2 ** 20))).status, 0);
  const document = await app.inject({ url: '/api/openapi.json' });
  assert.ok(document.body.includes('/outer') && !document.body.includes('/inner'));
});
