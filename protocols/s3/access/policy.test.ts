import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Bucket, ObjectVersion } from '@granary/storage/object-store';
import fc from 'fast-check';
import type { Caller } from '../../objects/context.ts';
import { S3Error } from '../errors.ts';
import { ALPHA, BETA, person } from '../testing/rig.ts';
import { decide, isShared, type Question } from './decide.ts';
import { evaluate, BucketPolicies } from './evaluate.ts';
import { Pattern } from './pattern.ts';
import { readPolicy } from './policy-document.ts';

const anna = person(ALPHA, 'anna');
const bert = person(BETA, 'bert');
const BUCKET = 'photos';

type Values = Readonly<Record<string, string | readonly string[]>>;

function lookupIn(values: Values) {
  return (key: string): readonly string[] | undefined => {
    const value = values[key];
    return typeof value === 'string' ? [value] : value;
  };
}

interface Request {
  readonly caller: Caller | null;
  readonly action: string;
  readonly resource: string;
  readonly values: Values;
}

/** What a policy of these statements says to a request. */
function verdict(statements: readonly Record<string, unknown>[], request: Partial<Request> = {}): string {
  const { caller = bert, action = 's3:GetObject', resource = 'photos/a/b', values = {} } = request;
  const text = JSON.stringify({ Version: '2012-10-17', Statement: statements });
  return evaluate(readPolicy(text, BUCKET), { caller, action, resource, lookup: lookupIn(values) });
}

const ALL = ['arn:aws:s3:::photos', 'arn:aws:s3:::photos/*'];

function allow(over: Record<string, unknown> = {}): Record<string, unknown> {
  return { Effect: 'Allow', Principal: '*', Action: 's3:*', Resource: ALL, ...over };
}

function without(statement: Record<string, unknown>, name: string): Record<string, unknown> {
  return Object.fromEntries(Object.entries(statement).filter(([key]) => key !== name));
}

test('a policy allows what it names and is silent on the rest', () => {
  assert.equal(verdict([allow()]), 'allow');
  assert.equal(verdict([allow({ Action: 's3:GetObject' })]), 'allow');
  assert.equal(verdict([allow({ Action: 's3:getobject' })]), 'allow');
  assert.equal(verdict([allow({ Action: ['s3:PutObject', 's3:Get*'] })]), 'allow');
  assert.equal(verdict([allow({ Action: 's3:PutObject' })]), 'silent');
  assert.equal(verdict([allow({ Action: 's3:GetObject?' })]), 'silent');
  assert.equal(verdict([allow({ Resource: 'arn:aws:s3:::photos' })]), 'silent');
  assert.equal(verdict([allow({ Resource: 'arn:aws:s3:::photos/a/*' })]), 'allow');
  assert.equal(verdict([allow({ Resource: 'arn:aws:s3:::photos/A/*' })]), 'silent');
  assert.equal(verdict([allow({ Resource: 'arn:aws:s3:::photos/?/b' })]), 'allow');
  assert.equal(verdict([{ ...without(allow(), 'Action'), NotAction: 's3:GetObject' }]), 'silent');
  assert.equal(verdict([{ ...without(allow(), 'Action'), NotAction: 's3:PutObject' }]), 'allow');
  assert.equal(verdict([{ ...without(allow(), 'Resource'), NotResource: 'arn:aws:s3:::photos/a/*' }]), 'silent');
});

test('an explicit deny outweighs every allow, in any order', () => {
  const deny = allow({ Effect: 'Deny', Resource: 'arn:aws:s3:::photos/a/*' });
  assert.equal(verdict([allow(), deny]), 'deny');
  assert.equal(verdict([deny, allow()]), 'deny');
  assert.equal(verdict([deny, allow()], { resource: 'photos/c' }), 'allow');
});

