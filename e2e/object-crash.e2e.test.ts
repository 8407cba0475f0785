import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { checkObjectStorage } from '@granary/objects';
import { Random } from '../testing/random.ts';
import { arrayFolder, ObjectArray, objectConfiguration, placeDrives, twoAndOne, twoCopies } from './object-array.ts';
import { CrashClient } from './object-crash-client.ts';

/**
 * Goal: after kill -9 of object storage everything acknowledged is there, byte for byte, nothing is there in part, and
 * index and drives agree.
 * Method: clients make random changes over S3; again and again the process is killed, some time or in the very moment of
 * an acknowledgement, started, and compared with what was acknowledged; at the end a check proves all of it.
 */
const isTorture = process.env['GRANARY_TORTURE'] === '1';
const seeds = isTorture ? 10 : 1;
const firstSeed = Number(process.env['GRANARY_SEED'] ?? Date.now() % 1_000_000);
const KILLS = isTorture ? 20 : 4;
const FIRST_SWEEP_MS = 10_000;
const CLIENTS = 5;
const CHANGES_BETWEEN_KILLS = 60;
const POLICIES = [twoCopies, twoAndOne];

for (let seed = firstSeed; seed < firstSeed + seeds; seed += 1) {
  test(`kill -9 of object storage loses nothing acknowledged (GRANARY_SEED=${seed})`, (t) => crash(t, seed));
}

async function crash(t: TestContext, seed: number): Promise<void> {
  const random = new Random(seed);
  const folder = arrayFolder(t);
  const drives = [...placeDrives(folder, 'two-copies', [1, 2]), ...placeDrives(folder, 'two-and-one', [3, 4, 5, 6])];
  const configuration = objectConfiguration(folder, drives, POLICIES);
  let array = await ObjectArray.start(configuration);
  const clients = Array.from(
    { length: CLIENTS },
    (_, index) =>
      new CrashClient(
        `w${index}`,
        new Random(random.below(2 ** 31)),
        POLICIES.map(({ name }) => name),
      ),
  );
  for (let kill = 1; kill <= KILLS; kill += 1) {
    await untilKilled(array, clients, random);
    array = await ObjectArray.start(configuration);
    for (const [index, client] of clients.entries())
      assert.deepEqual(await client.verify(array.s3()), [], `seed ${seed}, kill ${kill}, client ${index}`);
    await array.whole('two-copies');
    await array.whole('two-and-one');
  }
  await array.stop();
  const { problems, ...report } = await checkObjectStorage(configuration);
  assert.deepEqual(problems, [], `seed ${seed}`);
  const acknowledged = clients.reduce((sum, client) => sum + client.acknowledged, 0);
  t.diagnostic(`${acknowledged} changes acknowledged, ${KILLS} kills; ${JSON.stringify(report.pieces)}`);
}

/** After some acknowledgements: half of the times in the moment of one, half of them a little later. */
async function untilKilled(array: ObjectArray, clients: readonly CrashClient[], random: Random): Promise<void> {
  const isAtOnce = random.below(2) === 0;
  // Now and then so late that what was deleted is being swept together.
  const isLate = isTorture && random.below(6) === 0;
  const pauseMs = isAtOnce ? 0 : isLate ? FIRST_SWEEP_MS + random.below(2000) : random.below(60);
  let left = 1 + random.below(CHANGES_BETWEEN_KILLS * 2);
  const { promise: reached, resolve } = Promise.withResolvers<null>();
  const onAcknowledged = () => {
    left -= 1;
    if (left !== 0) return;
    if (isAtOnce) array.signal('SIGKILL');
    resolve(null);
  };
  const running = clients.map((client) => client.run(array.s3(), CHANGES_BETWEEN_KILLS, onAcknowledged));
  await Promise.race([reached, Promise.all(running)]);
  await sleep(pauseMs);
  await array.kill();
  assert.deepEqual((await Promise.all(running)).flat(), []);
}
