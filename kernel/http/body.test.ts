import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { cpuMs } from '../../testing/timing.ts';
import { serve } from './testing/server.ts';

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

interface Sent {
  readonly method?: Method;
  readonly url?: string;
  readonly type?: string;
  readonly body?: string | Buffer;
}

interface Understood {
  readonly status: number;
  readonly message: string;
  readonly input: Record<string, unknown>;
}

async function understanding(t: TestContext): Promise<(sent: Sent) => Promise<Understood>> {
  const { app } = await serve(t, 'portal');
  return async ({ method = 'POST', url = '/api/echo', type, body }) => {
    const headers = { 'x-token': 'member', ...(type !== undefined && { 'content-type': type }) };
    const reply = await app.inject({ method, url, headers, ...(body !== undefined && { payload: body }) });
    const { message = '', input = '{}' } = reply.json<{ message?: string; input?: string }>();
    const { level, ...rest } = JSON.parse(input) as Record<string, unknown>;
    return { status: reply.statusCode, message, input: level === 3 || level === undefined ? rest : { level, ...rest } };
  };
}

const form = 'application/x-www-form-urlencoded';
const boundary = 'b0undary';
const multipart = `multipart/form-data; boundary=${boundary}`;

function part(head: string, content: string): string {
  return `--${boundary}\r\nContent-Disposition: form-data; ${head}\r\n\r\n${content}\r\n`;
}

test('parameters are read from the query, a form, JSON, XML and multipart, on every verb', async (t) => {
  const send = await understanding(t);
  const expected = { name: 'Ada', count: 5, force: true };
  const xml =
    '<?xml version="1.0"?><request><name>Ada</name><count type="integer">5</count><force>YES</force></request>';
  const ways: Sent[] = [
    { url: '/api/echo?name=Ada&count=5&force=on' },
    { type: form, body: 'name=Ada&count=5&force=1' },
    { type: `${form}; charset=UTF-8`, body: 'name=Ada&count=5&force=Yes' },
    { type: 'application/json', body: '{"name":"Ada","count":5,"force":true}' },
    { type: 'application/vnd.api+json; charset=utf-8', body: '{"name":"Ada","count":"5","force":"TRUE"}' },
    { type: 'application/xml', body: xml },
    { type: 'text/xml', body: xml },
    {
      type: multipart,
      body: `${part('name="name"', 'Ada')}${part('name=count', '5')}${part('name="force"', 'true')}--${boundary}--`,
    },
  ];
  for (const method of ['GET', 'POST', 'PUT', 'DELETE'] as const) {
    for (const way of ways) {
      const { status, input } = await send({ ...way, method });
      assert.deepEqual([status, input], [200, expected], `${method} ${way.type ?? 'query'}`);
    }
  }
});

test('a request without a body is served whatever type it claims', async (t) => {
  const send = await understanding(t);
  for (const method of ['GET', 'POST', 'DELETE'] as const) {
    for (const type of [undefined, form, 'application/json', 'application/xml', multipart, 'text/plain', 'image/png']) {
      const { status, input } = await send({ method, ...(type !== undefined && { type }) });
      assert.deepEqual([status, input], [200, {}], `${method} ${type}`);
    }
  }
});

test('the path counts more than the body, and the body more than the query', async (t) => {
  const send = await understanding(t);
  const url = '/api/echo/path?name=query&count=1&mode=fast';
  const { input } = await send({ url, type: form, body: 'name=body&count=2' });
  assert.deepEqual(input, { name: 'path', count: 2, mode: 'fast' });
});

test('lists come as brackets, as numbered brackets, by comma, as JSON text and as themselves', async (t) => {
  const send = await understanding(t);
  const forms = [
    'names[]=a&names[]=b',
    'names=a,b',
    'names=a, b',
    'names[0]=a&names[1]=b',
    'names=a&names=b',
    'names=["a","b"]',
  ];
  for (const body of forms) {
    assert.deepEqual((await send({ type: form, body })).input, { names: ['a', 'b'] }, body);
    assert.deepEqual((await send({ method: 'GET', url: `/api/echo?${body}` })).input, { names: ['a', 'b'] }, body);
  }
  const one = await send({ type: form, body: 'names[]=a&numbers=7' });
  assert.deepEqual(one.input, { names: ['a'], numbers: [7] });
  const asJson = await send({ type: 'application/json', body: '{"names":["a","b"],"numbers":7}' });
  assert.deepEqual(asJson.input, { names: ['a', 'b'], numbers: [7] });
  for (const inner of [
    '<names type="array"><name>a</name><name>b</name></names>',
    '<names>a,b</names>',
    '<names>a</names><names>b</names>',
  ]) {
    assert.deepEqual((await send({ type: 'text/xml', body: `<r>${inner}</r>` })).input, { names: ['a', 'b'] }, inner);
  }
});

