import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { serve } from './testing/server.ts';

test('the OpenAPI document tells every operation, with or without a version in the address', async (t) => {
  const { app } = await serve(t, 'portal');
  const reply = await app.inject({ url: '/api/openapi.json' });
  assert.equal(reply.headers['content-type'], 'application/json; charset=utf-8');
  const document = reply.json<{ openapi: string; info: { version: string }; paths: Record<string, object> }>();
  assert.match(document.openapi, /^3\.1\./);
  assert.equal(document.info.version, '1.2.3');
  assert.ok(Object.keys(document.paths).some((path) => path.endsWith('/things/{id}/grow')));
  assert.equal((await app.inject({ url: '/api/v2/openapi.json' })).body, reply.body);
});

test('the pages to browse it need nothing from other hosts', async (t) => {
  const { app } = await serve(t, 'array');
  const moved = await app.inject({ url: '/api/docs' });
  assert.deepEqual([moved.statusCode, moved.headers.location], [301, '/api/docs/']);
  const page = await app.inject({ url: '/api/docs/' });
  assert.match(String(page.headers['content-type']), /^text\/html/);
  assert.doesNotMatch(page.body, /https?:\/\/|["'(]\/\//);
  const script = /src="([^"]+)"/.exec(page.body)?.[1] ?? '';
  const loaded = await app.inject({ url: `/api/docs/${script}` });
  assert.equal(loaded.statusCode, 200);
  assert.match(String(loaded.headers['content-type']), /javascript/);
  const document = /"url": "([^"]+)"/.exec(page.body)?.[1] ?? '';
  const described = await app.inject({ url: new URL(document, 'http://x/api/docs/').pathname });
  assert.match(described.json<{ openapi: string }>().openapi, /^3\.1\./);
  const lost = await app.inject({ url: '/api/docs/nothing' });
  assert.deepEqual([lost.statusCode, lost.json<{ response: { status: number } }>().response.status], [404, 4]);
});

test('the pages and the document are compressed for clients that accept it, once for all', async (t) => {
  const { app } = await serve(t, 'array');
  const sent: unknown[] = [];
  app.addHook('onSend', (_, __, payload, done) => {
    sent.push(payload);
    done();
  });
  const page = await app.inject({ url: '/api/docs/' });
  const script = `/api/docs/${/src="([^"]+)"/.exec(page.body)?.[1]}`;
  for (const url of ['/api/docs/', script, '/api/openapi.json']) {
    const plain = await app.inject({ url });
    assert.equal(plain.headers['content-encoding'], undefined);
    assert.equal(plain.headers.vary, 'accept-encoding');
    const packed = await app.inject({ url, headers: { 'accept-encoding': 'br;q=1, gzip' } });
    assert.equal(packed.headers['content-encoding'], 'gzip');
    assert.ok(gunzipSync(packed.rawPayload).equals(plain.rawPayload), url);
    assert.ok(packed.rawPayload.length < plain.rawPayload.length);
  }
  sent.length = 0;
  for (const query of ['', '?a', '?b']) await app.inject({ url: `${script}${query}` });
  assert.ok(Buffer.isBuffer(sent[0]));
  assert.ok(
    sent.every((payload) => payload === sent[0]),
    'all clients are sent the same buffer',
  );
});
