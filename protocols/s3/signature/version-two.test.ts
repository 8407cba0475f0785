import assert from 'node:assert/strict';
import { createHmac, hash } from 'node:crypto';
import { after, before, beforeEach, test } from 'node:test';
import fc from 'fast-check';
import type { Bucket } from '@granary/storage/object-store';
import type { DataContext } from '../../objects/context.ts';
import { readAddress } from '../address.ts';
import { S3Error } from '../errors.ts';
import { ALPHA, type Answer, BETA, NOW, person, S3Rig } from '../testing/rig.ts';
import { Authenticator, type Authentication } from './authenticate.ts';
import { readOldQuery } from './version-two.ts';

// The example that AWS publishes for Signature Version 2, and requests as botocore signs them.
const ACCESS_KEY = 'AKIAIOSFODNN7EXAMPLE';
const SECRET = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY';
const MAY = Date.parse('2013-05-24T00:00:00Z');
const DATE = 'Fri, 24 May 2013 00:00:00 GMT';
const MD5 = 'XrY7u+Ae7tCTyyK7j1rNww==';

const settings = {
  arrayName: 'array',
  region: 'us-east-1',
  hosts: ['s3.amazonaws.com'],
  virtualHosted: true,
  accountNames: false,
  adminAccess: false,
  publicUrl: '',
};
const context = {
  settings: () => settings,
  directory: { byS3Key: () => ({ caller: person(ALPHA, 'anna'), secret: SECRET }) },
} as unknown as DataContext;

interface Example {
  readonly method?: string;
  readonly url: string;
  readonly host?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly now?: number;
}

function authenticate({ method = 'GET', url, host = 's3.amazonaws.com', headers: own = {}, now = MAY }: Example) {
  const given: Record<string, string> = { host, ...own };
  const headers = Object.fromEntries(Object.entries(given).map(([name, value]) => [name.toLowerCase(), value]));
  const rawHeaders = Object.entries(given).flat();
  const address = readAddress(url, host, settings);
  return new Authenticator(context).authenticate({ method, address, headers, rawHeaders }, now) as Authentication;
}

const QUERY = `AWSAccessKeyId=${ACCESS_KEY}&Expires=1369354200`;
const GET = `response-content-disposition=attachment%3B%20filename%3D%22%C3%BC%20x.txt%22&versionId=3&${QUERY}&Signature=d%2FqAN9EnVqu1cgjUp43eqHjkrKs%3D`;
const PUT = `${QUERY}&Signature=30sz%2Fx48j7mnes6DfVuRRSYUly0%3D&content-type=text%2Fplain&x-amz-meta-mood=calm&x-amz-acl=public-read&content-md5=XrY7u%2BAe7tCTyyK7j1rNww%3D%3D`;
const LIST = `list-type=2&prefix=x&encoding-type=url&${QUERY}&Signature=bglL9vPuDePsnHE4JtnT%2FgXFJfU%3D`;
const HOST = 'examplebucket.s3.amazonaws.com';

function signed(signature: string, headers: Readonly<Record<string, string>> = {}): Record<string, string> {
  return { Date: DATE, ...headers, Authorization: `AWS ${ACCESS_KEY}:${signature}` };
}

const EXAMPLES: Readonly<Record<string, Example>> = {
  'the published GET': {
    url: '/photos/puppy.jpg',
    host: 'awsexamplebucket1.s3.amazonaws.com',
    headers: { ...signed('qgk2+6Sv9/oM7G3qLEjTH1a1l1g='), Date: 'Tue, 27 Mar 2007 19:36:42 +0000' },
    now: Date.parse('2007-03-27T19:36:42Z'),
  },
  'a sub-resource': { url: '/examplebucket/?acl', headers: signed('R/Git2/dPTDnCqTm82MAxaqyCzY=') },
  'metadata of a multipart upload': {
    method: 'POST',
    url: '/examplebucket/big%20one?uploadId=1.2&x-id=C',
    headers: signed('D3quB2Y0jeqq1egi5c7pVX/Neiw=', {
      'Content-Type': 'application/xml',
      'X-Amz-Meta-B': '2',
      'x-amz-meta-a': ' one  two ',
    }),
  },
  'a part with its MD5': {
    method: 'PUT',
    url: '/examplebucket/big?uploadId=12&partNumber=7',
    headers: signed('6wE7qWZ0VAMofrLC0STb20sBltc=', { 'Content-MD5': MD5 }),
  },
  'an address of a version with another name': { url: `/examplebucket/a%20b/%C3%BC%2B.txt?${GET}` },
  'the same by the name of the host': { url: `/a%20b/%C3%BC%2B.txt?${GET}`, host: HOST },
  'an address to put with headers in it': { method: 'PUT', url: `/examplebucket/new?${PUT}` },
  'the same with the headers as headers': {
    method: 'PUT',
    url: `/examplebucket/new?${PUT}`,
    headers: { 'content-type': 'text/plain', 'x-amz-acl': 'public-read', 'content-md5': MD5 },
  },
  'a listing by the name of the host': { url: `/?${LIST}`, host: HOST },
  'a listing by path, signed with a slash that is not sent': { url: `/examplebucket?${LIST}` },
};