test('structures come as nested brackets, as JSON text, as JSON and as XML', async (t) => {
  const send = await understanding(t);
  const quotas = [
    { source_id: 7, limit: 1.5, hard: true },
    { source_id: 8, limit: 2 },
  ];
  const ways: Sent[] = [
    {
      type: form,
      body: 'quotas[0][source_id]=7&quotas[0][limit]=1.5&quotas[0][hard]=YES&quotas[1][source_id]=8&quotas[1][limit]=2',
    },
    { type: form, body: `quotas=${encodeURIComponent(JSON.stringify(quotas))}` },
    { type: 'application/json', body: JSON.stringify({ quotas }) },
    { type: 'application/json', body: JSON.stringify({ quotas: JSON.stringify(quotas) }) },
    {
      type: 'application/xml',
      body: `<r><quotas type="array"><quota><source-id>7</source-id><limit>1.5</limit><hard>true</hard></quota>
             <quota><source-id type="integer">8</source-id><limit>2</limit></quota></quotas></r>`,
    },
  ];
  for (const way of ways) assert.deepEqual((await send(way)).input, { quotas }, way.body?.toString());
  const map = await send({ type: form, body: 'drives[ssd]=2&drives[hdd]=10' });
  assert.deepEqual(map.input, { drives: { ssd: 2, hdd: 10 } });
});

test('a file is uploaded beside other fields, and a file field without a file is absent', async (t) => {
  const send = await understanding(t);
  const upload = part('name="upload"; filename="prices.csv"', 'kind,key\r\na,b');
  const chosen = await send({ type: multipart, body: `${part('name="name"', 'Ada')}${upload}--${boundary}--\r\n` });
  assert.deepEqual(chosen.input, { name: 'Ada', upload: { filename: 'prices.csv', bytes: 'kind,key\r\na,b' } });
  const empty = await send({ type: multipart, body: `${part('name="upload"; filename=""', '')}--${boundary}--` });
  assert.deepEqual([empty.status, empty.input], [200, {}]);
  const notAFile = await send({ type: 'application/json', body: '{"upload":"text"}' });
  assert.equal(notAFile.message, 'upload must be an uploaded file.');
  const asStructure = await send({
    type: multipart,
    body: `${part('name="quotas"; filename="q"', '[]')}--${boundary}--`,
  });
  assert.equal(asStructure.message, 'quotas must not be a file.');
});

test('unknown parameters are ignored', async (t) => {
  const send = await understanding(t);
  const { status, input } = await send({
    url: '/api/echo?colour=red&a[b][c]=1',
    type: 'application/json',
    body: '{"shape":{"deep":[1]},"name":"Ada"}',
  });
  assert.deepEqual([status, input], [200, { name: 'Ada' }]);
});

test('a body that is broken, or no set of parameters, is refused and says so', async (t) => {
  const send = await understanding(t);
  const broken: [string, string, RegExp][] = [
    ['application/json', '{"name":', /body is not valid JSON/],
    ['application/json', '[1]', /body must be a JSON object/],
    ['application/json', '"x"', /body must be a JSON object/],
    ['application/json', 'null', /body must be a JSON object/],
    ['application/xml', '<a><b></a>', /body is not valid XML/],
    ['application/xml', 'hello', /body is not valid XML/],
    [multipart, 'hello', /body is not valid multipart/],
    ['multipart/form-data', 'hello', /body is not valid multipart/],
    [multipart, part('name="name"', 'cut off'), /body is not valid multipart/],
    ['text/plain', 'hello', /Content-Type text\/plain is not understood/],
    [form, 'a=1&'.repeat(10_001), /body must have at most 10000 parameters/],
  ];
  for (const [type, body, message] of broken) {
    const reply = await send({ type, body });
    assert.equal(reply.status, 400, type);
    assert.match(reply.message, message);
  }
});

test('a body without a type is refused, and a type that is none as well', async (t) => {
  const send = await understanding(t);
  assert.match((await send({ type: '', body: 'hello' })).message, /is not understood/);
  assert.match((await send({ type: 'nonsense', body: 'hello' })).message, /is not understood/);
});

test('document types and entities are refused, whatever they hide in', async (t) => {
  const send = await understanding(t);
  for (const body of [
    '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><r><name>&x;</name></r>',
    '<!doctype r><r><name>a</name></r>',
    '<!-- <![CDATA[ --><!DOCTYPE r><!-- ]]> --><r><name>a</name></r>',
    '<r><!ENTITY x "y"><name>a</name></r>',
    '<r><name>&x;</name></r>',
  ]) {
    const { status, message } = await send({ type: 'application/xml', body });
    assert.equal(status, 400, body);
    assert.match(message, /not accepted|not a known character/);
  }
});

test('CDATA is plain text', async (t) => {
  const send = await understanding(t);
  const body = '<r><comment>a &lt; <![CDATA[<b> &amp; <!DOCTYPE x>]]></comment></r>';
  assert.deepEqual((await send({ type: 'application/xml', body })).input, { comment: 'a < <b> &amp; <!DOCTYPE x>' });
});

