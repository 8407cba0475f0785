import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../testing/waiting.ts';
import { turns } from '../../testing/turns.ts';
import { temporaryStore } from '../testing/temporary-store.ts';
import { serve, type Bench } from './testing/server.ts';

const HOUR_MS = 3600 * 1000;

interface Asked {
  readonly key?: string;
  readonly token?: string;
  readonly url?: string;
  readonly name?: string;
  readonly password?: string;
}

async function create({ app }: Bench, { key = 'k1', token = 'member', url = '/api/things', ...payload }: Asked) {
  const reply = await app.inject({
    method: 'POST',
    url,
    headers: { 'x-token': token, 'idempotency-key': key },
    payload: { name: 'Ada', ...payload },
  });
  return { status: reply.statusCode, body: reply.body };
}

test('the same key and request acts once and gets the first answer', async (t) => {
  const bench = await serve(t, 'portal');
  const first = await create(bench, {});
  assert.deepEqual(first, { status: 200, body: '{"status":"success","id":1}' });
  assert.deepEqual(await create(bench, {}), first);
  assert.deepEqual(await create(bench, { url: '/api/v2/things?unknown=1' }), first);
  assert.deepEqual(bench.created, ['Ada']);
  assert.match((await create(bench, { key: 'k2' })).body, /"id":2/);
});

test('requests with one key at the same time act once, and all get the answer', async (t) => {
  const bench = await serve(t, 'portal');
  const gate = Promise.withResolvers();
  bench.gate = gate.promise;
  const asked = Array.from({ length: 20 }, () => create(bench, {}));
  await until(() => bench.created.length > 0);
  const late = create(bench, {});
  await turns();
  gate.resolve(undefined);
  const answers = await Promise.all([...asked, late]);
  assert.deepEqual(bench.created, ['Ada']);
  assert.equal(new Set(answers.map(({ body }) => body)).size, 1);
  assert.ok(answers.every(({ status }) => status === 200));
});

test('another request with the key is refused', async (t) => {
  for (const [dialect, status] of [
    ['portal', 422],
    ['array', 200],
  ] as const) {
    const bench = await serve(t, dialect);
    await create(bench, {});
    const other = await create(bench, { name: 'Bob' });
    assert.equal(other.status, status);
    assert.match(other.body, /Idempotency-Key k1 was used with another request; use a new key\./);
    assert.deepEqual(bench.created, ['Ada']);
  }
});

test('keys of one caller mean nothing to another', async (t) => {
  const bench = await serve(t, 'portal');
  await create(bench, { token: 'member' });
  await create(bench, { token: 'other', name: 'Bob' });
  assert.deepEqual(bench.created, ['Ada', 'Bob']);
});

test('a key is forgotten after 24 hours', async (t) => {
  const bench = await serve(t, 'portal');
  await create(bench, {});
  bench.clock.advance(24 * HOUR_MS);
  await create(bench, {});
  assert.equal(bench.created.length, 1);
  bench.clock.advance(1);
  await create(bench, {});
  assert.equal(bench.created.length, 2);
});

test('an error of the caller is an answer too; one of ours may be tried again', async (t) => {
  const bench = await serve(t, 'portal');
  const taken = await create(bench, { name: 'taken' });
  assert.equal(taken.status, 409);
  assert.deepEqual(await create(bench, { name: 'taken' }), taken);
  assert.deepEqual(bench.created, ['taken']);
  assert.equal((await create(bench, { key: 'k2', name: 'unlucky' })).status, 500);
  assert.equal((await create(bench, { key: 'k2', name: 'unlucky' })).status, 500);
  assert.deepEqual(bench.created, ['taken', 'unlucky', 'unlucky']);
});

test('a request that was refused before it acted does not use its key up', async (t) => {
  const bench = await serve(t, 'portal');
  assert.equal((await create(bench, { name: '' })).status, 400);
  assert.equal((await create(bench, { token: 'wrong' })).status, 401);
  assert.equal((await create(bench, {})).status, 200);
});

test('when a crash lost the answer a repeat gets an error that says so, and nothing is done again', async (t) => {
  const store = temporaryStore(t);
  const before = await serve(t, 'portal', store);
  before.gate = new Promise(() => undefined);
  void create(before, {});
  await until(() => before.created.length > 0);

  const after = await serve(t, 'portal', store);
  const repeat = await create(after, {});
  assert.equal(repeat.status, 409);
  assert.match(repeat.body, /its answer is not known/);
  assert.deepEqual(after.created, []);
  after.clock.advance(25 * HOUR_MS);
  assert.equal((await create(after, {})).status, 200);
});

test('answers survive a restart', async (t) => {
  const store = temporaryStore(t);
  const first = await create(await serve(t, 'array', store), {});
  const after = await serve(t, 'array', store);
  assert.deepEqual(await create(after, {}), first);
  assert.deepEqual(after.created, []);
});

test('no secret of request or answer lies in the file', async (t) => {
  const bench = await serve(t, 'portal');
  const first = await create(bench, { password: 'correct horse' });
  assert.match(first.body, /correct horse/);
  assert.deepEqual(await create(bench, { password: 'correct horse' }), first);
  const rows = bench.store.read((db) => db.all('SELECT * FROM idempotency_keys'));
  assert.equal(rows.length, 1);
  assert.doesNotMatch(JSON.stringify(rows), /correct|horse|Ada/);
});

test('only POST takes a key, and a key that is empty or endless is refused', async (t) => {
  const bench = await serve(t, 'portal');
  const headers = { 'x-token': 'admin', 'idempotency-key': 'k1' };
  for (const url of ['/api/things/1', '/api/things/2']) {
    assert.equal((await bench.app.inject({ method: 'DELETE', url, headers })).statusCode, 200);
  }
  for (const key of ['', 'x'.repeat(256)]) {
    assert.match((await create(bench, { key })).body, /Idempotency-Key must have 1 to 255 characters/);
  }
  assert.equal((await create(bench, { key: 'x'.repeat(255) })).status, 200);
});

test('where anyone may call no answer is kept: the handler checks who it is each time', async (t) => {
  const bench = await serve(t, 'portal');
  const ask = (text: string) =>
    bench.app.inject({
      method: 'POST',
      url: '/api/open_echo',
      headers: { 'idempotency-key': 'k1' },
      payload: { comment: text },
    });
  const [first, other] = [await ask('one'), await ask('two')];
  assert.deepEqual([first.statusCode, other.statusCode], [200, 200]);
  assert.notEqual(first.body, other.body);
});
