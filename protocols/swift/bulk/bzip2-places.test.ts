import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Bzip2Places } from './bzip2-places.ts';

function start() {
  let now = 0;
  const places = new Bzip2Places({ most: 4, mostOfAccount: 2, now: () => now });
  return { places, wait: (milliseconds: number) => (now += milliseconds) };
}

test('an account has half of the places at most', () => {
  const { places } = start();
  const [first] = [places.acquire('a'), places.acquire('a')];
  assert.equal(places.acquire('a'), undefined);
  assert.ok(places.acquire('b'));
  first?.release();
  assert.ok(places.acquire('a'));
});

test('slow uploads that hold all places make room, the slowest first', () => {
  const { places, wait } = start();
  const held = ['a', 'a', 'b', 'b'].map((account) => places.acquire(account)!);
  assert.equal(places.acquire('c'), undefined, 'all have just begun');
  wait(5_000);
  held.forEach((place, at) => place.received(at === 2 ? 10 : 1_000));
  assert.ok(places.acquire('c'));
  assert.deepEqual(
    held.map(({ signal }) => signal.aborted),
    [false, false, true, false],
  );
});

test('uploads that come fast enough keep their places', () => {
  const { places, wait } = start();
  const held = ['a', 'a', 'b', 'b'].map((account) => places.acquire(account)!);
  wait(10_000);
  for (const place of held) place.received(10 * 2 ** 20);
  assert.equal(places.acquire('c'), undefined);
});
