import assert from 'node:assert/strict';
import { test } from 'node:test';
import { idleWatch } from './idle-watch.ts';

test('a client that sends nothing for a minute is given up, one that shows signs of life is not', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const lost: string[] = [];
  const silent = idleWatch.begin(() => lost.push('silent'));
  const slow = idleWatch.begin(() => lost.push('slow'));
  const done = idleWatch.begin(() => lost.push('done'));
  idleWatch.end(done);
  t.mock.timers.tick(50_000);
  idleWatch.refresh(slow);
  assert.equal(lost.join(), '');
  t.mock.timers.tick(15_000);
  assert.equal(lost.join(), 'silent');
  idleWatch.end(silent);
  t.mock.timers.tick(50_000);
  assert.equal(lost.join(), 'silent,slow');
  idleWatch.end(slow);
  t.mock.timers.tick(5_000);
  idleWatch.begin(() => lost.push('later'));
  t.mock.timers.tick(65_000);
  assert.equal(lost.join(), 'silent,slow,later', 'it goes on after it had nothing to watch');
});
