import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nextRuns, scheduleProblem } from '../src/array/snapshots/next-runs.ts';
import { asSent, checkedBy, hostAndPort, keptNumber } from '../src/contract/field-rules.ts';

/** Goal: fields take what people type, send what the API wants, and say what is wrong before anything is sent. */

const rules = { ip: hostAndPort, delete_policy: keptNumber };

test('an address may be pasted as a browser has it', () => {
  for (const typed of ['10.0.0.9:8443', 'https://10.0.0.9:8443', ' HTTP://10.0.0.9:8443/ '])
    assert.deepEqual(asSent(rules, { ip: typed }), { ip: '10.0.0.9:8443' });
  assert.equal(hostAndPort.check?.('https://[fd00::1]:8443/'), undefined);
  assert.deepEqual(
    [...checkedBy(rules, { ip: 'https://10.0.0.9/arrays' })],
    [['ip', 'Type the host and the port only, such as 10.0.0.9:8443.']],
  );
});

test('how many snapshots to keep is a number', () => {
  for (const typed of ['24', ' 24 ', 'N24', 'n24']) {
    assert.deepEqual(asSent(rules, { delete_policy: typed }), { delete_policy: 'N24' });
    assert.equal(checkedBy(rules, { delete_policy: typed }).size, 0);
  }
  assert.deepEqual(asSent(rules, { delete_policy: '' }), { delete_policy: '' });
  assert.match(checkedBy(rules, { delete_policy: 'many' }).get('delete_policy') ?? '', /whole number/);
  for (const typed of ['0', 'N10001'])
    assert.match(checkedBy(rules, { delete_policy: typed }).get('delete_policy') ?? '', /^Must be from 1 to 10,000/);
});

test('a schedule that never comes is no schedule, and is distinguished from one that is not understood', () => {
  assert.match(scheduleProblem('0 0 31 2 *') ?? '', /never comes/);
  assert.match(scheduleProblem('0 0 30 2 *') ?? '', /never comes/);
  assert.equal(scheduleProblem('61 * * * *'), 'The minute is not understood (61): it takes 0 to 59.');
  assert.equal(
    scheduleProblem('0 0 * * 8'),
    'The day of the week is not understood (8): it takes 0 to 7 or SUN to SAT.',
  );
  assert.match(scheduleProblem('* * *') ?? '', /five fields/);
  assert.equal(scheduleProblem('manual'), undefined);
  assert.equal(scheduleProblem('0 0 29 2 *'), undefined);
  assert.equal(nextRuns('0 0 31 2 *', new Date(), 1).length, 0);
});
