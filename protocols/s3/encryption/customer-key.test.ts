import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import type { S3Request } from '../request.ts';
import { customerKeyOf } from './customer-key.ts';

test('a key of a client comes over TLS, or from within the machine', () => {
  const key = randomBytes(32);
  const headers: Record<string, string> = {
    'x-amz-server-side-encryption-customer-algorithm': 'AES256',
    'x-amz-server-side-encryption-customer-key': key.toString('base64'),
    'x-amz-server-side-encryption-customer-key-md5': createHash('md5').update(key).digest('base64'),
  };
  const keyFrom = (ip: string, secure: boolean) =>
    customerKeyOf({ ip, secure, header: (name: string) => headers[name] } as S3Request);
  for (const [ip, secure] of [
    ['192.0.2.7', true],
    ['127.64.0.1', false],
    ['::1', false],
  ] as const)
    assert.deepEqual(keyFrom(ip, secure)?.key, key);
  assert.throws(() => keyFrom('192.0.2.7', false), { code: 'InvalidRequest' });
  assert.throws(() => keyFrom('::127', false), { code: 'InvalidRequest' });
});
