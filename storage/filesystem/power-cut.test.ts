import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomFrom } from '../../testing/random.ts';
import { checkFilesystem } from './check/check.ts';
import { Filesystem } from './filesystem.ts';
import { CrashDevice } from './testing/crash-device.ts';
import { type Described, describeFilesystem, describeModel, type Description } from './testing/described.ts';
import { MemoryDevice } from './testing/memory-device.ts';
import { FilesystemModel, type Operation } from './testing/filesystem-model.ts';
import { operationOf, perform, randomStep, SUPERUSER } from './testing/operations.ts';
import { FilesystemSession } from './testing/filesystem-session.ts';

const TORTURE = process.env.GRANARY_TORTURE === '1';
const RUNS = TORTURE ? 1000 : 5;
const FIRST_SEED = Number(process.env.GRANARY_SEED ?? Date.now() % 1_000_000);
const MIB = 1024 * 1024;

/**
 * Works in a directory of its own, one operation after the other. Knows what has to be there after a power cut: all that
 * was acknowledged, and of the operation under way all or nothing. The bytes that were written since the last commit may
 * be any of those that were in their place since.
 */
class Client {
  readonly home: string;
  readonly #filesystem: Filesystem;
  readonly #random: () => number;
  readonly #versions = new Map<number, Buffer[]>();
  #model: FilesystemModel;
  /** With the operation under way. */
  #next: FilesystemModel;

  constructor(home: string, filesystem: Filesystem, random: () => number) {
    this.home = home;
    this.#filesystem = filesystem;
    this.#random = random;
    this.#model = new FilesystemModel();
    this.#model.apply({ kind: 'create', path: home, type: 'directory', target: '' });
    this.#next = this.#model;
  }

