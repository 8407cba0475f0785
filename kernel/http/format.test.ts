import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatOfAccept, readAddress } from './format.ts';
import { serve } from './testing/server.ts';

const headers = { 'x-token': 'member' };

test('an address means the same with a version, and its suffix says the format', () => {
  const cases: [string, string, string | undefined][] = [
    ['/api/arrays', '/api/arrays', undefined],
    ['/api/arrays.json', '/api/arrays', 'json'],
    ['/api/arrays.xml/', '/api/arrays', 'xml'],
    ['/api/v2/arrays/7.xml?x=1.json', '/api/arrays/7?x=1.json', 'xml'],
    ['/api/v10/arrays?x=/api/v2/', '/api/arrays?x=/api/v2/', undefined],
    ['/api/v2', '/api', undefined],
    ['/api/vaults', '/api/vaults', undefined],
    ['/api/arrays/v2/x.json.xml', '/api/arrays/v2/x.json', 'xml'],
    ['/api/openapi.json', '/api/openapi.json', undefined],
    ['/api/v1/openapi.json', '/api/openapi.json', undefined],
    ['/api/docs/openapi.json', '/api/docs/openapi.json', undefined],
    ['/metrics.json', '/metrics.json', undefined],
  ];
  for (const [url, plain, format] of cases) assert.deepEqual(readAddress(url), { url: plain, format }, url);
});

test('the Accept header chooses where there is no suffix, and JSON is what it falls back to', () => {
  const cases: [string | undefined, string][] = [
    [undefined, 'json'],
    ['*/*', 'json'],
    ['application/json', 'json'],
    ['application/xml', 'xml'],
    ['text/xml; charset=utf-8', 'xml'],
    ['application/json;q=0.5, application/xml', 'xml'],
    ['application/xml;q=0.5, application/*', 'json'],
    ['application/xml;q=0', 'json'],
    ['text/html,application/xhtml+xml', 'json'],
    ['application/xml;q=x', 'xml'],
  ];
  for (const [accept, format] of cases) assert.equal(formatOfAccept(accept), format, accept);
});

for (const dialect of ['portal', 'array'] as const) {
  test(`every way to ask for a format is served (${dialect})`, async (t) => {
    const { app } = await serve(t, dialect);
    const typeOf = async (url: string, accept?: string) => {
      const reply = await app.inject({ url, headers: { ...headers, ...(accept !== undefined && { accept }) } });
      assert.equal(reply.statusCode, 200, url);
      return String(reply.headers['content-type']);
    };
    for (const url of [
      '/api/things/7',
      '/api/v2/things/7',
      '/api/things/7/',
      '/api/things/7.json',
      '/api/v2/things.json/',
    ])
      assert.equal(await typeOf(url), 'application/json; charset=utf-8');
    for (const url of ['/api/things/7.xml', '/api/v1/things.xml?limit=1'])
      assert.equal(await typeOf(url), 'application/xml; charset=utf-8');
    assert.match(await typeOf('/api/things/7', 'application/xml'), /xml/);
    assert.match(await typeOf('/api/things/7.json', 'application/xml'), /json/);
    assert.match(await typeOf('/api/things/7.xml', 'application/json'), /xml/);
  });
}
