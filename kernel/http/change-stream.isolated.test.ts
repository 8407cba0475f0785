import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { ChangeStream } from './change-stream.ts';

const BEAT_MS = 15_000;
const member = { id: 'user:1', role: 'member' };

mock.timers.enable({ apis: ['setInterval', 'setTimeout'] });

async function textOf(stream: ChangeStream, after: () => void | Promise<void>): Promise<string> {
  let text = '';
  stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
  await after();
  await turn();
  return text;
}

test('a stream says every 15 seconds that it is there', async () => {
  const stream = new ChangeStream({ actor: member });
  const text = await textOf(stream, () => mock.timers.tick(2 * BEAT_MS));
  stream.destroy();
  assert.equal(text, ': changes follow\n\n: here\n\n: here\n\n');
});

test('a caller without a session is authenticated again every minute, and signed out when that fails', async () => {
  let isGood = true;
  const stream = new ChangeStream({ actor: member, isSignedIn: () => Promise.resolve(isGood) });
  const text = await textOf(stream, async () => {
    mock.timers.tick(4 * BEAT_MS);
    await turn();
    assert.ok(!stream.readableEnded);
    isGood = false;
    mock.timers.tick(4 * BEAT_MS);
    await turn();
  });
  assert.match(text, /event: signed_out\ndata: \{\}\n\n$/);
  assert.ok(stream.readableEnded);
});

test('a session is not kept alive by its stream: what ends it ends the stream', async () => {
  const isSignedIn = () => assert.fail('a session says itself when it ends');
  const stream = new ChangeStream({ actor: { ...member, sessionId: 1 }, isSignedIn });
  await textOf(stream, () => mock.timers.tick(20 * BEAT_MS));
  assert.ok(!stream.readableEnded);
  stream.destroy();
});
