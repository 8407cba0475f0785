import assert from 'node:assert/strict';
import { createHmac, hash, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import type { DataContext } from '../../objects/context.ts';
import { readAddress } from '../address.ts';
import { S3Error } from '../errors.ts';
import { person } from '../testing/rig.ts';
import { Authenticator, type Authentication } from './authenticate.ts';
import { SigningKey } from './signing-key.ts';

// Facts: the examples AWS publishes for Signature Version 4 with S3.
const ACCESS_KEY = 'AKIAIOSFODNN7EXAMPLE';
const SECRET = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY';
const EMPTY = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
const NOW = Date.parse('2013-05-24T00:00:00Z');
const SCOPE = `${ACCESS_KEY}/20130524/us-east-1/s3/aws4_request`;

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
  directory: {
    byS3Key: (key: string) =>
      key === ACCESS_KEY ? { caller: person('a'.repeat(32), 'anna'), secret: SECRET } : { refused: 'unknown' },
  },
} as unknown as DataContext;

interface Example {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

function authenticate(example: Example, now = NOW): Authentication {
  const headers = { host: 'examplebucket.s3.amazonaws.com', ...example.headers };
  const rawHeaders = Object.entries(headers).flat();
  const address = readAddress(example.url, headers.host, settings);
  const found = new Authenticator(context).authenticate({ method: example.method, address, headers, rawHeaders }, now);
  assert.ok(!(found instanceof Promise), 'a directory that answers at once is not waited for');
  return found;
}

function signedBy(signedHeaders: string, signature: string): string {
  return `AWS4-HMAC-SHA256 Credential=${SCOPE},SignedHeaders=${signedHeaders},Signature=${signature}`;
}

const EXAMPLES: Readonly<Record<string, Example>> = {
  'GET of a range': {
    method: 'GET',
    url: '/test.txt',
    headers: {
      range: 'bytes=0-9',
      'x-amz-content-sha256': EMPTY,
      'x-amz-date': '20130524T000000Z',
      authorization: signedBy(
        'host;range;x-amz-content-sha256;x-amz-date',
        'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
      ),
    },
  },
  'PUT with a Date header and an encoded key': {
    method: 'PUT',
    url: '/test%24file.text',
    headers: {
      date: 'Fri, 24 May 2013 00:00:00 GMT',
      'x-amz-date': '20130524T000000Z',
      'x-amz-storage-class': 'REDUCED_REDUNDANCY',
      'x-amz-content-sha256': '44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072',
      authorization: signedBy(
        'date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class',
        '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
      ),
    },
  },
  'a sub-resource without a value': {
    method: 'GET',
    url: '/?lifecycle',
    headers: {
      'x-amz-date': '20130524T000000Z',
      'x-amz-content-sha256': EMPTY,
      authorization: signedBy(
        'host;x-amz-content-sha256;x-amz-date',
        'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
      ),
    },
  },
  'a query of two parameters, in any order': {
    method: 'GET',
    url: '/?prefix=J&max-keys=2',
    headers: {
      'x-amz-date': '20130524T000000Z',
      'x-amz-content-sha256': EMPTY,
      authorization: signedBy(
        'host;x-amz-content-sha256;x-amz-date',
        '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
      ),
    },
  },
  'a presigned address': {
    method: 'GET',
    url:
      `/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=${encodeURIComponent(SCOPE)}` +
      '&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host' +
      '&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404',
    headers: {},
  },
};

for (const [name, example] of Object.entries(EXAMPLES)) {
  test(`the published example is accepted: ${name}`, () => {
    assert.equal(authenticate(example).caller?.username, 'anna');
  });
}

test('the published example of signed chunks is accepted, chunk by chunk', () => {
  const { chunks } = authenticate({
    method: 'PUT',
    url: '/examplebucket/chunkObject.txt',
    headers: {
      host: 's3.amazonaws.com',
      'x-amz-date': '20130524T000000Z',
      'x-amz-storage-class': 'REDUCED_REDUNDANCY',
      'x-amz-content-sha256': 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD',
      'content-encoding': 'aws-chunked',
      'x-amz-decoded-content-length': '66560',
      'content-length': '66824',
      authorization: signedBy(
        'content-encoding;content-length;host;x-amz-content-sha256;x-amz-date;x-amz-decoded-content-length;x-amz-storage-class',
        '4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9',
      ),
    },
  });
  assert.ok(chunks);
  const digest = (size: number) => hash('sha256', Buffer.alloc(size, 'a'));
  assert.ok(chunks.chunk('ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648', digest(65536)));
  assert.ok(chunks.chunk('0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497', digest(1024)));
  assert.ok(chunks.chunk('b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9', EMPTY));
});

test('a presigned address is good until it expires and not before its time', () => {
  const example = EXAMPLES['a presigned address']!;
  assert.equal(authenticate(example, NOW + 86_400_000).caller?.username, 'anna');
  assert.throws(() => authenticate(example, NOW + 86_400_001), refused('AccessDenied', /expired/));
  assert.throws(() => authenticate(example, NOW - 16 * 60_000), refused('AccessDenied', /not valid yet/));
});

test('clocks may differ by 15 minutes and no more', () => {
  const example = EXAMPLES['GET of a range']!;
  assert.ok(authenticate(example, NOW + 15 * 60_000).caller);
  assert.ok(authenticate(example, NOW - 15 * 60_000).caller);
  assert.throws(() => authenticate(example, NOW + 15 * 60_000 + 1), refused('RequestTimeTooSkewed'));
  assert.throws(() => authenticate(example, NOW - 15 * 60_000 - 1), refused('RequestTimeTooSkewed'));
});

test('an HMAC by two hashes is that of the library, for keys and texts of all lengths', () => {
  for (let length = 0; length <= 64; length++) {
    const key = randomBytes(length);
    const text = randomBytes(length * 40).toString('hex');
    assert.equal(new SigningKey(key).sign(text), createHmac('sha256', key).update(text).digest('hex'));
  }
});

function refused(code: string, message?: RegExp) {
  return (error: unknown) => {
    assert.ok(error instanceof S3Error);
    assert.equal(error.code, code, error.message);
    if (message) assert.match(error.message, message);
    return true;
  };
}
