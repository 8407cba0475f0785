import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads';
import { Outbox } from './outbox.ts';

function setUp(later?: (send: () => void) => void) {
  const sent: string[][] = [];
  const refused: string[] = [];
  const outbox = new Outbox<string>({
    post: (messages) => {
      if (messages.some((message) => message.startsWith('bad'))) throw new Error('it cannot cross');
      sent.push([...messages]);
    },
    onUnsendable: (message) => refused.push(message),
    ...(later && { later }),
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

test('what should not wait for the end of the turn goes when all that was due at once is done', async () => {
  const { outbox, sent } = setUp((send) => process.nextTick(send));
  const turned = turn();
  await Promise.all(['a', 'b'].map(async (each) => outbox.add(await Promise.resolve(each))));
  await new Promise<void>((resolve) => process.nextTick(resolve));
  assert.deepEqual(sent, [['a', 'b']]);
  await turned;
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

test('what is to go over goes with its message, also when another one cannot cross', async (t) => {
  const { port1, port2 } = new MessageChannel();
  t.after(() => port1.close());
  const refused: unknown[] = [];
  const outbox = new Outbox<unknown>({
    post: (messages, transfer) => port1.postMessage(messages, transfer),
    onUnsendable: (message) => refused.push(message),
  });
  const received = () => receiveMessageOnPort(port2)?.message as unknown;
  const [first, second, third] = [1, 2, 3].map((byte) => Uint8Array.of(byte));
  assert.ok(first && second && third);
  outbox.add(first, [first.buffer]);
  outbox.add('plain');
  await turn();
  assert.deepEqual([received(), first.length], [[Uint8Array.of(1), 'plain'], 0]);
  const bad = () => undefined;
  outbox.add(second, [second.buffer]);
  outbox.add(bad);
  outbox.add(third, [third.buffer]);
  await turn();
  assert.deepEqual([received(), received(), refused], [[Uint8Array.of(2)], [Uint8Array.of(3)], [bad]]);
  assert.deepEqual([second.length, third.length], [0, 0]);
});