test('principals are all users, accounts, and users', () => {
  const to = (principal: unknown, caller: Caller | null = bert) =>
    verdict([allow({ Principal: principal })], { caller });
  assert.equal(to('*', null), 'allow');
  assert.equal(to({ AWS: '*' }, null), 'allow');
  assert.equal(to({ AWS: BETA }), 'allow');
  assert.equal(to({ AWS: BETA }, anna), 'silent');
  assert.equal(to({ AWS: BETA }, null), 'silent');
  assert.equal(to({ CanonicalUser: BETA }), 'allow');
  assert.equal(to({ AWS: [ALPHA, `arn:aws:iam::${BETA}:root`] }), 'allow');
  assert.equal(to({ AWS: `arn:aws:iam::${BETA}:user/bert` }), 'allow');
  assert.equal(to({ AWS: `arn:aws:iam::${BETA}:user/other` }), 'silent');
  assert.equal(to({ AWS: `arn:aws:iam::${ALPHA}:user/bert` }), 'silent');
  const notBert = { ...without(allow({ Effect: 'Deny' }), 'Principal'), NotPrincipal: { AWS: BETA } };
  assert.equal(verdict([notBert]), 'silent');
  assert.equal(verdict([notBert], { caller: anna }), 'deny');
  assert.equal(verdict([notBert], { caller: null }), 'deny');
});

const CONDITIONS: [operator: string, key: string, wanted: unknown, values: Values, holds: boolean][] = [
  ['StringEquals', 's3:prefix', 'home/', { 's3:prefix': 'home/' }, true],
  ['StringEquals', 'S3:Prefix', ['x', 'home/'], { 's3:prefix': 'home/' }, true],
  ['StringEquals', 's3:prefix', 'home/', { 's3:prefix': 'Home/' }, false],
  ['StringEquals', 's3:prefix', 'home/', {}, false],
  ['StringEquals', 's3:prefix', 'h*', { 's3:prefix': 'home/' }, false],
  ['StringEquals', 's3:prefix', 'h*', { 's3:prefix': 'h*' }, true],
  ['StringNotEquals', 's3:prefix', 'home/', { 's3:prefix': 'other' }, true],
  ['StringNotEquals', 's3:prefix', ['home/', 'other'], { 's3:prefix': 'other' }, false],
  ['StringNotEquals', 's3:prefix', 'home/', {}, true],
  ['StringEqualsIgnoreCase', 's3:x-amz-acl', 'PRIVATE', { 's3:x-amz-acl': 'private' }, true],
  ['StringNotEqualsIgnoreCase', 's3:x-amz-acl', 'PRIVATE', { 's3:x-amz-acl': 'private' }, false],
  ['StringEqualsIfExists', 's3:prefix', 'home/', {}, true],
  ['StringEqualsIfExists', 's3:prefix', 'home/', { 's3:prefix': 'x' }, false],
  ['StringLike', 'aws:Referer', 'https://*.example.org/?*', { 'aws:referer': 'https://www.example.org/a' }, true],
  ['StringLike', 'aws:Referer', 'https://*.example.org/?*', { 'aws:referer': 'https://www.example.org/' }, false],
  ['StringNotLike', 'aws:UserAgent', 'curl*', { 'aws:useragent': 'curl/8' }, false],
  ['StringLike', 's3:prefix', '${aws:username}/*', { 's3:prefix': 'bert/x', 'aws:username': 'bert' }, true],
  ['StringLike', 's3:prefix', '${aws:username}/*', { 's3:prefix': 'anna/x', 'aws:username': 'bert' }, false],
  ['StringLike', 's3:prefix', '${aws:username}/*', { 's3:prefix': '/x' }, false],
  ['StringLike', 's3:prefix', '${*}x', { 's3:prefix': '*x' }, true],
  ['StringLike', 's3:prefix', '${*}x', { 's3:prefix': 'yx' }, false],
  ['IpAddress', 'aws:SourceIp', '10.0.0.0/8', { 'aws:sourceip': '10.255.0.1' }, true],
  ['IpAddress', 'aws:SourceIp', ['10.0.0.0/8', '192.168.1.7'], { 'aws:sourceip': '192.168.1.7' }, true],
  ['IpAddress', 'aws:SourceIp', '10.0.0.0/8', { 'aws:sourceip': '11.0.0.1' }, false],
  ['IpAddress', 'aws:SourceIp', '2001:db8::/32', { 'aws:sourceip': '2001:db8:1::5' }, true],
  ['NotIpAddress', 'aws:SourceIp', '10.0.0.0/8', { 'aws:sourceip': '10.0.0.1' }, false],
  ['NotIpAddress', 'aws:SourceIp', '10.0.0.0/8', { 'aws:sourceip': '2001:db8::1' }, true],
  ['Bool', 'aws:SecureTransport', 'false', { 'aws:securetransport': 'false' }, true],
  ['Bool', 'aws:SecureTransport', false, { 'aws:securetransport': 'true' }, false],
  ['NumericLessThanEquals', 's3:max-keys', '10', { 's3:max-keys': '10' }, true],
  ['NumericLessThan', 's3:max-keys', 10, { 's3:max-keys': '10' }, false],
  ['NumericGreaterThan', 's3:max-keys', '9', { 's3:max-keys': '10' }, true],
  ['NumericGreaterThanEquals', 's3:max-keys', '9', { 's3:max-keys': 'many' }, false],
  ['NumericEquals', 's3:max-keys', '10', { 's3:max-keys': '10.0' }, true],
  ['NumericNotEquals', 's3:max-keys', '10', { 's3:max-keys': '11' }, true],
  ['DateGreaterThan', 'aws:CurrentTime', '2026-01-01T00:00:00Z', { 'aws:currenttime': '2026-11-16T00:00:00Z' }, true],
  ['DateLessThan', 'aws:CurrentTime', '2026-01-01T00:00:00Z', { 'aws:currenttime': '2026-11-16T00:00:00Z' }, false],
  ['DateLessThan', 'aws:EpochTime', '2026-01-01T00:00:00Z', { 'aws:epochtime': '1700000000' }, true],
  ['Null', 's3:x-amz-server-side-encryption', 'true', {}, true],
  ['Null', 's3:x-amz-server-side-encryption', 'false', {}, false],
  ['Null', 's3:x-amz-server-side-encryption', true, { 's3:x-amz-server-side-encryption': 'AES256' }, false],
  ['StringEquals', 's3:ExistingObjectTag/Team', 'blue', { 's3:existingobjecttag/Team': 'blue' }, true],
  ['StringEquals', 's3:ExistingObjectTag/team', 'blue', { 's3:existingobjecttag/Team': 'blue' }, false],
  ['ForAllValues:StringLike', 's3:RequestObjectTagKeys', ['a', 'b'], { 's3:requestobjecttagkeys': ['a', 'b'] }, true],
  ['ForAllValues:StringLike', 's3:RequestObjectTagKeys', ['a', 'b'], { 's3:requestobjecttagkeys': ['a', 'c'] }, false],
  ['ForAllValues:StringLike', 's3:RequestObjectTagKeys', ['a'], {}, true],
  ['ForAnyValue:StringEquals', 's3:RequestObjectTagKeys', ['a'], { 's3:requestobjecttagkeys': ['c', 'a'] }, true],
  ['ForAnyValue:StringEquals', 's3:RequestObjectTagKeys', ['a'], {}, false],
  [
    'ArnLike',
    'aws:PrincipalArn',
    `arn:aws:iam::${BETA}:user/*`,
    { 'aws:principalarn': `arn:aws:iam::${BETA}:user/bert` },
    true,
  ],
];

