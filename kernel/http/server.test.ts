import assert from 'node:assert/strict';
import { request } from 'node:http';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { success } from '@granary/contract';
import { until } from '../../testing/waiting.ts';
import { Vault } from '../auth/vault.ts';
import { systemClock } from '../clock.ts';
import { badParameter, retryLater } from '../errors.ts';
import { createLog } from '../log.ts';
import { temporaryStore } from '../testing/temporary-store.ts';
import { createApiServer } from './index.ts';
import { serve, testGroups, thing } from './testing/server.ts';

const headers = { 'x-token': 'member' };

test('the portal answers {status: success} and the fields', async (t) => {
  const { app } = await serve(t, 'portal');
  const reply = await app.inject({ url: '/api/things/7', headers });
  assert.deepEqual([reply.statusCode, reply.json()], [200, { status: 'success', thing }]);
  assert.equal(reply.headers['cache-control'], 'no-store');
});

test('an array answers {response: {status: 0}} and the fields', async (t) => {
  const { app } = await serve(t, 'array');
  const reply = await app.inject({ url: '/api/things/7', headers });
  assert.deepEqual([reply.statusCode, reply.json()], [200, { response: { status: 0, thing } }]);
});

test('the portal tells errors by HTTP status, and which parameters were bad', async (t) => {
  const { app } = await serve(t, 'portal');
  const ask = async (method: 'GET' | 'POST' | 'DELETE', url: string, token?: string) => {
    const reply = await app.inject({ method, url, headers: token === undefined ? {} : { 'x-token': token } });
    return [reply.statusCode, reply.json<unknown>()];
  };
  const error = (message: string) => ({ status: 'error', message });
  assert.deepEqual(await ask('GET', '/api/things/7'), [401, error('Invalid credentials.')]);
  assert.deepEqual(await ask('GET', '/api/things/7', 'wrong'), [401, error('Invalid credentials.')]);
  assert.deepEqual(await ask('DELETE', '/api/things/7', 'member'), [
    403,
    error('Your role does not allow this; it needs the role admin.'),
  ]);
  assert.deepEqual(await ask('GET', '/api/things/8', 'member'), [404, error('There is no thing 8.')]);
  assert.deepEqual(await ask('POST', '/api/things', 'member'), [
    400,
    { ...error('name is required.'), errors: [{ field: 'name', message: 'is required' }] },
  ]);
  assert.deepEqual(await ask('POST', '/api/things?name=taken', 'member'), [
    409,
    error('The name taken is taken; choose another.'),
  ]);
});

test('an array tells errors by a code in a reply that is HTTP 200', async (t) => {
  const { app } = await serve(t, 'array');
  const ask = async (method: 'GET' | 'POST' | 'DELETE', url: string, token?: string) => {
    const reply = await app.inject({ method, url, headers: token === undefined ? {} : { 'x-token': token } });
    return [reply.statusCode, reply.json<{ response: { status: number } }>().response.status];
  };
  assert.deepEqual(await ask('GET', '/api/things/7'), [200, 5]);
  assert.deepEqual(await ask('DELETE', '/api/things/7', 'member'), [200, 6]);
  assert.deepEqual(await ask('POST', '/api/things', 'member'), [200, 7]);
  assert.deepEqual(await ask('GET', '/api/things/x', 'member'), [200, 7]);
  assert.deepEqual(await ask('GET', '/api/things/8', 'member'), [200, 20001]);
  assert.deepEqual(await ask('GET', '/api/nowhere', 'member'), [404, 4]);
  assert.deepEqual(await ask('POST', '/api/things/7/paint', 'member'), [501, 2]);
  assert.deepEqual(await ask('POST', '/api/things/7/break', 'member'), [500, 1]);
  const large = {
    method: 'POST',
    url: '/api/things',
    headers: { ...headers, 'content-type': 'application/json' },
  } as const;
  const reply = await app.inject({ ...large, payload: `{"name":"${'x'.repeat(3e6)}"}` });
  assert.deepEqual(
    [reply.statusCode, reply.json()],
    [413, { response: { status: 8, message: 'The request is larger than 2 MiB.' } }],
  );
});

