import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { crc32 } from 'node:zlib';
import { assertBrief } from '../../kernel/edge/testing/blocking.ts';
import { serve, type Served } from './testing/serve.ts';

/**
 * Goal: unauthenticated clients get little processor time. Method: unsigned requests, to a bucket that lets every client
 * in as well, with what is most expensive to read within the limits. Client and server share the thread that is measured.
 */
const K64 = 64 * 1024;
const filled = (piece: string, size = K64 - 64) => piece.repeat(Math.floor(size / piece.length));
const boundary = 'b';
const field = (name: string, value: string) =>
  `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;

let served: Served;

before(async () => {
  served = await serve();
  const ada = served.as('ada');
  await ada.call('PUT', '/open');
  const policy = {
    Version: '2012-10-17',
    Statement: [
      { Effect: 'Allow', Principal: '*', Action: 's3:*', Resource: ['arn:aws:s3:::open', 'arn:aws:s3:::open/*'] },
    ],
  };
  const reply = await ada.call('PUT', '/open', { query: { policy: '' }, body: JSON.stringify(policy) });
  assert.ok(reply.status < 300, `${reply.status}`);
});

after(() => served.close());

async function send(method: string, path: string, body?: string, type = 'application/xml'): Promise<number> {
  const reply = await fetch(`${served.origin}${path}`, {
    method,
    headers: { 'content-type': type, 'content-md5': '1B2M2Y8AsgTpgAmY7PhCfg==' },
    ...(body !== undefined && { body }),
  });
  await reply.arrayBuffer();
  return reply.status;
}

const documents = {
  'empty elements': `<Delete>${filled('<a/>')}</Delete>`,
  references: `<Delete>${filled('&lt;')}</Delete>`,
  nesting: filled('<a>'),
  'two megabytes of keys': `<Delete>${'<Object><Key>k</Key></Object>'.repeat(70_000)}</Delete>`,
};
const targets = ['delete', 'tagging', 'lifecycle', 'cors', 'acl', 'versioning', 'policy', 'object-lock', 'replication'];

for (const [what, body] of Object.entries(documents)) {
  test(`an unauthenticated document of ${what} is refused in little time`, async () => {
    for (const target of targets) {
      const method = target === 'delete' ? 'POST' : 'PUT';
      for (const bucket of ['open', 'nowhere']) {
        await assertBrief(`${method} /${bucket}?${target}`, async () => {
          assert.ok((await send(method, `/${bucket}?${target}`, body)) >= 400);
        });
      }
    }
    await assertBrief('completing an upload', () => send('POST', '/open/key?uploadId=x', body));
  });
}

test('an unauthenticated form, query and path are read in little time', async () => {
  const type = `multipart/form-data; boundary=${boundary}`;
  const forms = [
    Array.from({ length: 300 }, (_, at) => field(`x-amz-meta-${at}`, 'x')).join(''),
    field('key', 'k') + field('tagging', `<Tagging>${filled('<a/>', K64 - 1_000)}</Tagging>`) + field('file', 'x'),
    field('key', 'k') + field('policy', filled('eyJhIjpbW1tb', K64 - 1_000)) + field('file', 'x'),
    `--${boundary}\r\n${filled('a: ;name="', 8_000)}`,
    filled('\r\n--'),
  ];
  for (const body of forms) await assertBrief('a form', () => send('POST', '/open', `${body}--${boundary}--`, type));
  for (const piece of ['a&', '%41', 'a=b&', 'prefix=a&', '/', '%2F', 'X-Amz-Signature=&', 'x-amz-a=b&', 'acl&']) {
    await assertBrief(`a query of ${piece}`, () => send('GET', `/open?${filled(piece, 14_000)}`));
    const old = `AWSAccessKeyId=key-of-ada&Signature=x&Expires=${Math.floor(Date.now() / 1000) + 60}`;
    await assertBrief(`an address of V2 with ${piece}`, () => send('GET', `/open?${old}&${filled(piece, 14_000)}`));
    await assertBrief(`a path of ${piece}`, () => send('GET', `/open/${filled(piece.replace(/[?&=]/g, ''), 14_000)}`));
  }
});

test('lists of what to delete and of parts are taken up to what they may hold', async () => {
  const ada = served.as('ada');
  const bodyOf = (count: number) =>
    `<Delete>${Array.from({ length: count }, (_, at) => `<Object><Key>k${at}</Key></Object>`).join('')}</Delete>`;
  const ask = (count: number) =>
    ada.call('POST', '/open', {
      query: { delete: '' },
      body: bodyOf(count),
      headers: { 'x-amz-checksum-crc32': checksum(bodyOf(count)) },
    });
  assert.equal((await ask(1_000)).status, 200);
  assert.equal((await ask(1_001)).status, 400);
  const parts = Array.from(
    { length: 10_000 },
    (_, at) => `<Part><PartNumber>${at + 1}</PartNumber><ETag>"${'0'.repeat(32)}"</ETag></Part>`,
  ).join('');
  const body = `<CompleteMultipartUpload>${parts}</CompleteMultipartUpload>`;
  const reply = await ada.call('POST', '/open/k', { query: { uploadId: 'none' }, body });
  assert.equal(reply.status, 404);
});

function checksum(text: string): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(crc32(text));
  return bytes.toString('base64');
}

/** What a tenant may set up that unauthenticated requests are checked against. */
async function put(bucket: string, query: string, body: string): Promise<void> {
  const ada = served.as('ada');
  await ada.call('PUT', `/${bucket}`);
  const reply = await ada.call('PUT', `/${bucket}`, { query: { [query]: '' }, body });
  assert.ok(reply.status < 300, `${reply.status} ${reply.text}`);
}

test('a preflight takes little time, however many rules there are and headers it names', async () => {
  const headers = Array.from({ length: 95 }, (_, at) => `<AllowedHeader>x-${at}-*-end</AllowedHeader>`).join('');
  const rule = `<CORSRule><AllowedOrigin>*</AllowedOrigin><AllowedMethod>PUT</AllowedMethod>${headers}</CORSRule>`;
  await put('cors', 'cors', `<CORSConfiguration>${rule.repeat(14)}</CORSConfiguration>`);
  const ask = async (names: string) => {
    const reply = await fetch(`${served.origin}/cors/key`, {
      method: 'OPTIONS',
      headers: { origin: 'http://x', 'access-control-request-method': 'PUT', 'access-control-request-headers': names },
    });
    await reply.arrayBuffer();
    return reply.status;
  };
  assert.equal(await ask('x-1-abc-end, X-94-abc-END'), 200);
  assert.equal(await ask('x-1-abc-end, content-type'), 403);
  // Each fits the last pattern of a rule, and the last one none: all rules are gone through.
  const differing = (count: number) => Array.from({ length: count }, (_, at) => `x-94-${at}-end`).join();
  for (const names of [`${differing(900)},no`, `${differing(49)},no`, filled('a,', 14_000)])
    await assertBrief('a preflight', async () => assert.equal(await ask(names), 403));
});

test('policies that take long to match deny in little time', async () => {
  const texts = {
    'many stars': [`arn:aws:s3:::hard/${'*a'.repeat(4_000)}b`],
    'a long rest': [`arn:aws:s3:::hard/*${'a'.repeat(9_000)}b`],
    'one character each': [`arn:aws:s3:::hard/*${'?a'.repeat(4_000)}b`],
    variables: [`arn:aws:s3:::hard/*${'${aws:referer}'.repeat(500)}b`],
  };
  for (const [what, Resource] of Object.entries(texts)) {
    const statement = { Effect: 'Allow', Principal: '*', Action: 's3:*', Resource };
    await put('hard', 'policy', JSON.stringify({ Version: '2012-10-17', Statement: [statement] }));
    await assertBrief(what, async () => {
      const reply = await fetch(`${served.origin}/hard/${'a'.repeat(1_000)}`, {
        headers: { referer: 'a'.repeat(8_000) },
      });
      assert.equal(reply.status, 403);
      await reply.arrayBuffer();
    });
  }
  const Condition = { StringNotLike: { 'aws:Referer': [`*${'a'.repeat(6_000)}b`, `*${'a'.repeat(3_000)}b*c`] } };
  const statement = { Effect: 'Allow', Principal: '*', Action: 's3:*', Resource: 'arn:aws:s3:::hard/*', Condition };
  await put('hard', 'policy', JSON.stringify({ Version: '2012-10-17', Statement: [statement] }));
  await assertBrief('a long header', async () => {
    const reply = await fetch(`${served.origin}/hard/a`, { headers: { referer: 'a'.repeat(12_000) } });
    assert.equal(reply.status, 403);
    await reply.arrayBuffer();
  });
});
