import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '@granary/client/errors';
import { SessionKeeper, type Session } from '../src/app/session-keeper.ts';

/** Goal: whose session a browser shows. The service is a function here, and so is the clock. */

const alice: Session = {
  id: '1',
  username: 'alice',
  role: 'admin',
  csrf_token: 'token of 1',
  idle_minutes: 30,
  expires_at: '2026-01-01 12:00:00 UTC',
};
const bob: Session = { ...alice, id: '2', username: 'bob', role: 'user', csrf_token: 'token of 2' };
const refusal = new ApiError(401, 'Invalid credentials');

function browser(first: Session | Error) {
  let current = first;
  let drops = 0;
  let token: string | undefined;
  const said: string[] = [];
  const due: (() => void)[] = [];
  const keeper = new SessionKeeper({
    request: (method) => {
      if (current instanceof Error) return Promise.reject(current);
      return Promise.resolve(method === 'DELETE' ? undefined : current);
    },
    tell: (word) => said.push(word),
    setToken: (next) => {
      token = next;
    },
    drop: () => {
      drops += 1;
    },
    schedule: (action) => due.push(action),
  });
  return {
    keeper,
    said,
    answer: (next: Session | Error) => {
      current = next;
    },
    drops: () => drops,
    token: () => token,
    shown: () => keeper.snapshot().session?.username,
    fire: async () => {
      for (const action of due.splice(0)) action();
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

test('a service that does not answer is asked again; nobody is asked to sign in meanwhile', async () => {
  const { keeper, answer, fire, shown } = browser(new TypeError('fetch failed'));
  await keeper.start();
  assert.deepEqual(keeper.snapshot(), { session: undefined, hasEnded: false, isUnanswered: true });
  await fire();
  assert.equal(keeper.snapshot().session, undefined);
  answer(alice);
  await fire();
  assert.equal(shown(), 'alice');
  assert.equal(keeper.snapshot().isUnanswered, false);
});

test('without a session one is asked to sign in, and not told that one has ended', async () => {
  const { keeper } = browser(refusal);
  await keeper.start();
  assert.deepEqual(keeper.snapshot(), { session: null, hasEnded: false, isUnanswered: false });
});

test('signing out drops what was kept and tells the other tabs', async () => {
  const { keeper, said, drops, token } = browser(alice);
  await keeper.start();
  assert.deepEqual([drops(), token()], [0, 'token of 1']);
  await keeper.leave();
  assert.deepEqual([keeper.snapshot().session, drops(), token(), said], [null, 1, undefined, ['signed-out']]);
  assert.equal(keeper.snapshot().hasEnded, false);
});

test('a sign-out that did not reach the service is none', async () => {
  const { keeper, answer, said, drops, shown } = browser(alice);
  await keeper.start();
  answer(new TypeError('fetch failed'));
  await assert.rejects(keeper.leave());
  assert.deepEqual([shown(), drops(), said], ['alice', 0, []]);
  answer(refusal);
  await keeper.leave();
  assert.equal(keeper.snapshot().session, null);
});

test('when another person has signed in by another tab, nothing of the first one stays', async () => {
  const { keeper, answer, drops, token, shown } = browser(alice);
  await keeper.start();
  answer(bob);
  await keeper.look();
  assert.deepEqual([shown(), drops(), token()], ['bob', 1, 'token of 2']);
});

test('a tab that asks to sign in goes on when another tab has signed in', async () => {
  const { keeper, answer, fire, shown } = browser(refusal);
  await keeper.start();
  answer(bob);
  keeper.hear('signed-in');
  await fire();
  assert.equal(shown(), 'bob');
});

test('another role of the same session is followed, and drops nothing', async () => {
  const { keeper, answer, drops } = browser(alice);
  await keeper.start();
  answer({ ...alice, role: 'user' });
  await keeper.look();
  assert.deepEqual([keeper.snapshot().session?.role, drops()], ['user', 0]);
});

test('a session that is over when it is looked at ends; a service that is away ends nothing', async () => {
  const { keeper, answer, shown } = browser(alice);
  await keeper.start();
  answer(new TypeError('fetch failed'));
  await keeper.look();
  assert.equal(shown(), 'alice');
  answer(refusal);
  await keeper.look();
  assert.deepEqual(keeper.snapshot(), { session: null, hasEnded: true, isUnanswered: false });
});

test('who signed out is not told that the session ended', async () => {
  const { keeper } = browser(alice);
  await keeper.start();
  await keeper.leave();
  keeper.expire();
  keeper.hear('signed-out');
  assert.equal(keeper.snapshot().hasEnded, false);
});