for (const [name, example] of Object.entries(EXAMPLES)) {
  test(`Signature V2: ${name}`, () => {
    const { caller, signedWith, payload } = authenticate(example);
    assert.deepEqual([caller?.username, signedWith, payload.kind], ['anna', 'AWS', 'plain']);
  });
}

function code(example: Example): string {
  try {
    authenticate(example);
    return 'none';
  } catch (error) {
    assert.ok(error instanceof S3Error, String(error));
    return error.code;
  }
}

test('Signature V2: what is signed cannot be changed', () => {
  const put = EXAMPLES['an address to put with headers in it']!;
  const changed: Example[] = [
    { ...put, method: 'GET' },
    { ...put, url: put.url.replace('/new', '/old') },
    { ...put, url: put.url.replace('calm', 'wild') },
    { ...put, url: put.url.replace('text%2Fplain', 'text%2Fhtml') },
    { ...put, url: put.url.replace('1369354200', '1369354201') },
    { ...put, url: `${put.url}&X-Amz-Meta-More=1` },
    { ...put, headers: { 'x-amz-acl': 'private' } },
    { ...put, headers: { 'x-amz-meta-more': '1' } },
    { ...put, headers: { 'content-type': 'text/html' } },
  ];
  for (const example of changed) assert.equal(code(example), 'SignatureDoesNotMatch', JSON.stringify(example));
});

test('Signature V2: no sub-resource can be added to a signed address, however new it is', () => {
  const { url } = EXAMPLES['an address of a version with another name']!;
  for (const name of ['acl', 'tagging', 'retention', 'legal-hold', 'attributes', 'publicAccessBlock', 'partNumber=1']) {
    assert.equal(code({ url: `${url}&${name}` }), 'SignatureDoesNotMatch', name);
  }
  assert.equal(code({ url: `${url}&response-content-type=text/html` }), 'SignatureDoesNotMatch');
  assert.equal(code({ url: `${url}&versionId=4` }), 'SignatureDoesNotMatch', 'a second value is signed, too');
});

test('Signature V2: the clock may differ by 15 minutes, addresses end when they say', () => {
  const get = EXAMPLES['a sub-resource']!;
  assert.equal(code({ ...get, now: MAY + 14 * 60_000 }), 'none');
  assert.equal(code({ ...get, now: MAY + 16 * 60_000 }), 'RequestTimeTooSkewed');
  assert.equal(code({ ...get, now: MAY - 16 * 60_000 }), 'RequestTimeTooSkewed');
  const link = EXAMPLES['a listing by the name of the host']!;
  assert.equal(code({ ...link, now: MAY + 600_000 }), 'none');
  assert.equal(code({ ...link, now: MAY + 600_001 }), 'AccessDenied');
  assert.equal(code({ ...link, now: MAY - 8 * 86_400_000 }), 'AccessDenied', 'no address is good for over a week');
});

test('Signature V2: dates in every form of HTTP count, others do not', () => {
  const text = (date: string, name: string) =>
    `GET\n\n\n${name === 'date' ? date : ''}\n${name === 'date' ? '' : `x-amz-date:${date}\n`}/b/k`;
  const sign = (date: string, name: string): Example => ({
    url: '/b/k',
    headers: {
      ...(name === 'date' ? {} : { date: 'long ago' }),
      [name]: date,
      authorization: `AWS ${ACCESS_KEY}:${createHmac('sha1', SECRET).update(text(date, name)).digest('base64')}`,
    },
  });
  for (const name of ['date', 'x-amz-date']) {
    for (const date of [DATE, 'Friday, 24-May-13 00:00:00 GMT', 'Fri May 24 00:00:00 2013', '20130524T000000Z']) {
      assert.equal(code(sign(date, name)), 'none', `${name}: ${date}`);
    }
    for (const date of ['', 'now', 'Tue, 07 Jul 1950 01:00:00 GMT']) {
      assert.equal(code(sign(date, name)), 'AccessDenied', `${name}: ${date}`);
    }
  }
  assert.equal(code({ url: '/b/k', headers: { authorization: `AWS ${ACCESS_KEY}:abc=` } }), 'AccessDenied');
});

