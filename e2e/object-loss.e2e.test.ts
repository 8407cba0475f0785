import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { objectsApi } from '@granary/contract/objects';
import type { HostedConfiguration, HostedDrive } from '@granary/kernel';
import { checkObjectStorage } from '@granary/objects';
import { until } from '../testing/waiting.ts';
import { Random } from '../testing/random.ts';
import { pause } from './granary.ts';
import { arrayFolder, fourAndTwo, ObjectArray, objectConfiguration, placeDrives, twoCopies } from './object-array.ts';
import { ObjectLoad } from './object-load.ts';

/**
 * Goal: while drives are lost, damaged, added and removed, no read fails, no byte is wrong and writing goes on; then
 * everything is whole again.
 * Method: readers that look at every byte, and writers, on a policy of two copies and one of four and two fragments,
 * while as many drives as each can bear to lose are wiped, moved away or damaged; a check of everything at the end.
 */
const seed = Number(process.env['GRANARY_SEED'] ?? Date.now() % 1_000_000);
const isTorture = process.env['GRANARY_TORTURE'] === '1';
const SEEDS = isTorture ? 10 : 1;
const MISHAPS = isTorture ? 12 : 1;
const COPIES = [1, 2, 3];
const FRAGMENTS = [4, 5, 6, 7, 8, 9, 10];
const OBJECTS = 40;
/** Drives are looked at each second. */
const NOTICED_MS = 3000;
/** Longer than a look waits. */
const SILENT_MS = 8000;
/** Of every so many bytes in a segment one is changed. */
const FLIP_EVERY = 150_000;
const { settings, policies, drives: driveGroup } = objectsApi.groups;

interface Scene {
  array: ObjectArray;
  readonly folder: string;
  readonly configuration: HostedConfiguration;
  readonly loads: readonly ObjectLoad[];
}

async function setUp(t: TestContext): Promise<Scene> {
  const random = new Random(seed);
  const loads = ['copies', 'fragments'].map((name) => new ObjectLoad(name, new Random(random.below(2 ** 31))));
  const folder = arrayFolder(t);
  t.after(() => Promise.all(loads.map((load) => load.stop())));
  const drives = [...placeDrives(folder, 'two-copies', COPIES), ...placeDrives(folder, 'four-and-two', FRAGMENTS)];
  const configuration = objectConfiguration(folder, drives, [twoCopies, fourAndTwo]);
  const scene = {
    array: await ObjectArray.start(configuration),
    folder,
    configuration,
    loads,
  };
  await Promise.all(scene.loads.map((load, at) => load.prepare(scene.array, nameOf(at), OBJECTS)));
  return scene;
}

function nameOf(policy: number): string {
  return policy === 0 ? 'two-copies' : 'four-and-two';
}

function driveFolder({ folder }: Scene, number: number): string {
  return join(folder, 'drives', String(number));
}

/** All objects are whole, all reads were right, and the drives hold what the index says. */
async function allIsWell(t: TestContext, scene: Scene): Promise<void> {
  for (const [at] of scene.loads.entries()) await scene.array.whole(nameOf(at), 120_000);
  await Promise.all(scene.loads.map((load) => load.stop()));
  for (const load of scene.loads) await load.readAll(scene.array);
  await scene.array.stop();
  tellOf(t, scene);
  const { problems, pieces } = await checkObjectStorage(scene.array.configuration);
  assert.deepEqual([problems, pieces.missing, pieces.damaged], [[], 0, 0], `seed ${seed}`);
}

function tellOf(t: TestContext, { loads }: Scene): void {
  for (const { reads, writes, retries, problems } of loads) {
    assert.deepEqual(problems, [], `seed ${seed}`);
    t.diagnostic(`${reads} reads, ${writes} writes, ${retries} of them asked again`);
  }
}

/** Both policies were seen to lack something. */
async function missed(scene: Scene): Promise<void> {
  // At the same time: while one is waited for, the other may be whole again.
  const seen = scene.loads.map((_, at) =>
    until(
      async () => {
        const { health_status: health, ...counts } = await scene.array.policy(nameOf(at));
        return health !== 'normal' && counts.partition_count_degraded + counts.partition_count_critical > 0;
      },
      `${nameOf(at)} is not whole`,
    ),
  );
  await Promise.all(seen);
}

test(`drives that are wiped cost no byte and are filled again (GRANARY_SEED=${seed})`, async (t) => {
  const scene = await setUp(t);
  for (const load of scene.loads) load.start(scene.array);
  await sleep(500);
  for (const drive of [1, 4, 5]) wipe(scene, drive);
  await missed(scene);
  await allIsWell(t, scene);
});

