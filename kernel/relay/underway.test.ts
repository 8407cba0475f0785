import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Underway } from './underway.ts';

/** Runs until its signal says that it ends, and tells so. */
function begin(underway: Underway, actor: { id: string; sessionId?: number; person?: string }) {
  return underway.run(
    actor,
    (signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true })),
  );
}

test('a person has 64 at a time, and takes none of those of others who act as the same user', async () => {
  const underway = new Underway();
  const one = { id: 'user:1', person: 'dana' };
  const running = Array.from({ length: 64 }, () => begin(underway, one));
  await assert.rejects(begin(underway, one), /64/);
  running.push(begin(underway, { id: 'user:1', person: 'lee' }), begin(underway, { id: 'user:1' }));
  // What takes the rights of the user ends all of them.
  underway.endUser('user:1');
  await Promise.all(running);
  const again = begin(underway, one);
  underway.endUser('user:1');
  await again;
});

test('a session ends what it has under way, and nothing else of its user', async () => {
  const underway = new Underway();
  const [first, second] = [begin(underway, { id: 'u', sessionId: 1 }), begin(underway, { id: 'u', sessionId: 2 })];
  underway.endSession(1);
  await first;
  underway.endUser('u', 2);
  assert.equal(await Promise.race([second.then(() => 'ended'), Promise.resolve('goes on')]), 'goes on');
  underway.endUser('u');
  await second;
});
