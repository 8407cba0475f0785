import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { QueryClient, QueryObserver } from '@tanstack/react-query';
import { paced } from '../src/api/paced.ts';
import { refreshPaced } from '../src/api/refresh.ts';

const place = { base: '/via/1' };

/** A clock that stands still but for `pass`, and work that takes the time it is told. */
function setUp(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  const pass = async (ms: number) => {
    now += ms;
    t.mock.timers.tick(ms);
    for (let turns = 0; turns < 5; turns += 1) await turn();
  };
  return { pass };
}

test('work that is asked for all the time takes a fifth of it, and the last request is served', async (t) => {
  const { pass } = setUp(t);
  let runs = 0;
  const ask = paced(() => {
    runs += 1;
    return new Promise((resolve) => setTimeout(resolve, 100));
  });
  for (let asked = 0; asked < 100; asked += 1) {
    ask();
    await pass(50);
  }
  assert.ok(runs >= 9 && runs <= 11, `${runs} runs of 100 ms in 5 s`);
  const before = runs;
  await pass(1_000);
  await pass(1_000);
  assert.ok(runs <= before + 1);
});

test('work that fails is done again when it is asked for', async (t) => {
  const { pass } = setUp(t);
  let runs = 0;
  const ask = paced(() => {
    runs += 1;
    return Promise.reject(new Error('away'));
  });
  ask();
  await pass(1);
  ask();
  await pass(10);
  assert.equal(runs, 2);
});

test('a list that takes longer to read than changes take to come is read to its end', async (t) => {
  const { pass } = setUp(t);
  const client = new QueryClient();
  let [begun, ended, state] = [0, 0, 'first'];
  const observer = new QueryObserver(client, {
    queryKey: [place.base, 'volumes', 'all'],
    queryFn: async () => {
      begun += 1;
      const read = state;
      await new Promise((resolve) => setTimeout(resolve, 3_000));
      ended += 1;
      return read;
    },
  });
  const stop = observer.subscribe(() => undefined);
  state = 'second';
  for (let change = 0; change < 60; change += 1) {
    refreshPaced(client, place, ['volumes']);
    await pass(1_000);
  }
  assert.ok(begun - ended <= 1, 'one at a time');
  assert.ok(ended >= 4 && ended <= 8, `read ${ended} times in a minute`);
  assert.equal(observer.getCurrentResult().data, 'second');
  stop();
  client.clear();
});

test('what was being read when it changed is read once more', async (t) => {
  const { pass } = setUp(t);
  const client = new QueryClient();
  let state = 'before';
  const observer = new QueryObserver(client, {
    queryKey: [place.base, 'pools', 'list'],
    queryFn: async () => {
      const read = state;
      await new Promise((resolve) => setTimeout(resolve, 100));
      return read;
    },
  });
  const stop = observer.subscribe(() => undefined);
  state = 'after';
  refreshPaced(client, place, ['pools']);
  await pass(100);
  await pass(100);
  assert.equal(observer.getCurrentResult().data, 'after');
  stop();
  client.clear();
});