test('conditions hold when they should', () => {
  for (const [operator, key, wanted, values, holds] of CONDITIONS) {
    const found = verdict([allow({ Condition: { [operator]: { [key]: wanted } } })], { values });
    assert.equal(found, holds ? 'allow' : 'silent', JSON.stringify([operator, key, wanted, values]));
  }
});

test('all conditions of a statement must hold', () => {
  const Condition = {
    StringEquals: { 's3:prefix': 'a', 's3:delimiter': '/' },
    Bool: { 'aws:SecureTransport': 'true' },
  };
  const values = { 's3:prefix': 'a', 's3:delimiter': '/', 'aws:securetransport': 'true' };
  assert.equal(verdict([allow({ Condition })], { values }), 'allow');
  for (const key of Object.keys(values)) {
    assert.equal(verdict([allow({ Condition })], { values: { ...values, [key]: 'x' } }), 'silent');
  }
});

const MALFORMED: [unknown, RegExp][] = [
  ['{', /not valid JSON/],
  [[], /JSON object/],
  [{}, /needs Statement/],
  [{ Statement: [] }, /1 to 256/],
  [{ Version: '2020-01-01', Statement: [allow()] }, /Version/],
  [{ Statement: [allow()], Extra: 1 }, /Extra/],
  [{ Statement: [allow({ Effect: 'Maybe' })] }, /Statement 1: Effect/],
  [{ Statement: [allow(), allow({ Sid: 7 })] }, /Statement 2: Sid/],
  [{ Statement: [without(allow(), 'Principal')] }, /Principal/],
  [{ Statement: [allow({ NotAction: 's3:Get*' })] }, /Action/],
  [{ Statement: [allow({ Principal: 'bert' })] }, /Principal/],
  [{ Statement: [allow({ Principal: { AWS: 'bert' } })] }, /'bert' is no principal/],
  [{ Statement: [allow({ Principal: { AWS: '123456789012' } })] }, /no principal/],
  [{ Statement: [allow({ Principal: { Service: 'x' } })] }, /kind Service/],
  [{ Statement: [allow({ Action: 'ec2:RunInstances' })] }, /no action of S3/],
  [{ Statement: [allow({ Action: [] })] }, /1 to 256/],
  [{ Statement: [allow({ Action: [7] })] }, /texts/],
  [{ Statement: [allow({ Resource: 'arn:aws:s3:::other/*' })] }, /not in this bucket/],
  [{ Statement: [allow({ Resource: 'photos/*' })] }, /not in this bucket/],
  [{ Statement: [allow({ Resource: 'arn:aws:s3:::photos/${aws:secret}' })] }, /variable/],
  [{ Statement: [allow({ Condition: [] })] }, /Condition must be an object/],
  [{ Statement: [allow({ Condition: { StringSmells: { 's3:prefix': 'a' } } })] }, /StringSmells/],
  [{ Statement: [allow({ Condition: { StringEquals: { 's3:mood': 'a' } } })] }, /s3:mood/],
  [{ Statement: [allow({ Condition: { StringEquals: { 's3:prefix': [] } } })] }, /values/],
  [{ Statement: [allow({ Condition: { IpAddress: { 'aws:SourceIp': '10.0.0.0/33' } } })] }, /10.0.0.0\/33/],
  [{ Statement: [allow({ Condition: { IpAddress: { 'aws:SourceIp': 'here' } } })] }, /here/],
  [{ Statement: [allow({ Condition: { Bool: { 'aws:SecureTransport': 'yes' } } })] }, /yes/],
  [{ Statement: [allow({ Condition: { NumericLessThan: { 's3:max-keys': 'ten' } } })] }, /ten/],
  [{ Statement: [allow({ Condition: { DateLessThan: { 'aws:CurrentTime': 'soon' } } })] }, /soon/],
  [{ Statement: [allow({ Condition: { Null: { 's3:prefix': 'maybe' } } })] }, /Null/],
  [{ Statement: [allow({ Sid: 'x'.repeat(21_000) })] }, /longer than/],
];

