import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import { after, before, beforeEach, test } from 'node:test';
import type { Bucket } from '@granary/storage/object-store';
import fc from 'fast-check';
import { ALPHA, type Answer, NOW, S3Rig, TIME } from '../testing/rig.ts';
import { scopeOf, signText } from '../testing/signer.ts';
import { readForm } from './multipart.ts';

const rig = new S3Rig();
let photos: Bucket;

before(() => rig.start());
after(() => rig.stop());
beforeEach(() => {
  rig.store.objects.clear();
  rig.store.buckets.length = 0;
  rig.records.length = 0;
  photos = rig.store.addBucket({ account: ALPHA, name: 'photos' });
});

const BOUNDARY = '----WebKitFormBoundary7MA4';
const TYPE = `multipart/form-data; boundary=${BOUNDARY}`;

function formOf(fields: Readonly<Record<string, string>>, file?: Uint8Array | string, filename = 'cat.jpg'): Buffer {
  const pieces: (Uint8Array | string)[] = [];
  for (const [name, value] of Object.entries(fields)) {
    pieces.push(`--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`);
  }
  if (file !== undefined) {
    pieces.push(
      `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="${filename}"\r\nContent-Type: image/jpeg\r\n\r\n`,
      file,
      '\r\n',
    );
  }
  return Buffer.concat([...pieces, `--${BOUNDARY}--\r\n`].map((piece) => Buffer.from(piece)));
}

interface Wanted {
  readonly fields?: Readonly<Record<string, string>>;
  readonly conditions?: readonly unknown[];
  readonly expiration?: string;
  readonly file?: Uint8Array | string;
  readonly filename?: string;
  /** What is changed after signing. */
  readonly change?: Readonly<Record<string, string>>;
}

const FIELDS = { key: 'up/${filename}', 'Content-Type': 'image/png', 'x-amz-meta-mood': 'calm' };
const CONDITIONS = [
  { bucket: 'photos' },
  ['starts-with', '$key', 'up/'],
  ['eq', '$content-type', 'image/png'],
  ['starts-with', '$x-amz-meta-mood', ''],
  ['content-length-range', 3, 100],
];

function post({
  fields = FIELDS,
  conditions = CONDITIONS,
  expiration,
  file = 'the file',
  filename,
  change,
}: Wanted): Promise<Answer> {
  const signer = rig.signer();
  const signing = {
    'x-amz-algorithm': 'AWS4-HMAC-SHA256',
    'x-amz-credential': `${signer.accessKey}/${scopeOf(signer)}`,
    'x-amz-date': TIME,
  };
  const document = {
    expiration: expiration ?? new Date(NOW + 1000).toISOString(),
    conditions: [...conditions, ...Object.entries(signing).map(([name, value]) => ({ [name]: value }))],
  };
  const policy = Buffer.from(JSON.stringify(document)).toString('base64');
  const all = { ...fields, ...signing, policy, 'x-amz-signature': signText(signer, policy), ...change };
  return rig.send({
    method: 'POST',
    url: '/photos',
    headers: { 'content-type': TYPE },
    body: formOf(all, file, filename),
  });
}

test('metadata under a name that no header can have is refused, and stores nothing', async () => {
  for (const name of ['x-amz-meta-a b', 'x-amz-meta-a:b', 'x-amz-meta-\u00fc']) {
    const answer = await post({
      fields: { ...FIELDS, key: 'up/named', [name]: 'x' },
      conditions: [...CONDITIONS, { [name]: 'x' }],
    });
    assert.deepEqual([answer.status, answer.code], [400, 'InvalidArgument'], name);
    assert.equal(rig.store.bytesOf(photos, 'up/named'), undefined);
  }
});

test('a signed form stores its file under its key, and says so as it was asked to', async () => {
  const answer = await post({});
  assert.equal(answer.status, 204, answer.body.toString());
  assert.equal(rig.store.bytesOf(photos, 'up/cat.jpg')?.toString(), 'the file');
  assert.equal(answer.headers.location, 'http://s3.example.test/photos/up/cat.jpg');
  const { attributes, etag } = rig.store.objects.get(`${photos.id}/up/cat.jpg`)!.version;
  assert.equal(etag, createHash('md5').update('the file').digest('hex'));
  assert.equal(attributes.contentType, 'image/png');
  assert.deepEqual(attributes.metadata, { mood: 'calm' });
  const record = await rig.record(1);
  assert.equal(record.action, 'PostObject');
  assert.equal(record.bytesIn, 8);
  assert.equal(record.key, 'up/cat.jpg');
  assert.equal(record.username, 'anna');
  const created = await post({
    fields: { ...FIELDS, success_action_status: '201' },
    conditions: [...CONDITIONS, { success_action_status: '201' }],
  });
  assert.equal(created.status, 201);
  assert.match(created.body.toString(), /<PostResponse[^]*<Key>up\/cat.jpg<\/Key><ETag>&quot;/);
  const redirect = { success_action_redirect: 'https://example.org/done?x=1' };
  const sent = await post({ fields: { ...FIELDS, ...redirect }, conditions: [...CONDITIONS, redirect] });
  assert.equal(sent.status, 303);
  assert.match(
    sent.headers.location ?? '',
    /^https:\/\/example.org\/done\?x=1&bucket=photos&key=up%2Fcat.jpg&etag=%22/,
  );
});

