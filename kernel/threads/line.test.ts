import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MessageChannel } from 'node:worker_threads';
import { Line, type PackedError } from './line.ts';

interface Sums {
  add: { args: readonly number[]; result: number };
  fail: { args: string; result: never };
}
interface Nothing {
  nothing: { args: null; result: null };
}

function pair(t: { after(work: () => void): void }) {
  const { port1, port2 } = new MessageChannel();
  t.after(() => port1.close());
  const revive = ({ message, code }: PackedError) => Object.assign(new Error(message), { code });
  const answers = {
    add: async (numbers: readonly number[]) => numbers.reduce((sum, each) => sum + each, 0),
    fail: (code: string): never => {
      throw Object.assign(new Error('refused'), { code });
    },
  };
  const asked = new Line<Sums, Nothing>(port2, { answers, revive });
  return { line: new Line<Nothing, Sums>(port1, { answers: { nothing: () => null }, revive }), asked };
}

test('questions asked at once are each answered', async (t) => {
  const { line } = pair(t);
  const sums = await Promise.all([line.ask('add', [1, 2]), line.ask('add', [3]), line.ask('add', [])]);
  assert.deepEqual(sums, [3, 3, 0]);
});

test('a refusal arrives as an error with its code', async (t) => {
  const { line } = pair(t);
  await assert.rejects(line.ask('fail', 'no-space'), { message: 'refused', code: 'no-space' });
});

test('calls to a side that has ended are rejected with the reason, pending and later ones', async (t) => {
  const { line } = pair(t);
  const waiting = line.ask('add', [1]);
  line.close(new Error('the thread ended'));
  await assert.rejects(waiting, /the thread ended/);
  await assert.rejects(line.ask('add', [1]), /the thread ended/);
});