test('a policy that cannot be meant is refused by name of what is wrong', () => {
  for (const [policy, message] of MALFORMED) {
    const text = typeof policy === 'string' ? policy : JSON.stringify(policy);
    assert.throws(
      () => readPolicy(text, BUCKET),
      (error: unknown) => error instanceof S3Error && error.code === 'MalformedPolicy' && message.test(error.message),
      `${text.slice(0, 200)} → ${String(message)}`,
    );
  }
});

test('patterns match as the textbook says and never take long', () => {
  const slow = (pattern: string, text: string): boolean =>
    pattern === ''
      ? text === ''
      : pattern[0] === '*'
        ? slow(pattern.slice(1), text) || (text !== '' && slow(pattern, text.slice(1)))
        : text !== '' && (pattern[0] === '?' || pattern[0] === text[0]) && slow(pattern.slice(1), text.slice(1));
  const letters = fc.string({ unit: fc.constantFrom('a', 'b', '*', '?'), maxLength: 8 });
  const texts = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 8 });
  fc.assert(
    fc.property(letters, texts, (pattern, text) => {
      assert.equal(
        new Pattern(pattern).matches(text, () => undefined),
        slow(pattern, text),
      );
    }),
    { numRuns: 2000 },
  );
  const before = process.cpuUsage();
  assert.equal(
    new Pattern('a*'.repeat(200) + 'b').matches('a'.repeat(1000), () => undefined),
    false,
  );
  assert.ok(process.cpuUsage(before).user < 1_000_000);
});

