import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { tempUrlHeaders, verifyTempUrl, type TempUrlKey } from './temp-url.ts';

const PATH = '/v1/AUTH_a/c/folder/o';
const KEYS: TempUrlKey[] = [
  { key: 'one', scope: 'account' },
  { key: 'two', scope: 'container' },
];
const EXPIRES = 1_800_000_000;

function verify(
  query: Record<string, string>,
  changes: { method?: string; ip?: string; now?: number; object?: string } = {},
) {
  const object = changes.object ?? 'folder/o';
  const request = {
    method: changes.method ?? 'GET',
    path: `/v1/AUTH_a/c/${object}`,
    base: '/v1/AUTH_a/c/',
    object,
    query: new Map(Object.entries(query)),
    ip: changes.ip ?? '10.1.2.3',
    now: changes.now ?? (EXPIRES - 10) * 1000,
  };
  return verifyTempUrl(request, KEYS)?.scope;
}

function sign(text: string, key = 'one', algorithm = 'sha256') {
  return createHmac(algorithm, key).update(text).digest('hex');
}

const plain = `GET\n${EXPIRES}\n${PATH}`;

test('a signature of any known form opens the address until it expires', () => {
  for (const algorithm of ['sha1', 'sha256', 'sha512']) {
    const temp_url_sig = sign(plain, 'one', algorithm);
    const base64 = Buffer.from(temp_url_sig, 'hex').toString('base64');
    const query = { temp_url_expires: String(EXPIRES) };
    assert.equal(verify({ ...query, temp_url_sig }), 'account');
    assert.equal(verify({ ...query, temp_url_sig: `${algorithm}:${base64}` }), 'account');
    assert.equal(
      verify({ ...query, temp_url_sig: `${algorithm}:${base64.replaceAll('+', '-').replaceAll('/', '_')}` }),
      'account',
    );
    assert.equal(verify({ ...query, temp_url_sig }, { now: (EXPIRES + 1) * 1000 }), undefined);
  }
  assert.equal(verify({ temp_url_sig: sign(plain, 'two'), temp_url_expires: String(EXPIRES) }), 'container');
  const iso = new Date(EXPIRES * 1000).toISOString().replace('.000', '');
  assert.equal(verify({ temp_url_sig: sign(plain), temp_url_expires: iso }), 'account');
});

test('every part that is signed is checked', () => {
  const query = { temp_url_sig: sign(plain), temp_url_expires: String(EXPIRES) };
  assert.equal(verify({ ...query, temp_url_expires: String(EXPIRES + 1) }), undefined);
  assert.equal(verify(query, { object: 'folder/p' }), undefined);
  assert.equal(verify(query, { method: 'PUT' }), undefined);
  assert.equal(verify(query, { method: 'DELETE' }), undefined);
  assert.equal(verify({ ...query, temp_url_prefix: '' }), undefined);
  assert.equal(verify({ ...query, temp_url_ip_range: '0.0.0.0/0' }), undefined);
  assert.equal(verify({ ...query, temp_url_sig: sign(plain, 'three') }), undefined);
  for (const temp_url_sig of ['', 'x'.repeat(64), 'md5:abcd', `sha256:${'='.repeat(10)}`]) {
    assert.equal(verify({ ...query, temp_url_sig }), undefined);
  }
});

test('who may get or put may ask for headers, but not the other way round', () => {
  const query = { temp_url_sig: sign(plain), temp_url_expires: String(EXPIRES) };
  assert.equal(verify(query, { method: 'HEAD' }), 'account');
  const put = { ...query, temp_url_sig: sign(`PUT\n${EXPIRES}\n${PATH}`) };
  assert.equal(verify(put, { method: 'HEAD' }), 'account');
  assert.equal(verify({ ...query, temp_url_sig: sign(`HEAD\n${EXPIRES}\n${PATH}`) }), undefined);
});

test('a prefix opens names that begin with it, a range the addresses in it', () => {
  const prefix = {
    temp_url_prefix: 'folder/',
    temp_url_sig: sign(`GET\n${EXPIRES}\nprefix:/v1/AUTH_a/c/folder/`),
    temp_url_expires: String(EXPIRES),
  };
  assert.equal(verify(prefix), 'account');
  assert.equal(verify(prefix, { object: 'other' }), undefined);
  const range = (text: string) => ({
    temp_url_ip_range: text,
    temp_url_sig: sign(`ip=${text}\n${plain}`),
    temp_url_expires: String(EXPIRES),
  });
  assert.equal(verify(range('10.1.0.0/16')), 'account');
  assert.equal(verify(range('10.1.2.3')), 'account');
  assert.equal(verify(range('10.1.0.0/16'), { ip: '::ffff:10.1.9.9' }), 'account');
  assert.equal(verify(range('10.2.0.0/16')), undefined);
  assert.equal(verify(range('10.1.0.0/99')), undefined);
  assert.equal(verify(range('fe80::/10')), undefined);
});

test('metadata is kept from holders of temporary addresses unless it is public', () => {
  const shown = tempUrlHeaders(
    { 'X-Object-Meta-A': '1', 'X-Object-Meta-Public-B': '2', Etag: 'x' },
    new Map([['temp_url_expires', String(EXPIRES)]]),
    'a/b "ü".txt',
  );
  assert.deepEqual(Object.keys(shown), ['X-Object-Meta-Public-B', 'Etag', 'Content-Disposition', 'Expires']);
  assert.match(
    String(shown['Content-Disposition']),
    /^attachment; filename="b%20%22%C3%BC%22.txt"; filename\*=UTF-8''b%20/,
  );
  assert.equal(tempUrlHeaders({}, new Map([['inline', '']]), 'x')['Content-Disposition'], 'inline');
});