/** A form that is signed the old way, its fields spelt as they come. */
function postOld(fields: Readonly<Record<string, string>>, policy: unknown = oldPolicy()): Promise<Answer> {
  const text = Buffer.from(JSON.stringify(policy)).toString('base64');
  const signature = createHmac('sha1', rig.keys.get('ALPHAKEY')!.secret).update(text).digest('base64');
  const body = formOf({ AWSAccessKeyId: 'ALPHAKEY', policy: text, signature, ...fields }, 'the file');
  return rig.send({ method: 'POST', url: '/photos', headers: { 'content-type': TYPE }, body });
}

function oldPolicy(...more: readonly unknown[]) {
  const conditions = [{ bucket: 'photos' }, ['starts-with', '$key', 'up/'], ...more];
  return { expiration: new Date(NOW + 1000).toISOString(), conditions };
}

test('a form signed with V2 is a signed form', async () => {
  const answer = await postOld({ key: 'up/a' });
  assert.equal(answer.status, 204, answer.body.toString());
  assert.equal(rig.store.bytesOf(photos, 'up/a')?.toString(), 'the file');
  assert.equal((await rig.record(1)).username, 'anna');
  assert.equal((await postOld({ key: 'up/a', signature: 'AAAA' })).code, 'SignatureDoesNotMatch');
  assert.equal((await postOld({ key: 'up/a', AWSAccessKeyId: 'NOKEY' })).code, 'InvalidAccessKeyId');
  assert.equal((await postOld({ key: 'up/a', signature: '' })).code, 'InvalidArgument');
  assert.equal((await postOld({ key: 'up/a', AWSAccessKeyId: '' })).code, 'InvalidArgument');
  assert.equal((await postOld({ key: 'down/a' })).code, 'AccessDenied');
  assert.equal((await postOld({ key: 'up/a', acl: 'public-read' })).code, 'AccessDenied');
  const unsigned = formOf({ key: 'up/a', AWSAccessKeyId: 'ALPHAKEY', signature: 'AAAA' }, 'x');
  const sent = await rig.send({ method: 'POST', url: '/photos', headers: { 'content-type': TYPE }, body: unsigned });
  assert.equal(sent.code, 'InvalidArgument', 'what is signed is the policy');
});

test('names of fields and operators of a policy may be in any case', async () => {
  const { expiration } = oldPolicy();
  const conditions = [{ bUcKeT: 'photos' }, ['StArTs-WiTh', '$KeY', 'up/'], { ACL: 'private' }];
  const text = Buffer.from(JSON.stringify({ expiration, conditions })).toString('base64');
  const sIgNaTuRe = createHmac('sha1', rig.keys.get('ALPHAKEY')!.secret).update(text).digest('base64');
  const fields = { kEy: 'up/a', aWSAccessKeyId: 'ALPHAKEY', aCl: 'private', pOLICy: text, sIgNaTuRe };
  const answer = await rig.send({
    method: 'POST',
    url: '/photos',
    headers: { 'content-type': TYPE },
    body: formOf(fields, 'x'),
  });
  assert.equal(answer.status, 204, answer.body.toString());
});

test('a policy document that is not whole is refused', async () => {
  const { expiration, conditions } = oldPolicy();
  const cases: unknown[] = [
    { conditions },
    { expiration },
    { EXPIRATION: expiration, conditions },
    { expiration, CONDITIONS: conditions },
    { expiration: '2026-11-17 12:00:00', conditions },
    { expiration, conditions: [...conditions, {}] },
    { expiration, conditions: [...conditions, { acl: 'private', tagging: '' }] },
    { expiration, conditions: [...conditions, ['content-length-range', 0]] },
    { expiration, conditions: [...conditions, ['content-length-range', -1, 5]] },
    { expiration, conditions: [...conditions, ['eq', 'key', 'up/a']] },
  ];
  for (const policy of cases) {
    const answer = await postOld({ key: 'up/a' }, policy);
    assert.equal(answer.code, 'InvalidPolicyDocument', `${JSON.stringify(policy)} ${answer.body.toString()}`);
  }
  assert.equal(rig.store.objects.size, 0);
});

