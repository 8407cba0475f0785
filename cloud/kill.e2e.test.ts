import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { LineProcess } from '../testing/line-process.ts';
import { seededRandom } from '../testing/random.ts';
import { until } from '../testing/waiting.ts';
import { newUuid, testSpec } from './testing/specs.ts';
import { clientOf, hostedArrays, inventory, testData, type CloudClient } from './testing/test-cloud.ts';

const ROUNDS = process.env['GRANARY_TORTURE'] === undefined ? 3 : 40;
const ARRAYS = 6;
const program = fileURLToPath(new URL('./testing/fake-array.ts', import.meta.url));

/** What the cloud has acknowledged of one array, and whether more was under way when it was killed. */
interface Known {
  readonly uuid: string;
  drives: number;
  mayBeGone: boolean;
  mayBeThere: boolean;
}

/**
 * Goal: whatever was acknowledged is there after kill -9, and database and disk agree. Method: a real cloud process is
 * asked for random orders, growth and removals from all sides and killed at a random moment; the next one is asked
 * what is left.
 */
test('a cloud that is killed again and again in the middle of its work loses nothing it acknowledged', async (t) => {
  const random = seededRandom(t);
  const dataDir = testData(t, 40);
  const known = Array.from({ length: ARRAYS }, (): Known => ({
    uuid: newUuid(),
    drives: 0,
    mayBeGone: true,
    mayBeThere: false,
  }));
  let asked = 0;
  for (let round = 0; round <= ROUNDS; round += 1) {
    const script = new URL('./testing/run-cloud.ts', import.meta.url);
    const process = new LineProcess(script, dataDir, program, program);
    t.after(() => process.kill());
    await until(() => process.lines.length > 0);
    const cloud = clientOf(JSON.parse(process.lines[0]!) as Parameters<typeof clientOf>[0]);
    await verify(cloud, known);
    const isOver = new AbortController();
    const work = known.map((array) => trouble(cloud, array, random, isOver.signal));
    await sleep(50 + random() * 400);
    isOver.abort();
    await process.kill();
    for (const count of await Promise.all(work)) asked += count;
  }
  t.diagnostic(`${asked} requests, ${ROUNDS} kills`);
});

async function verify({ client }: CloudClient, known: readonly Known[]): Promise<void> {
  assert.deepEqual((await client.call(inventory.check, {})).data, []);
  const { data } = await client.call(hostedArrays.list, {});
  assert.equal(new Set(data.map(({ ip_address }) => ip_address)).size, data.length);
  for (const array of known) {
    const found = data.find(({ uuid }) => uuid === array.uuid);
    if (found) assert.ok(array.mayBeThere, `${array.uuid} is there again`);
    else assert.ok(array.mayBeGone, `${array.uuid} is lost`);
    if (found) assert.ok(found.drives.length >= array.drives, `${array.uuid} lost drives`);
    Object.assign(array, { drives: found?.drives.length ?? 0, mayBeGone: !found, mayBeThere: found !== undefined });
  }
}

/** Asks for one thing after the other until the cloud is gone; returns how many it answered. */
async function trouble(
  { client }: CloudClient,
  array: Known,
  random: () => number,
  over: AbortSignal,
): Promise<number> {
  const { uuid } = array;
  for (let asked = 0; ; asked += 1) {
    if (over.aborted) return asked;
    try {
      if (random() < 0.3) {
        array.mayBeGone = true;
        const { data } = await client.call(hostedArrays.delete, { uuid });
        if (!data) Object.assign(array, { drives: 0, mayBeThere: false });
      } else if (!array.mayBeGone || !array.mayBeThere) {
        const drives = Math.min(array.drives + Math.floor(random() * 3), 12);
        const desired = random() < 0.3 ? 'running' : 'stopped';
        array.mayBeThere = true;
        await client.call(hostedArrays.put, { uuid, spec: testSpec({ drives: { SSD_10GB: drives } }), desired });
        Object.assign(array, { drives, mayBeGone: false });
      }
    } catch (error) {
      // Cut off: the connection broke. Anything the cloud itself said would be an assertion.
      if (error instanceof assert.AssertionError) throw error;
      return asked;
    }
    await sleep(random() * 10);
  }
}
