import assert from 'node:assert/strict';
import { scryptSync } from 'node:crypto';
import { test } from 'node:test';
import { cpuMs } from '../../testing/timing.ts';
import { assertBrief } from '../edge/testing/blocking.ts';
import { hashPassword, verifyPassword } from './passwords.ts';

test('a password is known by its hash, and another is not', async () => {
  const stored = await hashPassword('correct horse battery');
  assert.equal(await verifyPassword('correct horse battery', stored), true);
  assert.equal(await verifyPassword('correct horse batterz', stored), false);
  assert.equal(await verifyPassword('', stored), false);
});

test('a hash takes 32 MB and 32,768 rounds of scrypt, so that guessing is slow', async () => {
  const [, salt = '', hash = ''] = (await hashPassword('swordfish')).split('$');
  const cost = { N: 32_768, r: 8, p: 1, maxmem: 64 * 2 ** 20 };
  const expected = scryptSync('swordfish', Buffer.from(salt, 'base64'), 32, cost);
  assert.equal(hash, expected.toString('base64'));
});

test('the same password is kept in another form each time, and never as it is', async () => {
  const [first, second] = await Promise.all([hashPassword('swordfish'), hashPassword('swordfish')]);
  assert.notEqual(first, second);
  assert.doesNotMatch(first, /swordfish/);
});

test('a password is the same however its letters were composed', async () => {
  const stored = await hashPassword('caf\u00e9');
  assert.equal(await verifyPassword('cafe\u0301', stored), true);
});

test('a user that does not exist takes as long as one that does', async () => {
  const stored = await hashPassword('swordfish');
  const known = await cpuMs(() => verifyPassword('guess', stored));
  const unknown = await cpuMs(() => verifyPassword('guess', undefined));
  assert.equal(await verifyPassword('', undefined), false);
  assert.ok(unknown > known / 4 && known > unknown / 4, `${known} ms known, ${unknown} ms unknown`);
});

test('many at once are all answered', async () => {
  const stored = await hashPassword('swordfish');
  const guesses = Array.from({ length: 9 }, (_, n) => (n % 2 === 0 ? 'swordfish' : 'guess'));
  const answers = await Promise.all(guesses.map((guess) => verifyPassword(guess, stored)));
  assert.deepEqual(
    answers,
    guesses.map((guess) => guess === 'swordfish'),
  );
});

test('a very long password takes no time to compose, and is still itself', async () => {
  const long = `a${'\u0323\u0301'.repeat(15_000)}`;
  const stored = await hashPassword(long);
  await assertBrief('a long password', async () => assert.equal(await verifyPassword(long, stored), true));
  assert.equal(await verifyPassword(`${long}b`, stored), false);
});
