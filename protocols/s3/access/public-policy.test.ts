import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readPolicy } from './policy-document.ts';
import { isPublicPolicy } from './public-policy.ts';

const ACCOUNT = 'b'.repeat(32);

function isPublic(...statements: readonly object[]): boolean {
  const whole = statements.map((own) => ({
    Effect: 'Allow',
    Principal: '*',
    Action: 's3:GetObject',
    Resource: 'arn:aws:s3:::shelf/*',
    ...own,
  }));
  return isPublicPolicy(readPolicy(JSON.stringify({ Statement: whole }), 'shelf'));
}

test('a policy is public when a caller of any account could meet it', () => {
  const when = (Condition: object) => isPublic({ Condition });
  assert.equal(isPublic({}), true);
  assert.equal(isPublic({ Principal: { AWS: '*' } }), true);
  assert.equal(isPublic({ Principal: { AWS: ACCOUNT } }), false);
  assert.equal(isPublic({ Principal: undefined, NotPrincipal: { AWS: ACCOUNT } }), true);
  assert.equal(isPublic({ Effect: 'Deny' }), false);
  assert.equal(isPublic({ Principal: { AWS: ACCOUNT } }, {}), true);
  // Anybody can send a referrer, and most addresses are in a range as wide as that.
  assert.equal(when({ StringEquals: { 'aws:Referer': 'http://example.org' } }), true);
  assert.equal(when({ IpAddress: { 'aws:SourceIp': '0.0.0.0/0' } }), true);
  assert.equal(when({ IpAddress: { 'aws:SourceIp': ['10.1.0.0/16', '0.0.0.0/1'] } }), true);
  assert.equal(when({ IpAddress: { 'aws:SourceIp': ['10.1.0.0/16', '192.0.2.7'] } }), false);
  assert.equal(when({ IpAddress: { 'aws:SourceIp': '2001:db8::/32' } }), false);
  assert.equal(when({ IpAddress: { 'aws:SourceIp': '2001::/16' } }), true);
  const wide = [
    'fc00::/0',
    'fc00::/6',
    'fc::/16',
    '::ffff:0:0/96',
    '::ffff:10.0.0.0/103',
    '::/80',
    '::/64',
    '0:0:0:0:0:FFFF::/96',
  ];
  for (const range of wide) assert.equal(when({ IpAddress: { 'aws:SourceIp': range } }), true, range);
  const narrow = ['fc00::/7', 'fd12:3456::/16', '::ffff:10.0.0.0/104', '::ffff:192.0.2.7', '64:ff9b::/96', '::1/128'];
  for (const range of narrow) assert.equal(when({ IpAddress: { 'aws:SourceIp': range } }), false, range);
  assert.equal(when({ NotIpAddress: { 'aws:SourceIp': '10.0.0.0/8' } }), true);
  assert.equal(when({ StringEquals: { 'aws:PrincipalAccount': ACCOUNT } }), false);
  assert.equal(when({ StringLike: { 'aws:PrincipalAccount': '*' } }), true);
  assert.equal(when({ StringNotEquals: { 'aws:PrincipalAccount': ACCOUNT } }), true);
  assert.equal(when({ StringEqualsIfExists: { 'aws:PrincipalAccount': ACCOUNT } }), true);
});
