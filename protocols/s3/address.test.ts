import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkNewBucketName, readAddress } from './address.ts';
import { S3Error } from './errors.ts';
import { S3Rig } from './testing/rig.ts';

const settings = { ...new S3Rig().settings, hosts: ['example.test', 's3.example.test', '10.0.0.1'] };
const read = (url: string, host = '10.0.0.1:80', virtualHosted = true) => {
  const { level, bucket, key } = readAddress(url, host, { ...settings, virtualHosted });
  return { level, bucket, key };
};

test('the path or the host names bucket and key', () => {
  assert.deepEqual(read('/'), { level: 'service', bucket: null, key: null });
  assert.deepEqual(read('/?x=1'), { level: 'service', bucket: null, key: null });
  assert.deepEqual(read('/b'), { level: 'bucket', bucket: { name: 'b' }, key: null });
  assert.deepEqual(read('/b/'), { level: 'bucket', bucket: { name: 'b' }, key: null });
  assert.deepEqual(read('/b/k/'), { level: 'object', bucket: { name: 'b' }, key: 'k/' });
  assert.deepEqual(read('/b//k'), { level: 'object', bucket: { name: 'b' }, key: '/k' });
  assert.deepEqual(read('/b/%2F..%2f'), { level: 'object', bucket: { name: 'b' }, key: '/../' });
  assert.deepEqual(read('http://10.0.0.1/b/k?x'), { level: 'object', bucket: { name: 'b' }, key: 'k' });
  const account = '0123456789abcdef'.repeat(2);
  assert.deepEqual(read(`/${account}:b/k`), { level: 'object', bucket: { account, name: 'b' }, key: 'k' });
  assert.deepEqual(read('/a:b/k'), { level: 'object', bucket: { name: 'a:b' }, key: 'k' });
});

test('a bucket stands before the longest name of the array that fits, and only where that is switched on', () => {
  assert.deepEqual(read('/k', 'b.example.test'), { level: 'object', bucket: { name: 'b' }, key: 'k' });
  assert.deepEqual(read('/k', 'my.b.S3.Example.Test:8080'), { level: 'object', bucket: { name: 'my.b' }, key: 'k' });
  assert.deepEqual(read('/', 'b.s3.example.test'), { level: 'bucket', bucket: { name: 'b' }, key: null });
  assert.deepEqual(read('/k', 's3.example.test'), { level: 'bucket', bucket: { name: 'k' }, key: null });
  assert.deepEqual(read('/k', 'b.example.test', false), { level: 'bucket', bucket: { name: 'k' }, key: null });
  assert.deepEqual(read('/k', 'bexample.test'), { level: 'bucket', bucket: { name: 'k' }, key: null });
});

test('the query is decoded once, and a name without a value is there all the same', () => {
  const { query } = readAddress('/b?acl&prefix=a%2Bb+c%2520&prefix=second&&=x', '10.0.0.1', settings);
  assert.equal(query.has('acl'), true);
  assert.equal(query.get('acl'), '');
  assert.equal(query.get('prefix'), 'a+b c%20');
  assert.equal(query.get('nothing'), undefined);
  assert.equal(query.canonical(), '=x&acl=&prefix=a%2Bb%20c%2520&prefix=second');
});

test('new buckets have names that S3 clients can use', () => {
  for (const name of ['abc', 'a.b-c', '0'.repeat(63), '1.2.3']) checkNewBucketName(name);
  const bad = [
    'ab',
    'x'.repeat(64),
    'Abc',
    'a_b',
    '-ab',
    'ab-',
    '.ab',
    'a..b',
    '10.0.0.1',
    'xn--a',
    'a b',
    'a/b',
    'ä-ö',
    '',
  ];
  for (const name of bad) {
    assert.throws(
      () => checkNewBucketName(name),
      (error: unknown) => error instanceof S3Error && error.code === 'InvalidBucketName',
      name,
    );
  }
});
