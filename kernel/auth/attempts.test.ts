import assert from 'node:assert/strict';
import { test } from 'node:test';
import { turns } from '../../testing/turns.ts';
import { ManualClock } from '../clock.ts';
import { GranaryError } from '../errors.ts';
import { SignInAttempts, type AttemptLimits } from './attempts.ts';

const jo = { username: 'jo', ip: '192.0.2.1' };

function setUp(limits: Partial<AttemptLimits> = {}) {
  const clock = new ManualClock('2026-01-01T00:00:00Z');
  const waits: number[] = [];
  const attempts = new SignInAttempts({ clock, limits, wait: async (ms) => waits.push(ms) });
  const tryIn = (who: { username: string; ip: string }, right = false) =>
    attempts.guard(who, async () => (right ? 'in' : undefined)).catch((error: unknown) => error);
  return { clock, waits, attempts, tryIn };
}

const entryOf = (result: unknown) => (result instanceof GranaryError ? result.entry : result);

test('a right password gets in, a wrong one is invalid credentials', async () => {
  const { tryIn } = setUp();
  assert.equal(await tryIn(jo, true), 'in');
  assert.equal(entryOf(await tryIn(jo)), 'invalid_credentials');
});

test('the first failures are answered at once, further ones ever more slowly up to a limit', async () => {
  const { tryIn, waits } = setUp({ unslowed: 2, slowMsMax: 300 });
  for (let n = 0; n < 6; n += 1) await tryIn(jo);
  assert.deepEqual(waits, [100, 200, 300, 300]);
});

test('after many failures of a name from one address even the right password is refused there, and the error says for how long', async () => {
  const { tryIn, attempts, clock } = setUp({ perUsername: 3, blockMs: 10_000 });
  attempts.check(jo);
  for (let n = 0; n < 3; n += 1) await tryIn(jo);
  const refused = (await tryIn({ ...jo, username: 'JO' }, true)) as GranaryError;
  assert.equal(refused.entry, 'too_many_attempts');
  assert.equal(refused.headers['retry-after'], '10');
  assert.throws(() => attempts.check(jo), { entry: 'too_many_attempts' });
  clock.advance(10_001);
  assert.equal(await tryIn(jo, true), 'in');
  assert.equal(entryOf(await tryIn(jo)), 'invalid_credentials', 'a success wipes the slate clean');
});

test('failures from elsewhere lock no user out; many failures of a name only slow its wrong passwords', async () => {
  const { tryIn, waits } = setUp({ perUsername: 3, unslowed: 3, slowMsMax: 300 });
  for (let n = 0; n < 30; n += 1) await tryIn({ ...jo, ip: `198.51.100.${n}` });
  assert.deepEqual([waits.length, Math.max(...waits)], [27, 300]);
  assert.equal(entryOf(await tryIn(jo)), 'invalid_credentials');
  assert.equal(waits.at(-1), 300);
  assert.equal(await tryIn(jo, true), 'in');
});

test('each failure after the limit doubles the time out, up to a limit', async () => {
  const { tryIn, clock } = setUp({ perUsername: 1, blockMs: 1_000, blockMsMax: 3_000 });
  const seconds: string[] = [];
  for (let n = 0; n < 4; n += 1) {
    await tryIn(jo);
    const refused = (await tryIn(jo)) as GranaryError;
    seconds.push(refused.headers['retry-after'] ?? '');
    clock.advance(Number(refused.headers['retry-after']) * 1000);
  }
  assert.deepEqual(seconds, ['1', '2', '3', '3']);
});

test('an address that guesses at many names is kept out, and a success of its own does not help it', async () => {
  const { tryIn } = setUp({ perAddress: 5 });
  for (let n = 0; n < 4; n += 1) await tryIn({ username: `user${n}`, ip: jo.ip });
  assert.equal(await tryIn(jo, true), 'in');
  await tryIn({ username: 'user5', ip: jo.ip });
  assert.equal(entryOf(await tryIn({ username: 'user6', ip: jo.ip }, true)), 'too_many_attempts');
  assert.equal(await tryIn({ username: 'user6', ip: '192.0.2.9' }, true), 'in', 'others are not kept out');
});

test('of guesses sent at the same moment no more are checked than may fail', async () => {
  const { attempts } = setUp({ perUsername: 5 });
  let checked = 0;
  const results = await Promise.allSettled(
    Array.from({ length: 100 }, () =>
      attempts.guard(jo, async () => {
        checked += 1;
        return undefined;
      }),
    ),
  );
  assert.equal(results.filter(({ status }) => status === 'rejected').length, 100);
  assert.equal(checked, 5);
});

test('right passwords sent at the same moment all get in', async () => {
  const { attempts, tryIn } = setUp({ perUsername: 5 });
  for (let n = 0; n < 3; n += 1) await tryIn(jo);
  const slowly = () => turns(3).then(() => 'in');
  const results = await Promise.all(Array.from({ length: 50 }, () => attempts.guard(jo, slowly)));
  assert.deepEqual(new Set(results), new Set(['in']));
});

test('failures are forgotten with time', async () => {
  const { tryIn, clock } = setUp({ perUsername: 2, memoryMs: 60_000 });
  await tryIn(jo);
  clock.advance(60_001);
  await tryIn(jo);
  assert.equal(await tryIn(jo, true), 'in');
});

test('a wrong key is refused; the names and addresses remembered are limited', async () => {
  const { attempts } = setUp({ entriesMax: 10 });
  for (let n = 0; n < 50; n += 1)
    await assert.rejects(attempts.refuse({ username: `key${n}`, ip: `198.51.100.${n}` }), {
      entry: 'invalid_credentials',
    });
  assert.ok(attempts.size <= 10);
});

test('a name shows as refused while sign-ins are, and not after it', async () => {
  const { tryIn, attempts, clock } = setUp({ perUsername: 2, blockMs: 10_000 });
  await tryIn(jo);
  assert.equal(attempts.isRefused('jo'), false);
  await tryIn(jo);
  assert.equal(attempts.isRefused('JO'), true);
  assert.equal(attempts.isRefused('ann'), false);
  clock.advance(10_001);
  assert.equal(attempts.isRefused('jo'), false);
});

test('all addresses of an IPv6 /64 count as one', async () => {
  const { tryIn } = setUp({ perUsername: 3 });
  for (let n = 1; n <= 3; n += 1) await tryIn({ ...jo, ip: `2001:db8::${n}` });
  assert.equal(entryOf(await tryIn({ ...jo, ip: '2001:db8:0:0:ffff::1' }, true)), 'too_many_attempts');
  assert.equal(await tryIn({ ...jo, ip: '2001:db8:0:1::1' }, true), 'in');
});