const policies = new BucketPolicies();

function ask(over: Partial<Question> & { settings?: Bucket['settings']; acl?: string }): boolean {
  const { settings = {}, acl, ...rest } = over;
  const object = { attributes: acl === undefined ? {} : { acl } } as ObjectVersion;
  const question: Question = {
    caller: bert,
    bucket: { account: ALPHA, name: BUCKET, settings } as Bucket,
    action: 's3:GetObject',
    key: 'a/b',
    lookup: () => undefined,
    object: () => object,
    adminAccess: false,
    ...rest,
  };
  return decide(question, policies);
}

test('users of the account may do everything, others nothing', () => {
  for (const action of ['s3:GetObject', 's3:PutObject', 's3:DeleteBucket', 's3:PutBucketPolicy']) {
    assert.equal(ask({ caller: anna, action }), true);
    assert.equal(ask({ caller: person(ALPHA, 'chief', 'account_admin'), action }), true);
    assert.equal(ask({ caller: bert, action }), false);
    assert.equal(ask({ caller: null, action }), false);
  }
});

test('an administrator of the array reaches other accounts only where that is switched on', () => {
  const root = person(BETA, 'root', 'objs_admin');
  assert.equal(ask({ caller: root }), false);
  assert.equal(ask({ caller: root, adminAccess: true }), true);
  assert.equal(ask({ caller: bert, adminAccess: true }), false);
});

test('canned ACLs of buckets open listing and writing, those of objects reading', () => {
  const may = (caller: Caller | null, action: string, acl: string, objectAcl?: string) =>
    ask({ caller, action, settings: { acl }, ...(objectAcl !== undefined && { acl: objectAcl }) });
  assert.equal(may(null, 's3:ListBucket', 'public-read'), true);
  assert.equal(may(null, 's3:ListBucket', 'private'), false);
  assert.equal(may(null, 's3:GetObject', 'public-read'), false);
  assert.equal(may(null, 's3:GetObject', 'private', 'public-read'), true);
  assert.equal(may(null, 's3:GetObjectVersion', 'private', 'public-read'), true);
  assert.equal(may(null, 's3:PutObject', 'public-read', 'public-read-write'), false);
  assert.equal(may(null, 's3:PutObject', 'public-read-write'), true);
  assert.equal(may(null, 's3:DeleteObject', 'public-read-write'), true);
  assert.equal(may(null, 's3:DeleteBucket', 'public-read-write'), false);
  assert.equal(may(null, 's3:PutBucketAcl', 'public-read-write'), false);
  assert.equal(may(null, 's3:GetObject', 'private', 'authenticated-read'), false);
  assert.equal(may(bert, 's3:GetObject', 'private', 'authenticated-read'), true);
  assert.equal(may(bert, 's3:ListBucket', 'authenticated-read'), true);
  assert.equal(may(bert, 's3:GetObject', 'private', 'bucket-owner-full-control'), false);
});

test("a policy's deny binds the account's own users, but its administrators can take the policy away", () => {
  const policy = JSON.stringify({ Statement: [allow({ Effect: 'Deny' })] });
  const chief = person(ALPHA, 'chief', 'account_admin');
  assert.equal(ask({ caller: anna, settings: { policy } }), false);
  assert.equal(ask({ caller: chief, settings: { policy } }), false);
  assert.equal(ask({ caller: chief, action: 's3:DeleteBucketPolicy', key: null, settings: { policy } }), true);
  assert.equal(ask({ caller: anna, action: 's3:DeleteBucketPolicy', key: null, settings: { policy } }), false);
  assert.equal(ask({ caller: bert, action: 's3:DeleteBucketPolicy', key: null, settings: { policy } }), false);
});

test('a bucket shows to others only when something of it is shared', () => {
  const bucket = (settings: Bucket['settings']) => ({ settings }) as Bucket;
  assert.equal(isShared(bucket({})), false);
  assert.equal(isShared(bucket({ acl: 'private' })), false);
  assert.equal(isShared(bucket({ acl: 'public-read' })), true);
  assert.equal(isShared(bucket({ policy: '{}' })), true);
});
