import assert from 'node:assert/strict';
import { test } from 'node:test';
import { opensToCaller, opensToReferrer, parseAcl } from './acl.ts';

const caller = { account: 'id1', accountName: 'alpha', user: 'u1', username: 'ann', role: 'member' } as const;
const read = (text: string) => parseAcl('X-Container-Read', text);

test('accounts and users are opened to by id and by name', () => {
  for (const text of ['alpha', 'id1', 'alpha:ann', 'id1:u1', 'alpha:*', '*:ann', '*:*', 'x:y, alpha:ann']) {
    assert.equal(opensToCaller(read(text), caller), true, text);
  }
  for (const text of ['*', 'beta', 'alpha:bob', 'beta:ann', '', 'beta:*']) {
    assert.equal(opensToCaller(read(text), caller), false, text);
  }
  assert.equal(opensToCaller(read('*:*'), null), false);
});

test('the last referrer entry that fits decides', () => {
  const opens = (text: string, referer?: string) => opensToReferrer(read(text), referer);
  assert.equal(opens('.r:*'), true);
  assert.equal(opens('.r:*,.r:-.bad.com', 'http://www.bad.com/x'), false);
  assert.equal(opens('.r:*,.r:-.bad.com', 'http://good.com/x'), true);
  assert.equal(opens('.r:.good.com', 'https://www.good.com/'), true);
  assert.equal(opens('.r:.good.com', 'https://nogood.com/'), false);
  assert.equal(opens('.referrer:good.com', 'https://good.com:8080/'), true);
  assert.equal(opens('.r:good.com'), false);
});

test('what cannot be understood is refused', () => {
  for (const text of ['.r:', '.r', '.x:y', '.r:-', '.r:a/b']) assert.throws(() => read(text), { status: 400 }, text);
  assert.throws(() => parseAcl('X-Container-Write', '.r:*'), { status: 400 });
  assert.throws(() => read('a'.repeat(5000)), { status: 400 });
});
