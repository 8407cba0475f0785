import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { serveSwift, type SwiftFixture } from './testing/serve.ts';

let swift: SwiftFixture;
before(async () => {
  swift = await serveSwift();
  await swift.ask('/c', { method: 'PUT' });
  await swift.put('/c/o', '0123456789');
});
after(() => swift.close());

const method = fc.constantFrom('GET', 'HEAD', 'PUT', 'POST', 'DELETE', 'COPY', 'OPTIONS', 'PATCH');
const path = fc.constantFrom(
  '',
  '/',
  '/c',
  '/c/',
  '/c/o',
  '/c/x%00',
  '/c/%ff',
  '/c/..',
  '//',
  '/d/o',
  '/%2e',
  '/c%2Fo',
  '/v3',
  '/v3/auth/tokens',
  '/v1/AUTH_',
  '/auth/v1.0',
);
const parameter = fc.constantFrom(
  'limit',
  'marker',
  'end_marker',
  'prefix',
  'delimiter',
  'path',
  'reverse',
  'format',
  'versions',
  'version-id',
  'version_marker',
  'multipart-manifest',
  'bulk-delete',
  'extract-archive',
  'heartbeat',
  'temp_url_sig',
  'temp_url_expires',
  'temp_url_prefix',
  'temp_url_ip_range',
  'filename',
  'inline',
);
const header = fc.constantFrom(
  'x-auth-token',
  'range',
  'if-match',
  'if-none-match',
  'if-modified-since',
  'if-range',
  'etag',
  'x-copy-from',
  'x-copy-from-account',
  'destination',
  'destination-account',
  'x-delete-at',
  'x-delete-after',
  'x-object-manifest',
  'x-object-meta-',
  'x-object-meta-__proto__',
  'x-container-read',
  'x-container-write',
  'x-storage-policy',
  'x-container-meta-quota-bytes',
  'x-container-meta-access-control-allow-origin',
  'origin',
  'accept',
  'content-type',
  'x-versions-enabled',
  'x-fresh-metadata',
  'x-account-meta-temp-url-key',
  'referer',
  'x-auth-user',
  'x-auth-key',
);
const value = fc.oneof(
  fc.constantFrom(
    '',
    '0',
    '-1',
    '1',
    '99999999999999999999',
    'true',
    'put',
    'get',
    'delete',
    'tar',
    'tar.gz',
    'json',
    'xml',
    'raw',
    'null',
    '*',
    '/c/o',
    'c/o',
    '%ff',
    '%00',
    'bytes=0-',
    'bytes=-1,3-',
    '.r:*',
    ',',
    ':',
    'tk-bob',
  ),
  fc.string({ unit: 'grapheme-ascii', maxLength: 40 }),
);
const body = fc.constantFrom(
  undefined,
  '',
  'x',
  '[]',
  '{}',
  '[{"path":"/c/o"}]',
  '[null]',
  '/c/none\n/%ff',
  '{"auth":{"identity":{"methods":[1]}}}',
  'x'.repeat(3000),
);

test('whatever is asked is answered, and never by a fault of ours', async () => {
  await fc.assert(
    fc.asyncProperty(
      method,
      path,
      fc.array(fc.tuple(parameter, value), { maxLength: 3 }),
      fc.array(fc.tuple(header, value), { maxLength: 4 }),
      body,
      async (verb, where, query, headers, bytes) => {
        const search = query.map(([name, text]) => `${name}=${encodeURI(text)}`).join('&');
        const sent = Object.fromEntries(headers.map(([name, text]) => [name, text.trim()]));
        const ask = { method: verb, headers: sent, ...(bytes === undefined ? {} : { body: bytes }) };
        const reply = await swift.ask(`${where}${search === '' ? '' : `?${search}`}`, ask);
        assert.ok(reply.status < 500, `${reply.status} ${reply.text}`);
        assert.deepEqual(swift.errors, []);
      },
    ),
    { numRuns: 1500, endOnFailure: true },
  );
});
