import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { objectsApi } from '@granary/contract/objects';
import { Epoch } from '@granary/storage/objects';
import { expect } from '../../../../protocols/s3/testing/client.ts';
import { createLimits } from '../../serving/rate-limits.ts';
import { ThreadDirectory } from './thread-directory.ts';
import { PASSWORD, testObjects, type Person } from '../../../testing/test-objects.ts';

/**
 * Goal: threads cache users and accounts, but no request is accepted by what was valid before.
 * Method: every controller has learnt of a user by their requests; then the user, the account or a key goes, and the
 * very next requests are sent to all of them.
 */
const { accounts, users } = objectsApi.groups;
const objects = await testObjects({ after });
const home = await objects.account('webhosting');

/** More than enough for the system to have given a connection to each controller. */
const CONNECTIONS = 12;

/** What as many fresh connections are answered. */
async function answers(person: Person): Promise<number[]> {
  const statuses = Array.from({ length: CONNECTIONS }, async () => {
    const s3 = objects.s3(person);
    const { status } = await s3.call('GET', '/');
    s3.close();
    return status;
  });
  return [...new Set(await Promise.all(statuses))];
}

async function swiftAnswers(person: Person): Promise<number[]> {
  const statuses = Array.from({ length: CONNECTIONS }, async () => {
    const answer = await objects.swift(person, 'HEAD', '');
    return answer.status;
  });
  return [...new Set(await Promise.all(statuses))];
}

test('a disabled account is out with the next request, over S3 and Swift, and in again with the one after', async () => {
  const ada = await objects.user(home, 'ada', 'account_admin');
  assert.deepEqual([await answers(ada), await swiftAnswers(ada)], [[200], [204]]);
  await objects.client.call(accounts.disable, { account_id: home });
  assert.deepEqual(await answers(ada), [403]);
  const [refused] = await swiftAnswers(ada);
  assert.ok(refused === 401 || refused === 403, String(refused));
  await objects.client.call(accounts.enable, { account_id: home });
  assert.deepEqual([await answers(ada), await swiftAnswers(ada)], [[200], [204]]);
});

test('a disabled user is out with the next request, and others of the account are not', async () => {
  const [ben, cleo] = [await objects.user(home, 'ben'), await objects.user(home, 'cleo')];
  assert.deepEqual([await answers(ben), await answers(cleo)], [[200], [200]]);
  await objects.client.call(users.disable, { user_id: ben.id });
  assert.deepEqual([await answers(ben), await answers(cleo)], [[403], [200]]);
  await objects.client.call(users.enable, { user_id: ben.id });
  assert.deepEqual(await answers(ben), [200]);
});

test('the keys of a user that was deleted open nothing', async () => {
  const dora = await objects.user(home, 'dora', 'account_admin');
  assert.deepEqual([await answers(dora), await swiftAnswers(dora)], [[200], [204]]);
  await objects.client.call(users.delete, { id: dora.id });
  assert.deepEqual([await answers(dora), await swiftAnswers(dora)], [[403], [401]]);
});

test('a secret key that was replaced signs nothing, and the new one does', async () => {
  const emil = await objects.user(home, 'emil');
  assert.deepEqual(await answers(emil), [200]);
  const { credentials } = await objects.client.call(users.resetS3Secret, { username: 'emil', account: home });
  assert.deepEqual(await answers(emil), [403]);
  const s3 = objects.s3(emil);
  expect(await s3.call('GET', '/'), 403, 'SignatureDoesNotMatch');
  s3.close();
  const [renewed] = credentials;
  assert.ok(renewed);
  assert.deepEqual(await answers({ ...emil, s3: { access: renewed.access, secret: renewed.secret } }), [200]);
});

test('a token that was replaced opens nothing, nor does one of a password that was changed', async () => {
  const finn = await objects.user(home, 'finn', 'account_admin');
  assert.deepEqual(await swiftAnswers(finn), [204]);
  const who = { account: home, user: 'finn', password: PASSWORD };
  const { token } = await objects.anonymous.call(users.resetToken, who);
  assert.deepEqual([await swiftAnswers(finn), await swiftAnswers({ ...finn, token })], [[401], [204]]);
  await objects.anonymous.call(users.changePassword, { ...who, new_password: 'Pick-An0ther' });
  assert.deepEqual(await swiftAnswers({ ...finn, token }), [401]);
});

/** A directory of one thread on a line that answers with what `main` says. */
function alone(main: { token?: () => unknown; account?: () => unknown }) {
  const epoch = new Epoch();
  const asked: string[] = [];
  let now = 0;
  const line = {
    ask: async (call: 'token' | 'account') => {
      asked.push(call);
      return await main[call]?.();
    },
  } as unknown as ConstructorParameters<typeof ThreadDirectory>[0]['line'];
  const directory = new ThreadDirectory({ line, epoch: epoch.memory, limits: createLimits(), now: () => now });
  return {
    directory,
    asked,
    change: () => epoch.advance(),
    passTo: (time: number) => (now = time),
  };
}

const caller = { account: 'a', accountName: 'webhosting', user: 'u', username: 'gwen', role: 'member' };
const known = { caller, expiresAt: 1_000, limit: { slot: 0, changesPerSecond: 2 } };

test('a token that is remembered is good until it expires, and not for a request after', async () => {
  const { directory, asked, passTo } = alone({ token: () => known });
  assert.deepEqual(await directory.byToken('t'), known);
  passTo(999);
  assert.deepEqual(await directory.byToken('t'), known);
  assert.deepEqual(asked, ['token'], 'it is asked for once');
  passTo(1_000);
  assert.deepEqual(await directory.byToken('t'), { refused: 'expired' });
});

test('what was asked before a change and answered after it is not remembered', async () => {
  let answer: (value: unknown) => void = () => undefined;
  const { directory, asked, change } = alone({ token: () => new Promise((resolve) => (answer = resolve)) });
  const first = directory.byToken('t');
  change();
  answer(known);
  await first;
  const second = directory.byToken('t');
  assert.deepEqual(asked, ['token', 'token']);
  answer({ refused: 'unknown' });
  assert.deepEqual(await second, { refused: 'unknown' });
  void directory.byToken('t');
  assert.equal(asked.length, 3, 'refusals are not remembered');
});

test("an account's own limit goes before that of the array, and 0 is none", async () => {
  const { directory } = alone({ token: () => known });
  await directory.byToken('t');
  assert.deepEqual(
    [1, 2, 3].map(() => directory.mayChange('a', 100)),
    [true, true, false],
  );
  const free = alone({ token: () => ({ ...known, limit: { slot: 0, changesPerSecond: 0 } }) });
  await free.directory.byToken('t');
  assert.deepEqual(
    [1, 2, 3].map(() => free.directory.mayChange('a', 1)),
    [true, true, true],
  );
});
