import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { checkArray } from '@granary/array';
import { temporaryFolder } from '../testing/folders.ts';
import { until } from '../testing/waiting.ts';
import { Random } from '../testing/random.ts';
import { otherS3 } from '../array/file-lifecycle/testing/other-s3.ts';
import { TestArrayProcess, arrayConfiguration } from '../array/testing/array-process.ts';
import {
  inodeOf,
  makeShare,
  makeSurroundings,
  MountedShare,
  scanned,
  startScan,
  type ModelFile,
} from './lifecycle-share.ts';

/**
 * Goal: kill -9 during a scan that archives and expires loses no file, leaves no stub without its object, and the scan
 * goes on by itself.
 * Method: the bucket counts what it is asked, and at a random count the array is killed; people read and write files that
 * are being archived. After each start what was acknowledged is compared; at the end a whole scan has to leave exactly one
 * object for each archived file and nothing else in the bucket.
 */
const isTorture = process.env['GRANARY_TORTURE'] === '1';
const seeds = isTorture ? 10 : 1;
const firstSeed = Number(process.env['GRANARY_SEED'] ?? Date.now() % 1_000_000);
const KILLS = isTorture ? 8 : 2;
/** More than one page of a scan. */
const FILES = 2_100;
const LOGS = 120;
const REQUESTS_BETWEEN_KILLS = 100;
/** Goes in parts. */
const LARGE_BYTES = 9 * 2 ** 20;
const SAMPLES = 10;
const DIRECTORY = 'd';

for (let seed = firstSeed; seed < firstSeed + seeds; seed += 1) {
  test(`kill -9 during lifecycle scans loses no file (GRANARY_SEED=${seed})`, (t) => crash(t, seed));
}

/** What files of a kind become: `log` archived, `tmp` gone, `bak` in the recycle bin, `txt` nothing. */
function modelOf(): Map<string, ModelFile> {
  const files = Array.from({ length: FILES }, (_, n): ModelFile => {
    const extension = n % Math.floor(FILES / LOGS) === 0 ? 'log' : n % 20 === 1 ? 'tmp' : n % 20 === 2 ? 'bak' : 'txt';
    const length = n === 0 || extension === 'txt' ? 0 : (n * 37) % 3000;
    return { directory: DIRECTORY, name: `${n}.${extension}`, content: Buffer.alloc(length + 1, `contents of ${n};`) };
  });
  const large = { directory: DIRECTORY, name: 'large.log', content: Buffer.alloc(LARGE_BYTES, 'large;') };
  return new Map([...files, large].map((file) => [file.name, file]));
}