test('Signature V2: a claim that is not whole, or that is made twice, is refused', () => {
  for (const value of ['AWS ', 'AWS key', 'AWS :signature', 'AWS key:']) {
    assert.equal(code({ url: '/b/k', headers: { date: DATE, authorization: value } }), 'InvalidArgument', value);
  }
  for (const query of [`AWSAccessKeyId=${ACCESS_KEY}`, 'Signature=x', `AWSAccessKeyId=a&Signature=x`]) {
    assert.equal(code({ url: `/b/k?${query}` }), 'AccessDenied', query);
  }
  assert.equal(code({ url: '/b/k?AWSAccessKeyId=a&Signature=x&Expires=soon' }), 'AccessDenied');
  const twice = { url: `/b/k?${GET}`, headers: signed('x') };
  assert.equal(code(twice), 'InvalidArgument');
  assert.equal(code({ url: `/b/k?${GET}&X-Amz-Signature=1` }), 'InvalidArgument');
  assert.equal(code({ url: '/b/k', headers: signed('x', { 'x-amz-security-token': 't' }) }), 'InvalidToken');
  assert.equal(code({ url: `/b/k?${GET}&x-amz-security-token=t` }), 'InvalidToken');
  const chunks = { 'x-amz-content-sha256': 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD' };
  assert.equal(code({ url: '/b/k', headers: signed('x', chunks) }), 'InvalidRequest');
});

test('Signature V2: a parameter that would be more than one signed line is refused', () => {
  const split: Readonly<Record<string, string>> = {
    'a line break in response-*': 'response-content-disposition=a%0A/examplebucket/other',
    'a header in the name of another': 'x-amz-acl:private%0Ax-amz-meta-t=1',
    'a colon in a name': 'x-amz-meta-a:b=1',
    'a letter that is not ASCII in a name': 'x-amz-%E2%84%AA=1',
    'a header in the value of another': 'x-amz-meta-t=1%0Ax-amz-acl:private',
    'a line break in content-type': 'content-type=text/plain%0A1369354200',
    'a carriage return in content-md5': 'content-md5=a%0Db',
    'a NUL': 'x-amz-meta-t=%00',
    'a deletion character in a version': 'versionId=%7F',
  };
  for (const [name, query] of Object.entries(split)) {
    assert.equal(code({ url: `/examplebucket/k?${query}&${QUERY}&Signature=x` }), 'InvalidArgument', name);
  }
});

/** Reads a text that was signed back into what it was made of, which a request that is accepted leaves one way to do. */
function parted(text: string) {
  const lines = text.split('\n');
  const [method, md5, type, expires] = lines;
  const [path = '', query = ''] = (lines.at(-1) ?? '').split('?');
  const amz = lines.slice(4, -1).map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]);
  return { method, md5, type, expires, path, amz: Object.fromEntries(amz) as object, query: query.split('&') };
}

test('Signature V2: no two requests share what is signed, whatever control characters they hold', () => {
  const piece = fc.constantFrom('a', 'b', 'x-amz-acl:', '/b/k', '\n', '\r', '\0', '\t', '\x7f', ':', 'PUT');
  const text = fc.array(piece, { minLength: 1, maxLength: 4 }).map((pieces) => pieces.join(''));
  const key = fc.array(fc.constantFrom('a', '%0A', '%0D', ':'), { maxLength: 3 }).map((pieces) => pieces.join(''));
  fc.assert(
    fc.property(text, text, text, text, text, key, (md5, type, name, value, version, path) => {
      const amz = `x-amz-${name}`;
      const pairs = { 'content-md5': md5, 'content-type': type, [amz]: value, versionId: version };
      const query = Object.entries(pairs).map((pair) => pair.map(encodeURIComponent).join('='));
      const url = `/b/k${path}?${query.join('&')}&${QUERY}&Signature=x`;
      const request = { method: 'PUT', address: readAddress(url, 's3.amazonaws.com', settings), headers: {} };
      let texts: readonly string[];
      try {
        ({ texts } = readOldQuery({ ...request, rawHeaders: [] }, MAY));
      } catch (error) {
        assert.ok(error instanceof S3Error && error.code === 'InvalidArgument', String(error));
        return;
      }
      assert.deepEqual(texts.map(parted), [
        {
          method: 'PUT',
          md5,
          type,
          expires: '1369354200',
          path: `/b/k${path}`,
          amz: { [amz.toLowerCase()]: value },
          query: [`versionId=${version}`],
        },
      ]);
    }),
    { numRuns: 2000 },
  );
});