test('credentials may come in the body, be checked later than at once, and are not asked of anyone where none are needed', async (t) => {
  const key = { method: 'POST', url: '/api/echo', payload: { access_key: 'member', name: 'Ada' } } as const;
  const inBody = await (await serve(t, 'array')).app.inject(key);
  assert.match(inBody.body, /Ada/);
  const { app } = await serve(t, 'portal');
  assert.equal((await app.inject(key)).statusCode, 401);
  const later = await app.inject({ url: '/api/things/7', headers: { ...headers, 'x-later': 'yes' } });
  assert.equal(later.statusCode, 200);
  const laterNot = await app.inject({ url: '/api/things/7', headers: { 'x-token': 'wrong', 'x-later': 'yes' } });
  assert.equal(laterNot.statusCode, 401);
  const open = await app.inject({ method: 'POST', url: '/api/open_echo', payload: { name: 'Ada' } });
  assert.equal(open.statusCode, 200);
});

test('what is declared but not served says so, to those who may know', async (t) => {
  const { app } = await serve(t, 'portal');
  const url = '/api/things/7/paint';
  assert.equal((await app.inject({ method: 'POST', url })).statusCode, 401);
  assert.equal((await app.inject({ method: 'POST', url, headers: { 'x-token': 'guest' } })).statusCode, 403);
  const reply = await app.inject({ method: 'POST', url, headers });
  assert.equal(reply.statusCode, 501);
  assert.match(reply.json<{ message: string }>().message, /^things\.paint is part of the interface/);
});

test('an unknown path says where to look, in the dialect', async (t) => {
  const { app } = await serve(t, 'portal');
  for (const url of ['/api', '/api/', '/api/nowhere', '/api/things/7/8/9', '/favicon.ico', '/api/v2/']) {
    const reply = await app.inject({ url });
    assert.equal(reply.statusCode, 404, url);
    assert.equal(reply.json<{ status: string }>().status, 'error');
  }
  const other = await app.inject({ method: 'PUT', url: '/api/things/7?access_key=secret', headers });
  assert.equal(
    other.json<{ message: string }>().message,
    'There is no PUT /api/things/7; see /api/docs for what is served here.',
  );
});

test('an address that cannot be read is refused in the dialect', async (t) => {
  for (const dialect of ['portal', 'array'] as const) {
    const { app } = await serve(t, dialect);
    for (const url of ['/api/things/%zz', '/api/things/%ff', `/api/things/${'9'.repeat(2000)}`]) {
      const reply = await app.inject({ url, headers });
      assert.equal(reply.statusCode, dialect === 'portal' ? 400 : 200, url);
      assert.match(reply.body, /could not be read/);
    }
  }
});

test('an unexpected error hides its details from the caller and tells them to the log', async (t) => {
  const { app, logged } = await serve(t, 'portal');
  const reply = await app.inject({ method: 'POST', url: '/api/things/7/break', headers });
  const { message } = reply.json<{ message: string }>();
  assert.equal(reply.statusCode, 500);
  assert.doesNotMatch(reply.body, /inside story/);
  const [line = '{}'] = logged;
  const entry = JSON.parse(line) as { error: { message: string; stack: string }; operation: string; request: string };
  assert.equal(entry.error.message, 'the inside story');
  assert.match(entry.error.stack, /testing\/server\.ts/);
  assert.equal(entry.operation, 'things.breakDown');
  assert.ok(message.endsWith(`under request ${entry.request}.`));
  assert.doesNotMatch(line, /hunter2/);
});

test('work that continues has a status of its own', async (t) => {
  const array = await serve(t, 'array');
  const reply = await array.app.inject({ method: 'POST', url: '/api/things/7/grow', headers });
  assert.deepEqual(
    [reply.statusCode, reply.json()],
    [200, { response: { status: 1073751835, message: 'The request has been submitted. It grows.' } }],
  );
});