async function crash(t: TestContext, seed: number): Promise<void> {
  const random = new Random(seed);
  const configuration = arrayConfiguration(temporaryFolder(t), 2, 2);
  let array = await TestArrayProcess.start(configuration);
  t.after(() => array.kill());
  let requestsLeft = Infinity;
  let reached = Promise.withResolvers<undefined>();
  const bucket = await otherS3(t, () => {
    requestsLeft -= 1;
    if (requestsLeft <= 0) reached.resolve(undefined);
  });
  const share = await makeShare(array, await makeSurroundings(array), 'files', 1024);
  let mount = await MountedShare.mount(configuration, 'files');
  const model = modelOf();
  const of = (extension: string) => [...model.values()].filter(({ name }) => name.endsWith(extension));
  const inodes = new Map<string, number>();
  const made = await mount.create([...model.values()]);
  for (const [index, name] of [...model.keys()].entries()) inodes.set(name, made[index]!);
  await attachPolicies(array, share, bucket);
  await startScan(array, share);

  for (let kill = 0; kill < KILLS; kill += 1) {
    const when = `seed ${seed}, kill ${kill}`;
    reached = Promise.withResolvers();
    requestsLeft = 1 + random.below(REQUESTS_BETWEEN_KILLS);
    const changed = new Map<string, ModelFile>();
    const people = usedMeanwhile(mount, model, changed, random);
    // A scan that has ended asks for nothing: then another one is begun.
    await Promise.race([reached.promise, scanned(array, share).catch(() => undefined)]);
    await sleep(random.below(40));
    await array.kill();
    requestsLeft = Infinity;
    assert.deepEqual(await people, [], when);
    mount.close();
    array = await TestArrayProcess.start(configuration);
    mount = await MountedShare.mount(configuration, 'files');
    // What was not answered may be there or not; afterwards it is.
    for (const file of changed.values()) await mount.overwrite(file);
    assert.deepEqual(await mount.compare(samplesOf(of('.log'), random)), [], when);
    const names = new Set(await mount.names(DIRECTORY));
    for (const { name } of [...of('.log'), ...of('.txt')]) assert.ok(names.has(name), `${when}: ${name} is gone`);
    const { flc_scan_state } = (await array.client.volumes.get({ id: share })).volume;
    if (flc_scan_state === 'idle') await startScan(array, share);
  }
  await scanned(array, share);
  await startScan(array, share);
  await scanned(array, share);

  const wanted = of('.log').map(({ name }) => inodes.get(name) as number);
  const stored = async () => sorted((await bucket.keys()).map(inodeOf));
  await until(async () => (await stored()).length === wanted.length, 'nothing but the archived files is in the bucket');
  assert.deepEqual(await stored(), sorted(wanted));
  const left = [...of('.log'), ...of('.txt')];
  assert.deepEqual((await mount.names(DIRECTORY)).sort(), left.map(({ name }) => name).sort());
  assert.deepEqual(
    await namesInBin(mount),
    of('.bak')
      .map(({ name }) => name)
      .sort(),
  );
  assert.deepEqual(await mount.compare(left), []);
  const { messages } = await array.client.messages.list();
  assert.deepEqual(
    messages.filter(({ msg_title }) => /given up|cannot be read|had trouble/.test(msg_title)),
    [],
  );
  mount.close();
  await array.stop();
  assert.deepEqual((await checkArray(configuration)).problems, []);
}

/** Reads and writes files that are being archived until it is cut off. What it saw that was wrong. */
async function usedMeanwhile(
  mount: MountedShare,
  model: Map<string, ModelFile>,
  changed: Map<string, ModelFile>,
  random: Random,
): Promise<string[]> {
  const logs = [...model.values()].filter(({ name }) => name.endsWith('.log'));
  const wrong: string[] = [];
  try {
    for (const { name } of samplesOf(logs, random)) {
      // As it is by now: an earlier turn may have written it.
      wrong.push(...(await mount.compare([model.get(name) as ModelFile])));
      const other = random.pick(logs.filter(({ content }) => content.length < LARGE_BYTES)) as ModelFile;
      const fresh = { ...other, content: Buffer.alloc(other.content.length, `written ${random.below(1e6)};`) };
      model.set(other.name, fresh);
      changed.set(other.name, fresh);
      await mount.overwrite(fresh);
      changed.delete(other.name);
    }
  } catch {
    // The connection ends with the array.
  }
  return wrong;
}

function samplesOf(files: readonly ModelFile[], random: Random): ModelFile[] {
  return Array.from({ length: SAMPLES }, () => random.pick(files) as ModelFile);
}

async function attachPolicies(
  { client }: TestArrayProcess,
  share: string,
  { endpoint, username, password }: { endpoint: string; username: string; password: string },
): Promise<void> {
  const place = { name: 'archive', bucket: 'archive', endpoint, username, password };
  const { object_storage_destination: destination } = await client.objectStorageDestinations.create(place);
  for (const [extension, more] of [
    ['log', { lc_action: 'archive', dest_obs_name: destination.name }],
    ['tmp', { lc_action: 'expire' }],
    ['bak', { lc_action: 'expire', use_recycle_bin: true }],
  ] as const) {
    const wanted = { display_name: extension, file_selection_criteria: { extension }, ...more };
    const { lc_policy_name: id } = await client.lifecyclePolicies.create(wanted);
    await client.lifecyclePolicies.attach({ id, volume_name: share });
  }
}

async function namesInBin({ client }: MountedShare): Promise<string[]> {
  const names: string[] = [];
  const bin = await client.lookup(client.root, '.recycle');
  for (const moment of await client.names(bin.handle)) {
    const below = await client.lookup((await client.lookup(bin.handle, moment)).handle, DIRECTORY);
    if (below.status === 0) names.push(...(await client.names(below.handle)));
  }
  return names.sort();
}

function sorted(numbers: readonly number[]): number[] {
  return [...numbers].sort((a, b) => a - b);
}