test(`drives that are away for a while are brought up to date (GRANARY_SEED=${seed})`, async (t) => {
  const scene = await setUp(t);
  for (const load of scene.loads) load.start(scene.array);
  await sleep(500);
  for (const drive of [2, 6, 7]) takeAway(scene, drive);
  await missed(scene);
  await sleep(2500);
  for (const drive of [2, 6, 7]) bringBack(scene, drive);
  await allIsWell(t, scene);
});

test(`bytes that changed on drives are noticed, never served, and mended (GRANARY_SEED=${seed})`, async (t) => {
  const scene = await setUp(t);
  const random = new Random(seed);
  await scene.array.stop();
  for (const drive of [3, 8, 9]) damage(join(driveFolder(scene, drive), 'segments'), random);
  const before = await checkObjectStorage(scene.configuration);
  assert.ok(before.pieces.damaged > 0);
  scene.array = await ObjectArray.start(scene.configuration);
  for (const load of scene.loads) load.start(scene.array);
  for (const load of scene.loads) await load.readAll(scene.array);
  for (const [at] of scene.loads.entries()) await scene.array.whole(nameOf(at), 120_000);
  await Promise.all(scene.loads.map((load) => load.stop()));
  await scene.array.stop();
  tellOf(t, scene);
  // What no read met is left to the slow reading of everything.
  const after = await checkObjectStorage(scene.configuration);
  t.diagnostic(`${before.pieces.damaged} damaged pieces, ${after.pieces.damaged} of them not read yet`);
  assert.ok(after.pieces.damaged < before.pieces.damaged);
  assert.deepEqual([...new Set(after.problems.map(({ kind }) => kind))], after.pieces.damaged > 0 ? ['piece'] : []);
});

test(`drives come in steps and go under load, also across a kill (GRANARY_SEED=${seed})`, async (t) => {
  const scene = await setUp(t);
  await scene.array.client.call(settings.setPolicyExpansion, { expansion_percent: 50 });
  for (const load of scene.loads) load.start(scene.array);
  const added = [
    ...placeDrives(scene.folder, 'two-copies', [11, 12]),
    ...placeDrives(scene.folder, 'four-and-two', [13, 14]),
  ];
  const drives = [...scene.configuration.drives, ...added];
  await scene.array.change({ drives });
  await until(async () => (await scene.array.policy('four-and-two')).rebalance_status !== 'done', 'partitions move');
  await Promise.all(scene.loads.map((load) => load.stop()));
  await scene.array.kill();
  scene.array = await ObjectArray.start({ ...scene.configuration, drives });
  for (const load of scene.loads) load.start(scene.array);
  for (const [at] of scene.loads.entries()) await scene.array.whole(nameOf(at), 120_000);
  for (const { file } of added) assert.ok(readdirSync(join(file, 'segments')).length > 0, `${file} is in use`);
  await remove(scene, 0, drives);
  await allIsWell(t, scene);
  assert.equal(scene.array.configuration.drives.length, drives.length - 2);
});

/** Two of the drives of a policy, whichever the array chooses: none may hold anything afterwards. */
async function remove(scene: Scene, policy: number, drives: readonly HostedDrive[]): Promise<void> {
  const { name } = await scene.array.policy(nameOf(policy));
  const type = drives[0]?.type ?? '';
  const asked = { name, drives: [{ type, quantity: 2 }], timeout: 0 };
  const { message } = await scene.array.client.refused(policies.removeDrives, asked);
  assert.match(message, /submitted/, 'it goes on in the background');
  await until(
    async () => (await scene.array.client.call(driveGroup.list, {})).disks.length === drives.length - 2,
    'two drives are gone',
    120_000,
  );
}

test('drives that do not answer for some seconds are not taken for lost', async (t) => {
  const scene = await setUp(t);
  const load = scene.loads[0] as ObjectLoad;
  load.start(scene.array);
  // Opening a pipe waits for a writer.
  const identities = [1, 2].map((drive) => join(driveFolder(scene, drive), 'drive.json'));
  const texts = identities.map((file) => readFileSync(file));
  for (const file of identities) {
    execFileSync('mkfifo', [`${file}.pipe`]);
    renameSync(`${file}.pipe`, file);
  }
  await sleep(SILENT_MS);
  identities.forEach((file, at) => {
    renameSync(file, `${file}.pipe`);
    writeFileSync(file, texts[at] as Buffer);
    // Both ways, so that it does not wait for a reader.
    const pipe = openSync(`${file}.pipe`, 'r+');
    writeSync(pipe, texts[at] as Buffer);
    closeSync(pipe);
    rmSync(`${file}.pipe`);
  });
  await allIsWell(t, scene);
});