const rig = new S3Rig();
let photos: Bucket;

before(() => rig.start());
after(() => rig.stop());
beforeEach(() => {
  rig.store.objects.clear();
  rig.store.buckets.length = 0;
  photos = rig.store.addBucket({ account: ALPHA, name: 'photos' });
});

function mac(text: string, key = 'ALPHAKEY'): string {
  return createHmac('sha1', rig.keys.get(key)!.secret).update(text).digest('base64');
}

function link(method: string, path: string, headers: Readonly<Record<string, string>> = {}, query = ''): string {
  const expires = NOW / 1000 + 60;
  const amz = Object.entries(headers).filter(([name]) => name.startsWith('x-amz-'));
  const lines = amz.map(([name, value]) => `${name}:${value}\n`).join('');
  const text = `${method}\n${headers['content-md5'] ?? ''}\n${headers['content-type'] ?? ''}\n${expires}\n${lines}${path}`;
  const pairs = Object.entries(headers).map(([name, value]) => `&${name}=${encodeURIComponent(value)}`);
  return `${path}?AWSAccessKeyId=ALPHAKEY&Expires=${expires}&Signature=${encodeURIComponent(mac(text))}${pairs.join('')}${query}`;
}

test('a signed address of V2 reads, and writes what it says and nothing else', async () => {
  const put = await rig.send({
    method: 'PUT',
    url: link('PUT', '/photos/cat', {
      'content-md5': hash('md5', 'meow', 'base64'),
      'content-type': 'text/plain',
      'x-amz-meta-mood': 'calm',
    }),
    body: 'meow',
  });
  assert.equal(put.status, 200, put.body.toString());
  const got = await rig.send({ method: 'GET', url: link('GET', '/photos/cat') });
  assert.equal(got.body.toString(), 'meow');
  assert.deepEqual([got.headers['content-type'], got.headers['x-amz-meta-mood']], ['text/plain', 'calm']);
  const other = await rig.send({
    method: 'PUT',
    url: link('PUT', '/photos/cat', { 'content-md5': hash('md5', 'meow', 'base64') }),
    body: 'woof',
  });
  assert.equal(other.code, 'BadDigest', 'the digest that was signed holds');
});

test('policies can tell a request that was signed by V2', async () => {
  const { settings: former } = photos;
  const statement = {
    Effect: 'Deny',
    Principal: '*',
    Action: 's3:GetObject',
    Resource: 'arn:aws:s3:::photos/*',
    Condition: { StringEquals: { 's3:signatureversion': 'AWS' } },
  };
  Object.assign(photos, { settings: { ...former, policy: JSON.stringify({ Statement: statement }) } });
  await rig.signed({ method: 'PUT', path: '/photos/cat', body: 'meow' });
  assert.equal((await rig.signed({ method: 'GET', path: '/photos/cat' })).status, 200);
  assert.equal((await rig.send({ method: 'GET', url: link('GET', '/photos/cat') })).code, 'AccessDenied');
});

test('an unknown key and one of a disabled account get the same answer by V2', async () => {
  const asked = (key: string) =>
    rig.send({
      method: 'GET',
      url: '/photos/cat',
      headers: { date: new Date(NOW).toUTCString(), authorization: `AWS ${key}:abc=` },
    });
  rig.disabled.add(BETA);
  const [unknown, disabled] = [await asked('NOKEY'), await asked('BETAKEY')];
  rig.disabled.clear();
  assert.deepEqual([unknown.status, unknown.code], [disabled.status, disabled.code]);
  const plain = (answer: Answer) => answer.body.toString().replaceAll(/NOKEY|BETAKEY|<RequestId>\w+/g, '');
  assert.equal(plain(unknown), plain(disabled));
});