test('all ranges of a policy hold, and each type of a list has the prefix', async () => {
  const ranges = oldPolicy(['content-length-range', 0, 5], ['content-length-range', '0', '100']);
  assert.equal((await postOld({ key: 'up/a' }, ranges)).code, 'EntityTooLarge');
  const images = oldPolicy(['starts-with', '$Content-Type', 'image/']);
  assert.equal((await postOld({ key: 'up/a', 'Content-Type': 'image/png, image/gif' }, images)).status, 204);
  assert.equal((await postOld({ key: 'up/a', 'Content-Type': 'image/png,text/html' }, images)).code, 'AccessDenied');
});

test('a form gets the answer it asks for, or 204 where that makes no sense', async () => {
  const wanted = async (fields: Readonly<Record<string, string>>) => {
    const rules = Object.entries(fields).map(([name, value]) => ({ [name]: value }));
    return postOld({ key: 'up/a', ...fields }, oldPolicy(...rules));
  };
  assert.equal((await wanted({ success_action_status: '200' })).status, 200);
  assert.equal((await wanted({ success_action_status: '404' })).status, 204);
  assert.equal((await wanted({ success_action_redirect: 'no address' })).status, 204);
  assert.equal((await wanted({ success_action_redirect: 'javascript:alert(1)' })).status, 204);
  assert.equal((await wanted({ redirect: 'http://example.org/' })).status, 303);
  const ignored = await postOld({ key: 'up/a', 'x-ignore-foo': 'bar' });
  assert.equal(ignored.status, 204, 'fields that begin with x-ignore- need no condition');
});

test('a path in front of a file name is not taken over', async () => {
  assert.equal((await post({ filename: 'C:\\\\tmp\\\\..\\\\dog.jpg' })).status, 204);
  assert.deepEqual([...rig.store.objects.keys()], [`${photos.id}/up/dog.jpg`]);
});

test('a form that does not fit its policy is refused and stores nothing', async () => {
  const cases: [Wanted, string, RegExp?][] = [
    [{ expiration: new Date(NOW - 1).toISOString() }, 'AccessDenied', /expired/],
    [{ fields: { ...FIELDS, key: 'down/x' } }, 'AccessDenied', /starts-with/],
    [{ fields: { ...FIELDS, 'Content-Type': 'text/html' } }, 'AccessDenied', /content-type/],
    [{ fields: { ...FIELDS, acl: 'public-read' } }, 'AccessDenied', /Extra input fields: acl/],
    [{ fields: { 'Content-Type': 'image/png' } }, 'InvalidArgument', /key/],
    [{ conditions: CONDITIONS.slice(1) }, 'AccessDenied', /bucket/],
    [{ conditions: [{ bucket: 'other' }, ...CONDITIONS.slice(1)] }, 'AccessDenied', /bucket/],
    [{ file: 'x' }, 'EntityTooSmall'],
    [{ file: 'x'.repeat(101) }, 'EntityTooLarge'],
    [{ file: 'x'.repeat(300_000) }, 'EntityTooLarge'],
    [{ change: { 'x-amz-signature': '0'.repeat(64) } }, 'SignatureDoesNotMatch'],
    [{ change: { policy: Buffer.from('{}').toString('base64') } }, 'SignatureDoesNotMatch'],
    [{ change: { 'x-amz-credential': 'UNKNOWN/20261116/north-1/s3/aws4_request' } }, 'InvalidAccessKeyId'],
    [{ change: { 'x-amz-credential': 'ALPHAKEY/20261116/south-1/s3/aws4_request' } }, 'InvalidArgument'],
    [{ change: { 'x-amz-algorithm': 'AWS4-HMAC-SHA1' } }, 'InvalidArgument'],
    [{ change: { 'x-amz-date': 'today' } }, 'InvalidArgument'],
    [{ conditions: [['matches', '$key', '.*']] }, 'InvalidPolicyDocument'],
    [{ fields: { ...FIELDS, 'x-amz-meta-mood': 'a\r\nset-cookie: b' } }, 'InvalidArgument'],
    [{ fields: { ...FIELDS, key: `up/${'x'.repeat(1024)}` } }, 'KeyTooLongError'],
    [{ fields: { ...FIELDS, key: 'up/\0' } }, 'InvalidArgument'],
    [{ fields: { ...FIELDS, 'x-amz-meta-mood': 'x'.repeat(70_000) } }, 'MaxPostPreDataLengthExceeded'],
  ];
  for (const [wanted, code, message] of cases) {
    const answer = await post(wanted);
    assert.equal(answer.code, code, `${JSON.stringify(wanted).slice(0, 200)}: ${answer.body.toString()}`);
    if (message) assert.match(answer.body.toString(), message);
    assert.equal(rig.store.objects.size, 0);
  }
});