for (let round = 0; round < SEEDS; round += 1) {
  test(`whatever happens to drives and the process, one thing after the other (GRANARY_SEED=${seed + round})`, (t) =>
    mishaps(t, new Random(seed + round)));
}

async function mishaps(t: TestContext, random: Random): Promise<void> {
  const scene = await setUp(t);
  for (let left = MISHAPS; left > 0; left -= 1) {
    for (const load of scene.loads) load.start(scene.array);
    await sleep(random.below(1500));
    const victims = [random.pick(COPIES) ?? 1, ...distinct(FRAGMENTS, 2, random)];
    const mishap = random.pick(['wiped', 'away', 'killed', 'wiped while off', 'away at a start'] as const) ?? 'killed';
    t.diagnostic(`${mishap}: ${victims.join(' ')}`);
    if (mishap === 'wiped') victims.forEach((drive) => wipe(scene, drive));
    else if (mishap === 'away') await whileAway(scene, victims, () => sleep(random.below(4000)));
    else if (mishap === 'killed') await restart(scene, () => undefined);
    else if (mishap === 'wiped while off') await restart(scene, () => victims.forEach((drive) => wipe(scene, drive)));
    else
      await whileAway(scene, victims, async () => {
        await restart(scene, () => undefined);
        await sleep(random.below(3000));
      });
    await noticed(scene, victims);
    for (const [at] of scene.loads.entries()) await scene.array.whole(nameOf(at), 120_000);
    await Promise.all(scene.loads.map((load) => load.stop()));
    for (const load of scene.loads) {
      await load.readAll(scene.array);
      assert.deepEqual(load.problems, [], mishap);
    }
  }
  await allIsWell(t, scene);
}

/** What was wiped is a drive again, and every change of the last seconds is known: only then a policy tells the truth. */
async function noticed(scene: Scene, drives: readonly number[]): Promise<void> {
  await until(
    () => Promise.resolve(drives.every((drive) => existsSync(join(driveFolder(scene, drive), 'drive.json')))),
    'wiped drives are drives again',
  );
  await pause(NOTICED_MS);
}

/** Killed under load; the load goes on with the new process. */
async function restart(scene: Scene, meanwhile: () => void): Promise<void> {
  await Promise.all(scene.loads.map((load) => load.stop()));
  await scene.array.kill();
  meanwhile();
  scene.array = await ObjectArray.start(scene.configuration);
  for (const load of scene.loads) load.start(scene.array);
}

async function whileAway(scene: Scene, drives: readonly number[], work: () => Promise<void>): Promise<void> {
  for (const drive of drives) takeAway(scene, drive);
  await work();
  for (const drive of drives) bringBack(scene, drive);
}

function distinct(from: readonly number[], count: number, random: Random): number[] {
  const chosen = new Set<number>();
  while (chosen.size < count) chosen.add(random.pick(from) ?? 0);
  return [...chosen];
}

/** Everything in it, the identity too; concurrent writers may be faster for a while. */
function wipe(scene: Scene, drive: number): void {
  for (const name of readdirSync(driveFolder(scene, drive)))
    rmSync(join(driveFolder(scene, drive), name), { recursive: true, force: true, maxRetries: 10, retryDelay: 5 });
}

function takeAway(scene: Scene, drive: number): void {
  renameSync(driveFolder(scene, drive), `${driveFolder(scene, drive)}.away`);
}

function bringBack(scene: Scene, drive: number): void {
  renameSync(`${driveFolder(scene, drive)}.away`, driveFolder(scene, drive));
}

function damage(segments: string, random: Random): void {
  for (const name of readdirSync(segments)) {
    const file = openSync(join(segments, name), 'r+');
    const { size } = fstatSync(file);
    const byte = Buffer.alloc(1);
    for (let at = random.below(FLIP_EVERY); at < size; at += 1 + random.below(FLIP_EVERY * 2)) {
      readSync(file, byte, 0, 1, at);
      byte[0] = (byte[0] ?? 0) ^ (1 << random.below(8));
      writeSync(file, byte, 0, 1, at);
    }
    closeSync(file);
  }
}
