import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { until } from '../../testing/waiting.ts';
import { expect } from '../../protocols/s3/testing/client.ts';
import { makeKnown, put, replicate, statusOf } from '../testing/remote.ts';
import { testObjects, type TestObjects } from '../testing/test-objects.ts';

const MAIN = fileURLToPath(new URL('../testing/array-main.ts', import.meta.url));

async function inItsOwnProcess(t: TestContext, { configuration }: TestObjects): Promise<ChildProcess> {
  const child = spawn(process.execPath, [MAIN, JSON.stringify(configuration)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => void child.kill('SIGKILL'));
  const ended = once(child, 'exit').then(() => Promise.reject(new Error('The array did not start.')));
  await Promise.race([once(child.stdout, 'data'), ended]);
  ended.catch(() => undefined);
  return child;
}

/** Of each lane in each round, if the kill does not come first. */
const OBJECTS = 15;

/** The kill comes after so many acknowledged objects of the round, at any speed of the machine. */
const KILL_AFTER = [3, 20] as const;

test('an array that is killed while it replicates passes on everything that it acknowledged', async (t) => {
  const [here, there] = await Promise.all([testObjects(t), testObjects(t)]);
  const destination = await makeKnown(here, there);
  const [near, far] = [here.s3(here.owner), there.s3(there.owner)];
  for (const client of [near, far]) expect(await client.call('PUT', '/photos'), 200);
  expect(await replicate(near, 'photos', destination, { deletes: true }), 200);
  await put(near, '/photos/doomed', 'doomed');
  await until(async () => (await statusOf(near, '/photos/doomed')) === 'COMPLETED', 'the copy');
  await here.stop();
  const acknowledged = new Set<string>();
  for (const [round, killAfter] of KILL_AFTER.entries()) {
    const child = await inItsOwnProcess(t, here);
    const client = here.s3(here.owner);
    if (round === 1) expect(await client.call('DELETE', '/photos/doomed'), 204);
    const killed = once(child, 'exit');
    let count = 0;
    const work = Array.from({ length: 4 }, async (_, lane) => {
      for (let index = 0; index < OBJECTS; index++) {
        const path = `/photos/${round}-${lane}-${index}`;
        await put(client, path, path.repeat(100));
        acknowledged.add(path);
        if (++count === killAfter) child.kill('SIGKILL');
      }
    });
    await Promise.allSettled(work);
    child.kill('SIGKILL');
    await killed;
    client.close();
  }
  assert.ok(acknowledged.size >= Math.max(...KILL_AFTER));
  await here.start();
  const again = here.s3(here.owner);
  for (const path of acknowledged) {
    await until(async () => (await statusOf(again, path)) === 'COMPLETED', path);
    assert.equal((await far.call('GET', path)).text, path.repeat(100));
  }
  await until(async () => (await far.call('HEAD', '/photos/doomed')).status === 404, 'the deletion');
  for (const client of [near, far, again]) client.close();
});