test('an anonymous form needs a bucket with public write access', async () => {
  const send = (bucket: string) =>
    rig.send({ method: 'POST', url: `/${bucket}`, headers: { 'content-type': TYPE }, body: formOf({ key: 'a' }, 'x') });
  assert.equal((await send('photos')).code, 'AccessDenied');
  rig.store.addBucket({ account: ALPHA, name: 'drop', settings: { acl: 'public-read-write' } });
  assert.equal((await send('drop')).status, 204);
});

test('a field that comes byte by byte is read once, not once for every byte', async (t) => {
  const whole = formOf({ key: 'a'.repeat(60_000) }, 'x');
  async function* bytes(): AsyncGenerator<Uint8Array, void> {
    for (let at = 0; at < whole.length; at += 1) yield whole.subarray(at, at + 1);
  }
  let copied = 0;
  const concat = Buffer.concat.bind(Buffer);
  t.mock.method(Buffer, 'concat', (list: readonly Uint8Array[]) => {
    const joined = concat(list);
    copied += joined.length;
    return joined;
  });
  const form = await readForm(TYPE, bytes());
  assert.equal(form.fields.get('key')?.length, 60_000);
  assert.ok(copied < 10 * whole.length, `${copied} bytes were copied`);
});

test('the tags of a form are read only for users who may write to the bucket', async () => {
  const send = (bucket: string) => {
    const body = formOf({ key: 'a', tagging: '<Tagging><TagSet>' }, 'x');
    return rig.send({ method: 'POST', url: `/${bucket}`, headers: { 'content-type': TYPE }, body });
  };
  assert.equal((await send('photos')).code, 'AccessDenied');
  assert.equal((await send('nowhere')).code, 'AccessDenied');
  rig.store.addBucket({ account: ALPHA, name: 'drop', settings: { acl: 'public-read-write' } });
  assert.equal((await send('drop')).code, 'MalformedXML');
});

test('what is no form is refused', async () => {
  const whole = formOf({ key: 'a' }, 'x').toString();
  const cases: [string, string][] = [
    ['no boundary at all', 'MalformedPOSTRequest'],
    [whole.slice(0, 60), 'MalformedPOSTRequest'],
    [whole.slice(0, -50), 'MalformedPOSTRequest'],
    [formOf({ key: 'a' }).toString(), 'InvalidArgument'],
    [whole.replace('name="key"', 'nothing'), 'MalformedPOSTRequest'],
  ];
  rig.store.addBucket({ account: ALPHA, name: 'drop', settings: { acl: 'public-read-write' } });
  for (const [body, code] of cases) {
    const answer = await rig.send({ method: 'POST', url: '/drop', headers: { 'content-type': TYPE }, body });
    assert.equal(answer.code, code, body.slice(0, 80));
  }
  const type = { 'content-type': 'multipart/form-data' };
  assert.equal(
    (await rig.send({ method: 'POST', url: '/drop', headers: type, body: whole })).code,
    'MalformedPOSTRequest',
  );
  assert.equal(rig.store.objects.size, 0);
});

test('a file comes through as it is, however the form is cut into packets', async () => {
  const nearly = fc.constantFrom('\r\n', '--', BOUNDARY, `\r\n--${BOUNDARY.slice(0, -1)}`, '\r', '\n');
  const pieces = fc.array(fc.oneof(nearly, fc.string({ maxLength: 20 })), { maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(pieces, fc.integer({ min: 1, max: 60 }), async (texts, step) => {
      const file = texts.join('');
      fc.pre(!file.includes(`\r\n--${BOUNDARY}`) && !`${file}\r\n`.includes(`\r\n--${BOUNDARY}`));
      const body = formOf({ key: 'k', other: 'ö' }, file);
      const packets = async function* () {
        for (let at = 0; at < body.length; at += step) yield body.subarray(at, at + step);
      };
      const form = await readForm(TYPE, packets());
      assert.deepEqual(
        [...form.fields],
        [
          ['key', 'k'],
          ['other', 'ö'],
        ],
      );
      const got: Uint8Array[] = [];
      for await (const piece of form.file()) got.push(Buffer.from(piece));
      assert.equal(Buffer.concat(got).toString(), Buffer.from(file).toString());
    }),
  );
});

test('a key that names the file thousands of times is not put together', async (t) => {
  const replaceAll = t.mock.method(String.prototype, 'replaceAll');
  const body = formOf({ key: '${filename}'.repeat(5_000) }, 'x', 'f'.repeat(7_000));
  const answer = await rig.send({ method: 'POST', url: '/photos', headers: { 'content-type': TYPE }, body });
  const longest = Math.max(0, ...replaceAll.mock.calls.map(({ result }) => String(result).length));
  replaceAll.mock.restore();
  assert.equal(answer.code, 'KeyTooLongError');
  assert.ok(longest < 100_000, `a text of ${longest} characters`);
});