test('a request that is too large is refused with 413', async (t) => {
  const send = await understanding(t);
  const filler = 'x'.repeat(2 * 2 ** 20);
  for (const [type, body, limit] of [
    [form, `comment=${filler}`, '2 MiB'],
    ['application/json', JSON.stringify({ comment: filler }), '2 MiB'],
    ['application/xml', `<r><comment>${filler}</comment></r>`, '64 KiB of XML; send it as JSON'],
    [multipart, `${part('name="upload"; filename="x"', 'x'.repeat(10 * 2 ** 20))}--${boundary}--`, '10 MiB'],
  ] as const) {
    const { status, message } = await send({ type, body });
    assert.deepEqual([status, message], [413, `The request is larger than ${limit}.`], type);
  }
});

test('a megabyte of text is taken, or refused, in little time', async (t) => {
  const send = await understanding(t);
  const megabyte = 'é&<'.repeat(350_000);
  const ms = await cpuMs(async () => {
    const taken = await send({ type: 'application/json', body: JSON.stringify({ comment: megabyte }) });
    assert.ok(taken.input['comment'] === megabyte);
    const refused = await send({ type: 'application/json', body: JSON.stringify({ name: megabyte }) });
    assert.equal(refused.message, 'name must have at most 10 characters.');
    const escaped = megabyte.slice(0, 15_000).replaceAll('&', '&amp;').replaceAll('<', '&lt;');
    const xml = await send({ type: 'application/xml', body: `<r><comment>${escaped}</comment></r>` });
    assert.ok(xml.input['comment'] === megabyte.slice(0, 15_000));
  });
  assert.ok(ms < 2000, `${ms} ms`);
});

test('what is nested very deeply is refused, or ignored in unknown parameters', async (t) => {
  const send = await understanding(t);
  const deep = '['.repeat(200_000) + ']'.repeat(200_000);
  const known = await send({ type: 'application/json', body: `{"quotas":${deep}}` });
  assert.equal(known.message, 'quotas must not be nested deeper than 32 levels.');
  const asText = await send({ type: form, body: `quotas=${deep}` });
  assert.equal(asText.message, 'quotas must not be nested deeper than 32 levels.');
  const unknown = await send({ type: 'application/json', body: `{"other":${deep}}` });
  assert.equal(unknown.status, 200);
  const brackets = await send({ type: form, body: `quotas${'[a]'.repeat(10_000)}=1` });
  assert.equal(brackets.status, 400);
  const xml = await send({ type: 'application/xml', body: '<a>'.repeat(9_000) + '</a>'.repeat(9_000) });
  assert.match(xml.message, /body is not valid XML/);
});

test('names that reach into prototypes change nothing', async (t) => {
  const send = await understanding(t);
  const json = await send({
    type: 'application/json',
    body: '{"__proto__":{"name":"evil"},"constructor":{"prototype":{"name":"evil"}},"drives":{"__proto__":{"x":1},"ssd":1}}',
  });
  assert.deepEqual([json.status, json.input], [200, { drives: { ssd: 1 } }]);
  const asForm = await send({
    type: form,
    body: '__proto__[name]=evil&constructor[prototype][name]=evil&drives[__proto__][x]=1&drives[ssd]=1',
  });
  assert.deepEqual([asForm.status, asForm.input], [200, { drives: { ssd: 1 } }]);
  const query = await send({ method: 'GET', url: '/api/echo?__proto__[name]=evil&__proto__=x' });
  assert.deepEqual([query.status, query.input], [200, {}]);
  const parts = part('name="__proto__"; filename="x"', 'evil') + part('name="__proto__[name]"', 'evil');
  const asParts = await send({ type: multipart, body: `${parts}--${boundary}--` });
  assert.deepEqual([asParts.status, asParts.input], [200, {}]);
  const xml = await send({ type: 'application/xml', body: '<r><__proto__><name>evil</name></__proto__></r>' });
  assert.deepEqual(xml.input, {});
  assert.equal(({} as { name?: string }).name, undefined);
});

test('NUL characters and broken Unicode are refused by name', async (t) => {
  const send = await understanding(t);
  const bad: [string, string, string][] = [
    [form, 'name=a%00b', 'name must not hold a NUL character.'],
    ['application/json', '{"name":"a\\u0000"}', 'name must not hold a NUL character.'],
    ['application/json', '{"name":"\\ud800"}', 'name must be well-formed Unicode.'],
    ['application/json', '{"names":["a","\\u0000"]}', 'names item 2 must not hold a NUL character.'],
    ['application/json', '{"drives":{"a\\u0000":1}}', 'drives must not hold a NUL character.'],
    [
      'application/json',
      '{"quotas":[{"source_id":1,"limit":1,"label":"\\u0000"}]}',
      'quotas must not hold a NUL character.',
    ],
  ];
  for (const [type, body, message] of bad) assert.equal((await send({ type, body })).message, message);
});

test('parts are counted by the boundary they are read by', async (t) => {
  const send = await understanding(t);
  const parts = part('name="note"', 'x').repeat(300);
  for (const other of ['x="; boundary=few"', 'x=y; boundary=few', 'boundary=few']) {
    const type = `multipart/form-data; ${other}; boundary=${boundary}`;
    assert.equal((await send({ type, body: `${parts}--${boundary}--` })).status, 400, type);
  }
});
