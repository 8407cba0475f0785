import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { Outbox } from './outbox.ts';

function setUp() {
  const sent: string[][] = [];
  const refused: string[] = [];
  const outbox = new Outbox<string>({
    post: (messages) => {
      if (messages.some((message) => message.startsWith('bad'))) throw new Error('it cannot cross');
      sent.push([...messages]);
    },
    onUnsendable: (message) => refused.push(message),
  });
  return { outbox, sent, refused };
}

test('what is noted in one turn goes as one, in order', async () => {
  const { outbox, sent } = setUp();
  for (const each of ['a', 'b', 'c']) outbox.add(each);
  assert.deepEqual(sent, []);
  await turn();
  outbox.add('d');
  await turn();
  assert.deepEqual(sent, [['a', 'b', 'c'], ['d']]);
});

test('what must go at once does not overtake what waits', async () => {
  const { outbox, sent } = setUp();
  outbox.add('a');
  outbox.send('b');
  await turn();
  assert.deepEqual(sent, [['a'], ['b']]);
});

test('one that cannot cross keeps none of the others', async () => {
  const { outbox, sent, refused } = setUp();
  for (const each of ['a', 'bad', 'c']) outbox.add(each);
  await turn();
  assert.deepEqual([sent, refused], [[['a'], ['c']], ['bad']]);
  assert.throws(() => outbox.send('bad'));
});
