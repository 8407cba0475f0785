import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openedToAll, POLICY_EXAMPLES } from '../src/objects/buckets/policy-text.ts';
import { whatStays } from '../src/objects/buckets/versioning.ts';

/** Goal: before something is opened or deleted, what comes of it is said. */

function opened(label: string): string[] {
  return openedToAll(JSON.stringify(POLICY_EXAMPLES.find((one) => one.label === label)?.make('scans')));
}

test('a policy that lets everyone in is distinguished from one that keeps out', () => {
  assert.deepEqual(opened('Anyone may read objects'), ['s3:GetObject']);
  assert.deepEqual(opened('Nobody may delete objects or versions'), []);
  assert.deepEqual(opened('Only encrypted connections'), []);
});

test('everyone is named in any of the ways that S3 has', () => {
  const allow = (principal: unknown) =>
    openedToAll(
      JSON.stringify({ Statement: { Effect: 'Allow', Principal: principal, Action: ['s3:*'], Resource: '*' } }),
    );
  assert.deepEqual(allow('*'), ['s3:*']);
  assert.deepEqual(allow({ AWS: '*' }), ['s3:*']);
  assert.deepEqual(allow({ AWS: ['arn:aws:iam::7:root', '*'] }), ['s3:*']);
  assert.deepEqual(allow({ AWS: 'arn:aws:iam::7:root' }), []);
});

test('all but some are everyone, too', () => {
  const allBut = (some: unknown) =>
    openedToAll(
      JSON.stringify({ Statement: { Effect: 'Allow', NotPrincipal: some, Action: 's3:GetObject', Resource: '*' } }),
    );
  assert.deepEqual(allBut({ AWS: 'arn:aws:iam::7:root' }), ['s3:GetObject']);
  assert.deepEqual(allBut('*'), []);
});

test('whether what is deleted comes back is said of the bucket, where that is known', () => {
  assert.match(whatStays('Enabled'), /can be restored/);
  assert.match(whatStays(''), /gone for good/);
  assert.match(whatStays('Suspended'), /older versions stay/);
  assert.match(whatStays(undefined), /^Where the bucket keeps versions/);
});
