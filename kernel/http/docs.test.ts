import assert from 'node:assert/strict';
import { test } from 'node:test';
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