  /** Until the power is cut. */
  async work(device: CrashDevice): Promise<void> {
    try {
      for (;;) {
        if (this.#random() < 0.15) await this.#commit();
        const operation = operationOf(randomStep(this.#random), this.#model, this.home);
        if (operation.kind === 'preallocate') continue;
        await this.#perform(operation);
      }
    } catch (error) {
      if (!device.isCut) throw error;
    }
  }

  async #commit(): Promise<void> {
    await this.#filesystem.commit();
    this.#versions.clear();
  }

  async #perform(operation: Operation): Promise<void> {
    this.#next = this.#model.copy();
    const expected = this.#next.apply(operation);
    if (operation.kind === 'write' || operation.kind === 'truncate' || operation.kind === 'punch') {
      this.#remember(operation.path);
    }
    const actual = await perform(this.#filesystem, operation);
    if (actual === 'EIO') throw new Error('the power is cut');
    assert.equal(actual, expected, JSON.stringify(operation));
    this.#model = this.#next;
    // Everything else is durable when it is answered, and so is what was written before.
    const isLoose = operation.kind === 'write' || (operation.kind === 'recall' && operation.ends !== 'finished');
    if (actual === undefined && !isLoose) this.#versions.clear();
  }

  /** What the file held, and what it will hold. */
  #remember(path: string): void {
    const [before, after] = [this.#model.find(path), this.#next.find(path)];
    if (before?.type !== 'file' || after === undefined) return;
    const versions = this.#versions.get(before.id) ?? [before.content];
    versions.push(after.content);
    this.#versions.set(before.id, versions);
  }

  verify(found: Description): void {
    const problems = [this.#model, this.#next].map((model) => this.#differences(found, model));
    assert.ok(
      problems.some((list) => list.length === 0),
      `what is there is neither what was acknowledged (${problems[0]?.[0]}) nor what was under way (${problems[1]?.[0]})`,
    );
  }

  #differences(found: Description, model: FilesystemModel): string[] {
    const expected = describeModel(model, this.home);
    const paths = new Set([...found.keys(), ...expected.keys()]);
    return [...paths].filter((path) => !this.#matches(model.find(path)?.id, found.get(path), expected.get(path)));
  }

  #matches(id: number | undefined, found: Described | undefined, expected: Described | undefined): boolean {
    if (found === undefined || expected === undefined) return false;
    const versions = this.#versions.get(id ?? 0) ?? [expected.content];
    const { content, size, ...rest } = found;
    const { content: _content, size: expectedSize, ...others } = expected;
    try {
      assert.deepEqual(rest, others);
    } catch {
      return false;
    }
    if (found.type !== 'file') return size === expectedSize;
    if (!versions.some((version) => version.length === size)) return false;
    for (let at = 0; at < content.length; at += 1) {
      if (!versions.some((version) => (version[at] ?? 0) === content[at])) return false;
    }
    return true;
  }
}

async function format(): Promise<MemoryDevice> {
  const device = new MemoryDevice(8 * MIB);
  await Filesystem.format(device, { journalBytes: 256 * 1024 });
  return device;
}

const formatted = format();

/** Two files of many extents, which are cut off and removed in steps, and a small one. */
async function fragmented(): Promise<MemoryDevice> {
  const device = new MemoryDevice(16 * MIB);
  await Filesystem.format(device, { journalBytes: 256 * 1024 });
  const root = new FilesystemSession(await Filesystem.mount(device), SUPERUSER);
  for (const path of ['/long', '/longer', '/small']) {
    await root.make(path);
    const extents = { '/long': 300, '/longer': 500 }[path] ?? 1;
    for (let index = 0; index < extents; index += 1) await root.write(path, Buffer.alloc(4096, 7), index * 8192);
  }
  await root.filesystem.unmount();
  return device;
}

const STORY: readonly [what: string, does: (root: FilesystemSession) => Promise<unknown>][] = [
  ['cut off', (root) => root.truncate('/long', 5000)],
  ['written behind the end', (root) => root.write('/long', 'again', 9000).then(() => root.filesystem.commit())],
  ['replaced', (root) => root.rename('/small', '/longer')],
  ['removed', (root) => root.unlink('/long')],
];

/** Returns whether the story came to its end before the power was cut. */
async function cutStoryAt(image: MemoryDevice, request: number): Promise<boolean> {
  const device = new CrashDevice(image);
  const root = new FilesystemSession(await Filesystem.mount(device), SUPERUSER);
  device.cutAt(request);
  let done = 0;
  try {
    for (const [, does] of STORY) {
      await does(root);
      done += 1;
    }
    await root.filesystem.whenIdle();
  } catch (error) {
    if (!device.isCut) throw error;
  }
  const left = await device.afterwards(randomFrom(request));
  assert.deepEqual((await checkFilesystem(left)).findings, [], `cut at ${request}`);
  const again = new FilesystemSession(await Filesystem.mount(left), SUPERUSER);
  await again.filesystem.whenIdle();
  const names = await again.list('/');
  if (done >= 4) assert.ok(!names.includes('long'));
  if (done >= 3) assert.deepEqual(await again.read('/longer'), Buffer.alloc(4096, 7));
  if (names.includes('long')) {
    const content = await again.read('/long');
    const hole = content.subarray(5000, done >= 1 ? 9000 : 5000);
    assert.ok(
      hole.every((byte) => byte === 0),
      `what was cut off at ${request} comes back`,
    );
    if (done >= 2) assert.equal(content.toString('latin1', 9000), 'again');
  }
  await again.filesystem.unmount();
  assert.deepEqual((await checkFilesystem(left)).findings, [], `used again after a cut at ${request}`);
  return !device.isCut;
}

async function cutPower(seed: number): Promise<void> {
  const random = randomFrom(seed);
  const device = new CrashDevice(await formatted, randomFrom(seed + 1));
  const filesystem = await Filesystem.mount(device, { cacheBytes: 256 * 1024 });
  const clients = Array.from({ length: 1 + (seed % 3) }, (_, index) => {
    return new Client(`/client-${index}`, filesystem, randomFrom(seed * 10 + index));
  });
  for (const { home } of clients) {
    await filesystem.create(SUPERUSER, filesystem.root, Buffer.from(home.slice(1)), { type: 'directory', mode: 0o750 });
  }
  device.cutAt(1 + Math.floor(random() * 400));
  await Promise.all(clients.map((client) => client.work(device)));
  const left = await device.afterwards(random);
  const { findings } = await checkFilesystem(left);
  assert.deepEqual(findings, [], 'the check finds something after the cut');
  const again = await Filesystem.mount(left);
  for (const client of clients) client.verify(await describeFilesystem(again, client.home));
  await again.unmount();
  const after = await checkFilesystem(left);
  assert.deepEqual(after.findings, [], 'the check finds something after the filesystem was used again');
}

test('work in steps survives a power cut at each of its writes and flushes', async () => {
  const image = await fragmented();
  const stride = TORTURE ? 1 : 9;
  for (let request = 1; !(await cutStoryAt(image, request)); request += stride);
});

test(`after ${RUNS} power cuts all that was acknowledged is there, and the check is clean`, async (context) => {
  context.diagnostic(`first seed ${FIRST_SEED}; GRANARY_SEED=${FIRST_SEED} repeats it`);
  for (let seed = FIRST_SEED; seed < FIRST_SEED + RUNS; seed += 1) {
    try {
      await cutPower(seed);
    } catch (error) {
      throw new Error(`power cut with seed ${seed}: ${String(error)}`, { cause: error });
    }
  }
});
