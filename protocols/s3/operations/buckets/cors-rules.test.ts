import assert from 'node:assert/strict';
import { test } from 'node:test';
import { corsHeaders, corsRuleFor } from './cors-rules.ts';

const rules = [
  { origins: ['https://*.example.com'], methods: ['PUT', 'GET'], headers: ['x-amz-*'], maxAgeSeconds: 60 },
  { origins: ['*'], methods: ['GET'], expose: ['ETag'] },
];

test('the first rule that allows origin, method and all headers decides', () => {
  const put = { origin: 'https://a.example.com', method: 'PUT', headers: ['X-Amz-Date'] };
  assert.equal(corsRuleFor(rules, put), rules[0]);
  assert.equal(corsRuleFor(rules, { ...put, headers: ['x-amz-date', 'content-type'] }), undefined);
  assert.equal(corsRuleFor(rules, { ...put, origin: 'https://example.org' }), undefined);
  assert.equal(corsRuleFor(rules, { origin: 'https://example.org', method: 'GET', headers: [] }), rules[1]);
});

test('credentials are allowed to a named origin and never to all', () => {
  const request = { origin: 'https://a.example.com', method: 'PUT', headers: ['X-Amz-Date'] };
  assert.deepEqual(corsHeaders(rules[0]!, request), {
    'access-control-allow-origin': 'https://a.example.com',
    'access-control-allow-methods': 'PUT, GET',
    'access-control-allow-headers': 'x-amz-date',
    'access-control-max-age': '60',
    'access-control-allow-credentials': 'true',
    vary: 'Origin, Access-Control-Request-Headers, Access-Control-Request-Method',
  });
  const open = corsHeaders(rules[1]!, { origin: 'https://x', method: 'GET', headers: [] });
  assert.equal(open['access-control-allow-origin'], '*');
  assert.equal(open['access-control-expose-headers'], 'ETag');
  assert.equal(open['access-control-allow-credentials'], undefined);
});
