import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import type { HostedDrive } from '@granary/kernel';
import { checkObjectStorage } from '@granary/objects';
import { fillDisk, smallFileSystem } from '../testing/folders.ts';
import { until } from '../testing/waiting.ts';
import { Random } from '../testing/random.ts';
import { expect } from '../protocols/s3/testing/client.ts';
import { arrayFolder, ObjectArray, objectConfiguration, placeDrives, twoCopies } from './object-array.ts';
import { bytesOf, sliceOf, type Content } from './object-bytes.ts';

/**
 * Goal: drives that are full refuse what is new in clear words, give back what they hold, take deletions, and take new
 * objects once there is room again.
 * Method: drives of a few MB, by the capacity they were given and by the disk beneath them; objects until the first is
 * refused; then half of them go, and a start sweeps their room together.
 */
const DRIVE_MB = 24;
const ARRAY_DISK_MB = 256;
const seed = Number(process.env['GRANARY_SEED'] ?? Date.now() % 1_000_000);
/** Packed with others, and some in segments of their own. */
const LARGE = 1_500_000;
const SIZES = [300_000, 300_000, 300_000, 300_000, LARGE];
const PUTS_MAX = 200;

test(`drives that reached their capacity refuse, and take again after deletions (GRANARY_SEED=${seed})`, async (t) => {
  const folder = arrayFolder(t);
  // Of each segment some goes and some stays: room comes from writing the rest anew.
  await fill(folder, placeDrives(folder, 'two-copies', [1, 2], DRIVE_MB / 1024), (kind) => kind < 3, t);
});

test(`drives on a full disk refuse, and take again after deletions (GRANARY_SEED=${seed})`, async (t) => {
  const mounted: string[] = [];
  t.after(() => mounted.forEach((folder) => execFileSync('umount', ['-l', folder], { stdio: 'ignore' })));
  const folder = arrayFolder(t);
  const drives = placeDrives(folder, 'two-copies', [1, 2]);
  for (const { file } of drives) if (mount(file)) mounted.push(file);
  // Nothing can be written anew where the disk has no byte left: some segments have to go whole.
  if (mounted.length === drives.length) await fill(folder, drives, (kind) => kind !== 0, t);
  else t.skip('only root may mount a small file system');
});

test('an array whose disk is full to the last block takes sign-ins and deletions, and then objects again', async (t) => {
  const folder = smallFileSystem(t, ARRAY_DISK_MB);
  if (folder === undefined) {
    t.skip('only root may mount a small file system');
    return;
  }
  const configuration = objectConfiguration(folder, placeDrives(folder, 'two-copies', [1, 2]), [twoCopies]);
  let array = await ObjectArray.start(configuration);
  try {
    const objects = new Map<string, Content>();
    const random = new Random(seed);
    for (const bucket of ['/full', '/spare']) expect(await array.s3().call('PUT', bucket), 200);
    for (let at = 0; at < 20; at += 1) {
      const content = [sliceOf(random, 100_000)];
      expect(await array.s3().call('PUT', `/full/early-${at}`, { body: bytesOf(content) }), 200);
      objects.set(`early-${at}`, content);
    }
    const reserves = ['objects.db-reserve', 'index.db-reserve'].map((name) => join(configuration.folder, name));
    await until(() => Promise.resolve(reserves.every((file) => existsSync(file))), 'the reserves are there');
    fillDisk(join(folder, 'filler'));
    // A few fit into what was written ahead.
    await putUntilRefused(array, objects, random);
    fillDisk(join(folder, 'filler'));
    await deleteSome(array, objects, 12);
    expect(await array.s3().call('DELETE', '/spare'), 204);
    await readAll(array, objects);
    await array.stop();

    // Starting signs in, too.
    array = await ObjectArray.start(configuration);
    await deleteSome(array, objects, 5);
    await readAll(array, objects);
    rmSync(join(folder, 'filler'));
    await putAgain(array, objects, [sliceOf(random, LARGE)]);
    await readAll(array, objects);
  } finally {
    // Before its disk goes.
    await array.stop();
  }
  assert.deepEqual((await checkObjectStorage(configuration)).problems, []);
});

async function deleteSome(array: ObjectArray, objects: Map<string, Content>, count: number): Promise<void> {
  assert.ok(objects.size >= count, `only ${objects.size} objects fitted`);
  for (const key of [...objects.keys()].slice(0, count)) {
    expect(await array.s3().call('DELETE', `/full/${key}`), 204);
    objects.delete(key);
  }
}

async function fill(
  folder: string,
  drives: readonly HostedDrive[],
  goes: (kind: number) => boolean,
  t: TestContext,
): Promise<void> {
  const configuration = objectConfiguration(folder, drives, [twoCopies]);
  let array = await ObjectArray.start(configuration);
  const objects = new Map<string, Content>();
  const random = new Random(seed);
  expect(await array.s3().call('PUT', '/full'), 200);
  await putUntilRefused(array, objects, random);
  t.diagnostic(`${objects.size} objects fit`);
  await readAll(array, objects);
  for (const key of [...objects.keys()].filter((_, at) => goes(at % SIZES.length))) {
    expect(await array.s3().call('DELETE', `/full/${key}`), 204);
    objects.delete(key);
  }
  await array.stop();
  array = await ObjectArray.start(configuration);
  await putAgain(array, objects, [sliceOf(random, LARGE)]);
  await readAll(array, objects);
  await array.whole('two-copies');
  await array.stop();
  assert.deepEqual((await checkObjectStorage(configuration)).problems, []);
}

async function putUntilRefused(array: ObjectArray, objects: Map<string, Content>, random: Random): Promise<void> {
  const s3 = array.s3();
  for (let at = 0; at < PUTS_MAX; at += 1) {
    const content = [sliceOf(random, SIZES[at % SIZES.length] ?? 0)];
    const answer = await s3.call('PUT', `/full/${at}`, { body: bytesOf(content) });
    if (answer.status !== 200) {
      expect(answer, 507, 'InsufficientStorage');
      assert.match(answer.xml('Message') ?? '', /full|space/i);
      return;
    }
    objects.set(String(at), content);
  }
  assert.fail('everything fitted');
}

async function putAgain(array: ObjectArray, objects: Map<string, Content>, content: Content): Promise<void> {
  await until(async () => {
    const { status } = await array.s3().call('PUT', '/full/again', { body: bytesOf(content) });
    assert.ok(status === 200 || status === 507, `${status}`);
    return status === 200;
  }, 'there is room again');
  objects.set('again', content);
}

async function readAll(array: ObjectArray, objects: ReadonlyMap<string, Content>): Promise<void> {
  const s3 = array.s3();
  for (const [key, content] of objects)
    assert.ok(bytesOf(content).equals(expect(await s3.call('GET', `/full/${key}`), 200).bytes), key);
}

/** A file system of its own; whether that was possible. */
function mount(folder: string): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DRIVE_MB}m`, 'tmpfs', folder], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
