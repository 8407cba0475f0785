import { after, before, test } from 'node:test';
import { createHash } from 'node:crypto';
import { expect, type S3Client } from '../testing/client.ts';
import { serve, type Served } from '../testing/serve.ts';

/**
 * Goal: a document says what it says, or is refused. Method: each document of a request with an unknown element,
 * with text between elements, with an element twice, and with an element where text belongs.
 */
let served: Served;
let ada: S3Client;

before(async () => {
  served = await serve();
  ada = served.as('ada');
  expect(await ada.call('PUT', '/junk', { headers: { 'x-amz-bucket-object-lock-enabled': 'true' } }), 200);
  expect(await ada.call('PUT', '/junk/key', { body: 'x' }), 200);
});
after(() => served.close());

interface Document {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  /** With a place for junk in the element that matters. */
  readonly text: (junk: string) => string;
}

const DOCUMENTS: Readonly<Record<string, Document>> = {
  Retention: {
    method: 'PUT',
    path: '/junk/key',
    query: 'retention',
    text: (junk) =>
      `<Retention>${junk}<Mode>GOVERNANCE</Mode><RetainUntilDate>2999-01-01T00:00:00Z</RetainUntilDate></Retention>`,
  },
  LegalHold: {
    method: 'PUT',
    path: '/junk/key',
    query: 'legal-hold',
    text: (junk) => `<LegalHold>${junk}<Status>ON</Status></LegalHold>`,
  },
  Tagging: {
    method: 'PUT',
    path: '/junk/key',
    query: 'tagging',
    text: (junk) => `<Tagging><TagSet><Tag>${junk}<Key>a</Key><Value>b</Value></Tag></TagSet></Tagging>`,
  },
  Delete: {
    method: 'POST',
    path: '/junk',
    query: 'delete',
    text: (junk) => `<Delete><Object>${junk}<Key>key</Key></Object></Delete>`,
  },
  VersioningConfiguration: {
    method: 'PUT',
    path: '/junk',
    query: 'versioning',
    text: (junk) => `<VersioningConfiguration>${junk}<Status>Enabled</Status></VersioningConfiguration>`,
  },
  ObjectLockConfiguration: {
    method: 'PUT',
    path: '/junk',
    query: 'object-lock',
    text: (junk) =>
      `<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled><Rule><DefaultRetention>${junk}<Mode>GOVERNANCE</Mode><Days>1</Days></DefaultRetention></Rule></ObjectLockConfiguration>`,
  },
  CORSConfiguration: {
    method: 'PUT',
    path: '/junk',
    query: 'cors',
    text: (junk) =>
      `<CORSConfiguration><CORSRule>${junk}<AllowedMethod>GET</AllowedMethod><AllowedOrigin>*</AllowedOrigin></CORSRule></CORSConfiguration>`,
  },
  CompleteMultipartUpload: {
    method: 'POST',
    path: '/junk/key',
    query: 'uploadId',
    text: (junk) =>
      `<CompleteMultipartUpload><Part>${junk}<PartNumber>1</PartNumber><ETag>x</ETag></Part></CompleteMultipartUpload>`,
  },
};

for (const [name, { method, path, query, text }] of Object.entries(DOCUMENTS)) {
  test(`junk in ${name} is malformed`, async () => {
    for (const junk of ['<foo/>', '<foo>bar</foo>', 'foo', '<Prefix>a</Prefix>']) {
      const body = text(junk);
      const headers = { 'content-md5': createHash('md5').update(body).digest('base64') };
      expect(await ada.call(method, path, { query: { [query]: '' }, body, headers }), 400, 'MalformedXML');
    }
  });
}

test('an element that is there twice, or holds elements instead of text, is malformed', async () => {
  const put = (body: string) => ada.call('PUT', '/junk', { query: { versioning: '' }, body });
  const twice = '<Status>Suspended</Status><Status>Enabled</Status>';
  expect(await put(`<VersioningConfiguration>${twice}</VersioningConfiguration>`), 400, 'MalformedXML');
  const nested = '<Status><b>Enabled</b></Status>';
  expect(await put(`<VersioningConfiguration>${nested}</VersioningConfiguration>`), 400, 'MalformedXML');
  const set = (root: string, query: string, body: string) =>
    ada.call('PUT', '/junk/key', { query: { [query]: '' }, body: `<${root}>${body}</${root}>` });
  const until = '<RetainUntilDate>2999-01-01T00:00:00Z</RetainUntilDate>';
  for (const mode of ['governance', 'Compliance', 'other', '']) {
    expect(await set('Retention', 'retention', `<Mode>${mode}</Mode>${until}`), 400, 'MalformedXML');
  }
  for (const hold of ['on', 'Off', 'abc']) {
    expect(await set('LegalHold', 'legal-hold', `<Status>${hold}</Status>`), 400, 'MalformedXML');
  }
  const lock = (headers: Record<string, string>) => ada.call('PUT', '/junk/locked', { headers, body: 'x' });
  const date = { 'x-amz-object-lock-retain-until-date': '2999-01-01T00:00:00Z' };
  expect(await lock({ 'x-amz-object-lock-mode': 'governance', ...date }), 400, 'InvalidArgument');
  expect(await lock({ 'x-amz-object-lock-legal-hold': 'on' }), 400, 'InvalidArgument');
});

test('a condition of a deletion that cannot be read deletes nothing', async () => {
  expect(await ada.call('PUT', '/junk/kept', { body: 'x' }), 200);
  const remove = (inner: string) => {
    const body = `<Delete><Object><Key>kept</Key>${inner}</Object></Delete>`;
    const headers = { 'content-md5': createHash('md5').update(body).digest('base64') };
    return ada.call('POST', '/junk', { query: { delete: '' }, body, headers });
  };
  for (const inner of ['<LastModifiedTime>soon</LastModifiedTime>', '<Size>many</Size>', '<Size></Size>']) {
    expect(await remove(inner), 400, 'MalformedXML');
  }
  const header = (headers: Record<string, string>) => ada.call('DELETE', '/junk/kept', { headers });
  expect(await header({ 'x-amz-if-match-last-modified-time': 'soon' }), 400, 'InvalidArgument');
  expect(await header({ 'x-amz-if-match-size': '1e3' }), 400, 'InvalidArgument');
  expect(await ada.call('GET', '/junk/kept'), 200);
});
