import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test, type TestContext } from 'node:test';
import { temporaryFolder } from '../testing/folders.ts';
import { TestArrayProcess, arrayConfiguration } from '../array/testing/array-process.ts';
import { expect, type Keys, type S3Client } from '../protocols/s3/testing/client.ts';
import {
  inodeOf,
  makeShare,
  makeSurroundings,
  MountedShare,
  scanned,
  startScan,
  type ModelFile,
} from './lifecycle-share.ts';
import { arrayFolder, ObjectArray, objectConfiguration, placeDrives, twoCopies } from './object-array.ts';
import { keysOfS3rver, S3RVER_KEYS, skipWithoutS3rver, startS3rver } from './s3rver.ts';

/**
 * Goal: a run over many files archives exactly what the criteria say to a whole object array of ours and to a server that
 * others wrote, and every file gives its bytes back when it is read.
 * Method: files differ in extension, age, size and directory; which of them are archived or gone is computed here, apart
 * from the code that matches, and compared with what is in the bucket and on the share.
 */
const FILES = process.env['GRANARY_TORTURE'] === '1' ? 100_000 : 300;
const BUCKET = 'archive';
const DIRECTORIES = 100;
const KEPT_DIRECTORIES = 10;
const SMALL_BYTES = 100;
const DAY_S = 86_400;
const EXTENSIONS = ['log', 'dat', 'tmp', 'txt'] as const;

const TITLES = { ours: 'a whole object array of ours', s3rver: 's3rver, which others wrote' };

const folder = mkdtempSync(join(tmpdir(), 'granary-e2e-'));
const configuration = arrayConfiguration(folder, 2, 16);
let array: TestArrayProcess;
let around: Awaited<ReturnType<typeof makeSurroundings>>;

before(async () => {
  array = await TestArrayProcess.start(configuration);
  around = await makeSurroundings(array);
});

after(async () => {
  await array.kill();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
});

interface Bucket {
  readonly url: string;
  readonly keys: Keys;
  readonly list: () => Promise<readonly string[]>;
}

type Start = (t: TestContext) => Promise<Bucket>;

async function ours(t: TestContext): Promise<Bucket> {
  const folder = arrayFolder(t);
  const drives = placeDrives(folder, 'two-copies', [1, 2]);
  const objects = await ObjectArray.start(objectConfiguration(folder, drives, [twoCopies]));
  const client = objects.s3();
  assert.equal((await client.call('PUT', `/${BUCKET}`)).status, 200);
  return { url: objects.dataUrl, keys: objects.keys, list: () => keysOf(client) };
}

async function others(t: TestContext): Promise<Bucket> {
  const place = join(temporaryFolder(t), 's3rver');
  const url = await startS3rver(t, place, BUCKET);
  return { url, keys: S3RVER_KEYS, list: () => Promise.resolve(keysOfS3rver(place, BUCKET)) };
}

for (const [what, start, skip] of [
  ['ours', ours, false],
  ['s3rver', others, await skipWithoutS3rver()],
] as const) {
  const title = `a run over ${FILES} files archives what the criteria say to ${TITLES[what]}`;
  test(title, { skip, timeout: 3_600_000 }, (t) => archives(t, what, start));
}

async function archives(t: TestContext, name: string, start: Start): Promise<void> {
  const bucket = await start(t);
  const share = await makeShare(array, around, name, 4096);
  const mount = await MountedShare.mount(configuration, name);
  t.after(() => mount.close());
  const now = Math.floor(Date.now() / 1000);
  const files = Array.from({ length: FILES }, (_, n) => fileOf(n, now));
  const inodes = await mount.create(files);
  await attachPolicies(name, share, bucket);

  const began = performance.now();
  await startScan(array, share);
  await scanned(array, share);
  const archived = files.filter((file, n) => isOld(n) && isArchivable(file));
  const left = files.filter(({ name }, n) => !(isOld(n) && name.endsWith('.tmp')));
  const seconds = (performance.now() - began) / 1000;
  t.diagnostic(`${archived.length} archived, ${FILES - left.length} expired in ${seconds.toFixed(1)} s`);

  const { lc_rules } = await array.client.lifecyclePolicies.listRules({ volume_name: share });
  assert.deepEqual(
    lc_rules.map((rule) => [rule.matched_files, rule.handled_files, rule.failed_files, rule.last_run_problem]),
    [archived.length, FILES - left.length].map((count) => [count, count, 0, null]),
  );
  const wanted = new Set(archived);
  const inodesWanted = inodes.filter((_, n) => wanted.has(files[n]!));
  const stored = (await bucket.list()).map(inodeOf);
  assert.deepEqual(sorted(stored), sorted(inodesWanted), 'exactly what the criteria say, each once');
  for (let n = 0; n < Math.min(FILES, DIRECTORIES); n += 1) {
    const names = left.filter(({ directory }) => directory === `d${n}`).map(({ name }) => name);
    assert.deepEqual((await mount.names(`d${n}`)).sort(), names.sort());
  }
  assert.deepEqual(await mount.compare(left), [], 'archived or not, everything reads as it was written');
}

function fileOf(n: number, now: number): ModelFile {
  return {
    directory: `d${n % DIRECTORIES}`,
    // Of a prime count, so that every extension meets every age, size and directory.
    name: `${n}.${EXTENSIONS[(n % 997) % EXTENSIONS.length]}`,
    content: Buffer.alloc((n * 37) % 3000, `contents of ${n};`),
    modified: now - (isOld(n) ? 100 : 10) * DAY_S,
  };
}

function isOld(n: number): boolean {
  return n % 3 !== 0;
}

function isArchivable({ directory, name, content }: ModelFile): boolean {
  const isKept = Number(directory.slice(1)) < KEPT_DIRECTORIES;
  return /\.(log|dat)$/.test(name) && content.length > SMALL_BYTES && !isKept;
}

async function attachPolicies(name: string, share: string, { url, keys }: Bucket): Promise<void> {
  const { client } = array;
  const { access: username, secret: password } = keys;
  const place = { name, bucket: BUCKET, endpoint: new URL(url).host, username, password };
  const { object_storage_destination: destination } = await client.objectStorageDestinations.create(place);
  const old = { modified_age: { $gt: '90d' } };
  const archive = {
    display_name: `${name} a: old data`,
    lc_action: 'archive',
    dest_obs_name: destination.name,
    file_selection_criteria: { extension: { $in: ['log', 'dat'] }, size: { $gt: SMALL_BYTES }, ...old },
    blacklist_paths: Array.from({ length: KEPT_DIRECTORIES }, (_, n) => `/d${n}`),
  } as const;
  const expire = {
    display_name: `${name} b: temporary`,
    lc_action: 'expire',
    file_selection_criteria: { name: { $glob: '*.tmp' }, ...old },
  } as const;
  for (const policy of [archive, expire]) {
    const { lc_policy_name: id } = await client.lifecyclePolicies.create(policy);
    await client.lifecyclePolicies.attach({ id, volume_name: share });
  }
}

async function keysOf(client: S3Client): Promise<string[]> {
  const keys: string[] = [];
  for (let after = ''; ;) {
    const query = { 'list-type': '2', ...(after !== '' && { 'start-after': after }) };
    const found = expect(await client.call('GET', `/${BUCKET}`, { query }), 200).all('Key');
    if (found.length === 0) return keys;
    keys.push(...found);
    after = found.at(-1) as string;
  }
}

function sorted(numbers: readonly number[]): number[] {
  return [...numbers].sort((a, b) => a - b);
}
