import assert from 'node:assert/strict';
import { test } from 'node:test';
import { opensToCaller, opensToReferrer, parseAcl, storedAcl } from './acl.ts';

const id1 = '1'.repeat(32);
const u1 = 'a1'.repeat(16);
const caller = { account: id1, accountName: 'alpha', user: u1, username: 'ann', role: 'member' } as const;
const read = (text: string) => parseAcl('X-Container-Read', text);

test('accounts are opened to by id, users by id or by their name within an account', () => {
  for (const text of [id1, `${id1}:ann`, `${id1}:${u1}`, `${id1}:*`, `*:${u1}`, '*:*', `${u1}:x, ${id1}:ann`]) {
    assert.equal(opensToCaller(read(text), caller), true, text);
  }
  for (const text of ['', u1, `${id1}:bob`, `${u1}:ann`, `${u1}:*`, `*:${id1}`]) {
    assert.equal(opensToCaller(read(text), caller), false, text);
  }
  assert.equal(opensToCaller(read('*:*'), null), false);
});

test('a name that any account can take grants no access', () => {
  for (const text of ['alpha', 'alpha:ann', 'alpha:*', '*:ann', '*', `${id1}:`, ':ann', '*:'])
    assert.throws(() => read(text), { status: 400 }, text);
  const posing = { ...caller, account: 'f'.repeat(32), user: 'e'.repeat(32), username: u1, accountName: id1 };
  for (const text of [id1, `${id1}:${u1}`, `*:${u1}`]) assert.equal(opensToCaller(read(text), posing), false, text);
  for (const text of ['alpha', 'alpha:ann', '*:ann']) assert.equal(opensToCaller(storedAcl(text), caller), false, text);
  assert.equal(opensToCaller(storedAcl(`alpha,${id1}`), caller), true);
  const within = { ...caller, user: 'e'.repeat(32), username: u1 };
  assert.equal(opensToCaller(read(`${id1}:${u1}`), within), false, 'a user named like the id of another');
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
