import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isSwiftRequest, parseTarget } from './address.ts';
import { percentEncode } from './text.ts';

test('addresses of accounts, sign-in and discovery are Swift’s, all others are not', () => {
  for (const url of [
    '/v1/AUTH_x',
    '/v1/AUTH_x/c/o?a=b',
    '/auth/v1.0',
    '/v1.0/',
    '/v3',
    '/v3/auth/tokens',
    '/info',
    '/healthcheck',
  ]) {
    assert.equal(isSwiftRequest(url), true, url);
  }
  for (const url of ['/', '/bucket/key', '/v1/other', '/v1', '/information', '/v3x', '/auth/v1.0/x']) {
    assert.equal(isSwiftRequest(url), false, url);
  }
  assert.equal(isSwiftRequest('http://host:1/v1/AUTH_x/c'), true);
});

test('an object’s name is everything after the container, decoded once', () => {
  const name = (url: string) => parseTarget(url).address;
  assert.deepEqual(name('/v1/AUTH_a/c/../x/./y//z'), {
    kind: 'object',
    account: 'a',
    container: 'c',
    object: '../x/./y//z',
  });
  assert.deepEqual(name('/v1/AUTH_a/c/%252e%2E%2fx'), {
    kind: 'object',
    account: 'a',
    container: 'c',
    object: '%2e./x',
  });
  assert.deepEqual(name('/v1/AUTH_a/c//o'), { kind: 'object', account: 'a', container: 'c', object: '/o' });
  assert.deepEqual(name('/v1/AUTH_a/c/100%'), { kind: 'object', account: 'a', container: 'c', object: '100%' });
  assert.deepEqual(name('/v1/AUTH_a/c/a+b'), { kind: 'object', account: 'a', container: 'c', object: 'a+b' });
  assert.deepEqual(name('/v1/AUTH_a/c/'), { kind: 'container', account: 'a', container: 'c' });
  assert.deepEqual(name('/v1/AUTH_a/'), { kind: 'account', account: 'a' });
});

test('any name comes back as it was written', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 200 }), (object) => {
      fc.pre(!object.includes('\0') && object.isWellFormed());
      const { address } = parseTarget(`/v1/AUTH_a/c/${percentEncode(object)}`);
      assert.equal(address.kind === 'object' ? address.object : null, object);
    }),
  );
});

test('NUL, broken UTF-8 and names that are too long are refused', () => {
  const status = (url: string) => {
    try {
      parseTarget(url);
      return 0;
    } catch (error) {
      return (error as { status: number }).status;
    }
  };
  assert.equal(status('/v1/AUTH_a/c/a%00b'), 412);
  assert.equal(status('/v1/AUTH_a/c/%ff'), 412);
  assert.equal(status('/v1/AUTH_a/c/%ed%a0%80'), 412);
  assert.equal(status('/v1/AUTH_a/c?prefix=%ff'), 412);
  assert.equal(status(`/v1/AUTH_a/c/${'x'.repeat(1024)}`), 0);
  assert.equal(status(`/v1/AUTH_a/c/${'x'.repeat(1025)}`), 400);
  assert.equal(status(`/v1/AUTH_a/c/${'%C3%BC'.repeat(513)}`), 400);
  assert.equal(status(`/v1/AUTH_a/${'x'.repeat(256)}`), 0);
  assert.equal(status(`/v1/AUTH_a/${'x'.repeat(257)}`), 400);
  assert.equal(status('/v1/AUTH_a//o'), 412);
});
