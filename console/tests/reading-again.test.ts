import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { QueryClient, QueryObserver, type Query } from '@tanstack/react-query';
import { readAgain } from '../src/api/reading-again.ts';

/** Goal: changes that come faster than a list can be read do not make the page read it many times at once. */

/** A list that somebody looks at, read when the test says so. */
async function setUp(t: TestContext) {
  const client = new QueryClient();
  const waiting: (() => void)[] = [];
  let reads = 0;
  let atOnceMax = 0;
  const observer = new QueryObserver(client, {
    queryKey: ['list'],
    queryFn: () => {
      reads += 1;
      atOnceMax = Math.max(atOnceMax, waiting.length + 1);
      return new Promise<number>((resolve) => waiting.push(() => resolve(reads)));
    },
  });
  t.after(observer.subscribe(() => undefined));
  t.after(() => client.clear());
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const answer = async () => {
    waiting.shift()?.();
    for (let count = 0; count < 5; count += 1) await turn();
  };
  const [query] = client.getQueryCache().getAll() as [Query];
  return { client, query, answer, turn, reads: () => reads, atOnceMax: () => atOnceMax };
}

test('of changes that are heard while a list is read, one more reading comes, and none beside it', async (t) => {
  const { client, query, answer, turn, reads, atOnceMax } = await setUp(t);
  await answer();
  for (let change = 0; change < 10; change += 1) {
    void readAgain(client, query);
    await turn();
  }
  assert.equal(reads(), 2);
  await answer();
  assert.equal(reads(), 3, 'what changed while it was read is read');
  await answer();
  assert.deepEqual([reads(), atOnceMax()], [3, 1]);
});

test('what changed while the list was read for the first time is read after it', async (t) => {
  const { client, query, answer, reads } = await setUp(t);
  const done = readAgain(client, query);
  await answer();
  assert.equal(reads(), 2);
  await answer();
  await done;
});

test('a long reading is followed by a rest, but for who did something', async (t) => {
  const { client, query, answer, reads } = await setUp(t);
  await answer();
  let time = 0;
  const rests: number[] = [];
  let wake = () => {};
  const tools = {
    now: () => time,
    pause: (ms: number) => {
      rests.push(ms);
      return new Promise<void>((resolve) => (wake = resolve));
    },
  };
  const first = readAgain(client, query, { rests: true, ...tools });
  await new Promise((resolve) => setImmediate(resolve));
  time += 2_000;
  await answer();
  await first;
  const second = readAgain(client, query, { rests: true, ...tools });
  await answer();
  assert.deepEqual([rests, reads()], [[6_000], 2]);
  wake();
  await new Promise((resolve) => setImmediate(resolve));
  time += 2_000;
  await answer();
  await second;
  const resting = readAgain(client, query, { rests: true, ...tools });
  await new Promise((resolve) => setImmediate(resolve));
  const own = readAgain(client, query, tools);
  assert.equal(own, resting);
  await new Promise((resolve) => setImmediate(resolve));
  await answer();
  await own;
  assert.deepEqual([rests.length, reads()], [2, 4], 'who did something ends a rest');
});