test('lists say how many there are in all, in the body and in a header', async (t) => {
  const { app } = await serve(t, 'portal');
  const reply = await app.inject({ url: '/api/things?start=1&limit=1', headers });
  assert.equal(reply.headers['x-total-count'], '12');
  assert.deepEqual(reply.json(), { status: 'success', things: [], count: 12 });
  const one = await app.inject({ url: '/api/things/7', headers });
  assert.equal(one.headers['x-total-count'], undefined);
});

test('a file is sent as itself, under a name that is safe', async (t) => {
  const { app } = await serve(t, 'array');
  const reply = await app.inject({ url: '/api/things/7/export', headers });
  assert.equal(reply.headers['content-type'], 'text/csv');
  assert.equal(reply.headers['content-disposition'], 'attachment; filename="a__b__c.csv"');
  assert.equal(reply.body, 'x,y\n');
  const refused = await app.inject({ url: '/api/things/7/export' });
  assert.equal(refused.json<{ response: { status: number } }>().response.status, 5);
});

test('a file may be sent while it is made; one that fails or whose client has left ends there', async (t) => {
  const bench = await serve(t, 'array');
  const url = `${await bench.app.listen({ port: 0, host: '127.0.0.1' })}/api/things/7/export`;
  bench.streamed = Readable.from(['x,', 'y\n']);
  const reply = await fetch(url, { headers });
  assert.equal(reply.headers.get('content-disposition'), 'attachment; filename="a__b__c.csv"');
  assert.deepEqual([reply.headers.get('content-type'), await reply.text()], ['text/csv', 'x,y\n']);
  bench.streamed = Readable.from(failing());
  const cut = await fetch(url, { headers });
  await assert.rejects(cut.text());
  const endless = Readable.from(withoutEnd());
  bench.streamed = endless;
  const leaving = new AbortController();
  const left = await fetch(url, { headers, signal: leaving.signal });
  assert.equal(left.status, 200);
  leaving.abort();
  await until(() => endless.destroyed);
});

async function* failing(): AsyncGenerator<string> {
  yield 'x,';
  await new Promise((resolve) => setImmediate(resolve));
  throw new Error('the disk is gone');
}

