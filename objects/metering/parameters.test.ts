import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Operation } from '@granary/contract';
import type { Values } from '../../kernel/http/testing/encodings.ts';
import { validValues } from '../testing/valid-requests.ts';
import { objectsOperations, startWalk, statusOf } from '../testing/walk.ts';

/**
 * Goal: whatever is measured, a caller gets as many points as it asks for, as far apart as it asks for.
 * Method: every endpoint whose points have an interval is called, derived from the contract, on one array.
 */
const walk = await startWalk({ after });
const { admin } = walk;

const BAD_PARAMETER = 7;

const metered = objectsOperations.filter(({ endpoint }) => 'interval' in endpoint.params);

/** The times of its points. */
async function timesOf(operation: Operation, values: Values): Promise<number[]> {
  const { text } = await walk.ask(operation, values, admin.key);
  const { objects } = JSON.parse(text) as { readonly objects?: readonly { readonly time: number }[] };
  assert.ok(objects, `${operation.id}: ${text}`);
  return objects.map(({ time }) => time);
}

async function assertRefused(operation: Operation, values: Values, name: string): Promise<void> {
  const answer = await walk.ask(operation, values, admin.key);
  const { code, message } = statusOf(answer);
  assert.equal(code, BAD_PARAMETER, `${operation.id} with ${name}=${String(values[name])}: ${answer.text}`);
  assert.match(message, new RegExp(`\\b${name}\\b`), operation.id);
}

/** The required parameters of each, without those that have a default. */
async function requiredOf(operation: Operation): Promise<Values> {
  const { interval: _, count: __, ...required } = await validValues(operation, walk, admin);
  return required;
}

test('six kinds of things are measured, each in three ways', () => {
  assert.deepEqual(
    metered.map(({ id }) => id).sort(),
    ['accounts', 'drives', 'loadBalancerGroups', 'policies', 'users', 'virtualControllers'].flatMap((group) =>
      ['iops', 'latency', 'throughput'].map((what) => `${group}.${what}`),
    ),
  );
});

test('every metering endpoint returns as many points as count asks for', async () => {
  for (const operation of metered) {
    const required = await requiredOf(operation);
    for (const count of [1, 7, 1000])
      assert.equal((await timesOf(operation, { ...required, count })).length, count, operation.id);
    assert.equal((await timesOf(operation, required)).length, 20, `${operation.id} by default`);
    for (const count of [0, 1001]) await assertRefused(operation, { ...required, count }, 'count');
  }
});

test('every metering endpoint spaces its points by interval', async () => {
  for (const operation of metered) {
    const required = await requiredOf(operation);
    for (const interval of [10, 3600, undefined]) {
      const times = await timesOf(operation, { ...required, interval, count: 4 });
      const expected = [0, 1, 2, 3].map((position) => (times[0] ?? NaN) + position * (interval ?? 60));
      assert.deepEqual(times, expected, `${operation.id} every ${interval ?? 'default'} s`);
    }
    for (const interval of [9, 604_801]) await assertRefused(operation, { ...required, interval }, 'interval');
  }
});

test('every metering endpoint refuses a service and a subserver that is not measured', async () => {
  for (const operation of metered) {
    const values = await validValues(operation, walk, admin);
    const named = ['service', 'subserver'].filter((name) => name in operation.endpoint.params);
    assert.ok(named.includes('service'), operation.id);
    for (const name of named) {
      const { [name]: _, ...without } = values;
      await assertRefused(operation, without, name);
      for (const other of ['account', 'container', ''])
        await assertRefused(operation, { ...values, [name]: other }, name);
    }
  }
});