async function* withoutEnd(): AsyncGenerator<string> {
  for (;;) {
    yield 'x,y\n';
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test('an error may bring headers of its own', async (t) => {
  const app = await createApiServer({
    api: { name: 'busy', title: '', description: '', dialect: 'array', groups: testGroups(success) },
    handlers: {
      things: {
        get: () => Promise.reject(retryLater('too_many_attempts', 9)),
        delete: () => {
          throw badParameter('id', 'is out of reach');
        },
      },
    },
    authenticate: () => ({ id: 'user:1', role: 'admin' }),
    store: temporaryStore(t),
    vault: new Vault(Buffer.alloc(32)),
    clock: systemClock,
    log: createLog('test', 'silent'),
    version: '1.2.3',
    notReady: () => 'the pool is being opened',
  });
  t.after(() => app.close());
  const reply = await app.inject({ url: '/api/things/7' });
  assert.deepEqual([reply.statusCode, reply.headers['retry-after']], [429, '9']);
  assert.match((await app.inject({ method: 'DELETE', url: '/api/things/7' })).body, /id is out of reach/);
  const ready = await app.inject({ url: '/readyz' });
  assert.deepEqual(
    [ready.statusCode, ready.json()],
    [503, { status: 'not ready', message: 'the pool is being opened' }],
  );
});

test('a supervisor learns that the process lives, is ready, and its metrics', async (t) => {
  const { app } = await serve(t, 'portal');
  assert.deepEqual((await app.inject({ url: '/healthz' })).json(), { status: 'ok' });
  assert.deepEqual((await app.inject({ url: '/readyz' })).json(), { status: 'ready' });
  await app.inject({ url: '/api/things/7', headers });
  await app.inject({ url: '/api/things/7' });
  await app.inject({ url: '/api/nowhere?access_key=hunter2' });
  const metrics = await app.inject({ url: '/metrics' });
  assert.match(String(metrics.headers['content-type']), /^text\/plain/);
  const count = (operation: string, status: number) =>
    new RegExp(`granary_http_requests_total\\{.*operation="${operation}",status="${status}".*\\} 1\\b`);
  assert.match(metrics.body, count('things.get', 200));
  assert.match(metrics.body, count('things.get', 401));
  assert.match(metrics.body, count('none', 404));
  assert.doesNotMatch(metrics.body, /hunter2|"member"/);
});

test('a handler that runs at once and one that waits are timed from the request to the reply', async (t) => {
  const bench = await serve(t, 'portal');
  const gate = Promise.withResolvers();
  bench.gate = gate.promise;
  const answered = bench.app.inject({ method: 'POST', url: '/api/things?name=slow', headers });
  // Only from here on is it certain that the handler waits.
  await until(() => bench.created.length > 0);
  setTimeout(() => gate.resolve(undefined), 30);
  await answered;
  const metrics = await bench.app.inject({ url: '/metrics' });
  const sum = /granary_http_request_seconds_sum\{.*operation="things.create".*\} ([\d.]+)/.exec(metrics.body)?.[1];
  assert.ok(Number(sum) >= 0.02, sum);
});

test('a hundred requests at once over one socket server are all answered', async (t) => {
  const { app } = await serve(t, 'portal');
  const address = await app.listen({ port: 0, host: '127.0.0.1' });
  const replies = await Promise.all(
    Array.from({ length: 100 }, async (_, n) => {
      const reply = await fetch(`${address}/api/things`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify({ name: `thing ${n}` }),
      });
      return (await reply.json()) as { id: number };
    }),
  );
  assert.equal(new Set(replies.map(({ id }) => id)).size, 100);
});

test('a caller who disconnects during a request affects no other request', async (t) => {
  const bench = await serve(t, 'portal');
  const gate = Promise.withResolvers();
  bench.gate = gate.promise;
  const address = await bench.app.listen({ port: 0, host: '127.0.0.1' });
  const asked = request(`${address}/api/things?name=gone`, { method: 'POST', headers, agent: false }).end();
  asked.on('error', () => undefined);
  await until(() => bench.created.length > 0);
  asked.destroy();
  gate.resolve(undefined);
  const next = await fetch(`${address}/api/things/7`, { headers });
  assert.equal(((await next.json()) as { status: string }).status, 'success');
});

test('every call is reported once it is answered: who, what, with what, and how it ended', async (t) => {
  const { app, answered } = await serve(t, 'array');
  const ask = async (method: 'GET' | 'POST' | 'DELETE', url: string, token?: string, key?: string) => {
    const known = {
      ...(token !== undefined && { 'x-token': token }),
      ...(key !== undefined && { 'idempotency-key': key }),
    };
    await app.inject({ method, url, headers: known });
    const { operation, actor, params, ip, code } = answered.at(-1)!;
    return [operation.id, actor?.id, params, ip, code];
  };
  const ip = '127.0.0.1';
  assert.deepEqual(await ask('GET', '/api/things/7', 'member'), ['things.get', 'user:1', { 'thing-id': '7' }, ip, 0]);
  assert.deepEqual(await ask('GET', '/api/things/7', 'wrong'), ['things.get', undefined, { 'thing-id': '7' }, ip, 5]);
  assert.deepEqual(await ask('DELETE', '/api/things/7', 'member'), ['things.delete', 'user:1', { id: '7' }, ip, 6]);
  const grow = await ask('POST', '/api/things/7/grow', 'member');
  assert.deepEqual(grow, ['things.grow', 'user:1', { id: '7' }, ip, 1073751835]);
  const taken = await ask('POST', '/api/things?name=taken', 'member', 'once');
  assert.deepEqual(taken, ['things.create', 'user:1', { name: 'taken' }, ip, 10096]);
  assert.deepEqual(await ask('POST', '/api/open_echo', 'member'), ['echoes.open', undefined, {}, ip, 0]);
  assert.equal(answered.length, 6);
});
