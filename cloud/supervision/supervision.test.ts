import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createLog, type ProcessLimits } from '@granary/kernel';
import { temporaryFolder } from '../../testing/folders.ts';
import { until } from '../../testing/waiting.ts';
import { testConfiguration, testDrive } from '../../kernel/process/testing/configuration.ts';
import { openCache } from './cache.ts';
import type { SupervisionLimits } from './limits.ts';
import { RotatingFile } from './output.ts';
import type { StateChange } from './supervised-array.ts';
import { Supervisor } from './supervisor.ts';

const program = fileURLToPath(new URL('../testing/fake-array.ts', import.meta.url));
const WAIT_MS = 30_000;
const quick: Partial<SupervisionLimits> = {
  stopMsMax: 1_000,
  healthEveryMs: 100,
  healthMsMax: 2_000,
  backoffMs: 50,
};

/** A supervisor with one array whose process is real and behaves as the test says. */
async function setUp(
  t: TestContext,
  mood = 'serve',
  limits: Partial<SupervisionLimits> = {},
  { withCache = true } = {},
) {
  const data = temporaryFolder(t);
  const folder = join(data, 'array');
  mkdirSync(folder);
  const setMood = (text: string) => writeFileSync(join(folder, 'mood'), text);
  setMood(mood);
  const configuration = testConfiguration(folder);
  const changes: StateChange[] = [];
  const lines: string[] = [];
  const supervisor = new Supervisor({
    programs: { storage_array: program, object_storage: program },
    cacheFolder: withCache ? openCache(join(data, 'compiled'), 'test') : undefined,
    log: createLog('test', 'info', { write: (line) => lines.push(line) }),
    limits: { ...quick, ...limits },
    onChange: (_, change) => changes.push(change),
    onReturn: () => Promise.resolve(null),
    onListening: () => undefined,
    onEncryption: () => undefined,
  });
  t.after(() => supervisor.stopAll());
  const array = await supervisor.describe('storage_array', configuration);
  const reach = (path: string) =>
    fetch(`${configuration.managementUrl}${path}`).then(
      (response) => response.text(),
      () => 'no answer',
    );
  const states = () => changes.map(({ state }) => state);
  const reaches = (state: string) => until(() => array.state === state, undefined, WAIT_MS);
  const logged = () => lines.join('');
  return { supervisor, array, configuration, folder, setMood, reach, states, changes, reaches, logged };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

test('an array starts, answers, and stops when it is asked to', async (t) => {
  const { array, reach, states, reaches, folder } = await setUp(t);
  assert.equal(array.state, 'stopped');
  array.start();
  array.start();
  await reaches('running');
  const pid = array.pid!;
  assert.equal(await reach('/healthz'), 'ok');
  await array.stop();
  assert.equal(isAlive(pid), false);
  assert.equal(array.pid, undefined);
  assert.deepEqual(states(), ['starting', 'running', 'stopping', 'stopped']);
  assert.match(readFileSync(join(folder, 'array.log'), 'utf8'), /asked for \/healthz/);
});

test('a process runs within the limits of its engines, and a change of them starts another one within the new', async (t) => {
  const { supervisor, array, configuration, reach, reaches } = await setUp(t);
  const describe = (limits: ProcessLimits) => supervisor.describe('storage_array', { ...configuration, limits });
  const measured = async () => JSON.parse(await reach('/limits')) as { heapMb: number; ioThreads?: string };
  await describe({ processors: 3, managementHeapMb: 300 });
  array.start();
  await reaches('running');
  const first = array.pid;
  const before = await measured();
  assert.equal(before.ioThreads, '6');
  assert.ok(before.heapMb >= 300 && before.heapMb < 400, `${before.heapMb} MB`);
  await describe({ processors: 1, managementHeapMb: 600 });
  await until(() => array.state === 'running' && array.pid !== first, undefined, WAIT_MS);
  const after = await measured();
  assert.equal(after.ioThreads, '2');
  assert.ok(after.heapMb >= 600 && after.heapMb < 700, `${after.heapMb} MB`);
  assert.equal(array.restarts, 0, 'it did not crash');
});

test('a process that crashes is started again', async (t) => {
  const { array, reach, reaches, changes } = await setUp(t);
  array.start();
  await reaches('running');
  const first = array.pid;
  await reach('/crash');
  await until(() => array.restarts === 1 && array.state === 'running', undefined, WAIT_MS);
  assert.notEqual(array.pid, first);
  assert.deepEqual(
    changes.find(({ reason }) => reason !== undefined),
    { state: 'starting', reason: 'A beam broke.' },
  );
  assert.equal(await reach('/'), 'ok');
});

test('a new array that does not start three times fails with the reason; asked to start again, it recovers', async (t) => {
  const { array, reaches, setMood } = await setUp(t, 'fail');
  array.start();
  await reaches('failed');
  assert.equal(
    array.reason,
    'Its process did not start 3 times in a row, last: The cellar is flooded. Restore it to try again.',
  );
  assert.equal(array.restarts, 2);
  assert.equal(array.pid, undefined);
  setMood('serve');
  array.start();
  await reaches('running');
  assert.equal(array.reason, undefined);
});

test('a process that ends without a message is reported by its exit code', async (t) => {
  const { array, reaches } = await setUp(t, 'exit');
  array.start();
  await reaches('failed');
  assert.match(array.reason ?? '', /3 times in a row, last: it ended with exit code 7\. Restore/);
});

test('a start that reports no progress is killed, and three of them in a row fail a new array', async (t) => {
  const { array, reaches } = await setUp(t, 'never ready', { startCheckMs: 20, stalledChecksMax: 20 });
  array.start();
  await reaches('failed');
  const stalled = 'its start made no progress for 0.4 seconds \\((reading its configuration|loading its program)\\)';
  assert.match(
    array.reason ?? '',
    new RegExp(`^Its process did not start 3 times in a row, last: ${stalled}\\. Restore it to try again\\.$`),
  );
});

test('an array that does not answer over HTTP, but over its channel, goes on', async (t) => {
  const { array, reach, reaches, supervisor, configuration } = await setUp(t, 'serve', { healthEveryMs: 20 });
  array.start();
  await reaches('running');
  const { pid } = array;
  const deaf = reach('/deaf');
  // A change is sent with a health check that was answered: this many were.
  for (let drives = 3; drives < 15; drives += 1) {
    const list = Array.from({ length: drives }, (_, n) => testDrive(n + 1));
    await supervisor.describe('storage_array', { ...configuration, drives: list });
  }
  assert.equal(array.pid, pid);
  assert.equal(array.restarts, 0);
  await array.stop();
  assert.equal(await deaf, 'no answer');
});

const hanging = { healthEveryMs: 50, healthMsMax: 50, healthMissesMax: 10 };

test('a process that gives no sign of life at all is killed and started again', async (t) => {
  const { array, reach, reaches, changes, folder } = await setUp(t, 'serve', hanging);
  array.start();
  await reaches('running');
  const first = array.pid!;
  writeFileSync(join(folder, 'hang'), '');
  void reach('/hang');
  await until(() => array.restarts > 0 && array.state === 'running', undefined, WAIT_MS);
  assert.equal(isAlive(first), false);
  const why = 'neither its management nor its data path gave a sign of life in 10 health checks';
  assert.ok(changes.some(({ reason }) => reason === why));
});

test('a process whose main thread hangs while its data path works is not killed, and says what is wrong', async (t) => {
  const { array, reach, reaches, changes, folder } = await setUp(t, 'threaded', hanging);
  array.start();
  await reaches('running');
  const { pid } = array;
  const hang = join(folder, 'hang');
  writeFileSync(hang, '');
  void reach('/hang');
  await until(() => array.reason === 'its management does not answer; its data path works', undefined, WAIT_MS);
  assert.deepEqual([array.state, array.pid, array.restarts], ['running', pid, 0]);
  rmSync(hang);
  await until(() => array.reason === undefined, undefined, WAIT_MS);
  assert.equal(array.pid, pid);
  assert.deepEqual(changes.at(-1), { state: 'running', reason: undefined });
});

test('a process that does not stop when asked is killed', async (t) => {
  const { array, reaches } = await setUp(t, 'stubborn', { stopMsMax: 300 });
  array.start();
  await reaches('running');
  const pid = array.pid!;
  await array.stop();
  assert.equal(isAlive(pid), false);
  assert.equal(array.state, 'stopped');
});

test('start and stop in quick succession end as the last one asked', async (t) => {
  const { array, reaches } = await setUp(t);
  array.start();
  const stopped = array.stop();
  array.start();
  await stopped;
  await reaches('running');
  array.start();
  void array.stop();
  array.start();
  await array.stop();
  assert.equal(array.state, 'stopped');
  assert.equal(array.pid, undefined);
});

test('a change reaches a running process at once, a starting one when it is up, a stopped one at its start', async (t) => {
  const { supervisor, array, configuration, reach, reaches } = await setUp(t);
  const withDrives = (count: number) => ({
    ...configuration,
    drives: Array.from({ length: count }, (_, n) => testDrive(n + 1)),
  });
  await supervisor.describe('storage_array', withDrives(3));
  array.start();
  await supervisor.describe('storage_array', withDrives(4));
  await reaches('running');
  await supervisor.describe('storage_array', withDrives(5));
  assert.equal(await reach('/drives'), '5');
  const network = { id: 3, address: '127.0.0.9', netmask: '255.0.0.0', gateway: null, vlanId: 1 };
  await supervisor.describe('storage_array', { ...withDrives(5), interfaces: [network] });
  assert.deepEqual(array.listening.bound, [configuration.management.host, '127.0.0.9']);
});

test('an array that refuses a change goes on as it was, and is sent it again until it follows', async (t) => {
  const { supervisor, array, configuration, reach, reaches, setMood, logged } = await setUp(t);
  array.start();
  await reaches('running');
  setMood('refuse');
  await supervisor.describe('storage_array', { ...configuration, drives: [] });
  assert.equal(array.state, 'running');
  assert.equal(await reach('/drives'), '2');
  await until(() => logged().includes('an array does not follow its configuration'), undefined, WAIT_MS);
  setMood('serve');
  await supervisor.describe('storage_array', { ...configuration, drives: [] });
  assert.equal(await reach('/drives'), '0', 'the same again is sent, too');
  setMood('refuse');
  await supervisor.describe('storage_array', { ...configuration, drives: [testDrive(1)] });
  setMood('serve');
  await until(async () => (await reach('/drives')) === '1', 'the array knows its drive');
});

test('secrets are not in the arguments or the environment of a process', async (t) => {
  process.env['GRANARY_TEST_SECRET'] = 'do not pass me on';
  t.after(() => delete process.env['GRANARY_TEST_SECRET']);
  const { array, configuration, reaches } = await setUp(t);
  array.start();
  await reaches('running');
  if (!existsSync(`/proc/${array.pid}`)) {
    t.skip('needs /proc');
    return;
  }
  const shown = ['cmdline', 'environ'].map((name) => readFileSync(`/proc/${array.pid}/${name}`, 'utf8')).join();
  for (const secret of [
    configuration.initialPasscode,
    configuration.internalKey,
    configuration.vaultKey,
    'do not pass',
  ])
    assert.ok(!shown.includes(secret));
  assert.ok(shown.includes(configuration.internalName));
});

test('a log starts over when it is full and keeps the one before', async (t) => {
  const file = join(temporaryFolder(t), 'array.log');
  const log = new RotatingFile(file, 100);
  for (let n = 0; n < 10; n += 1) log.write(`line number ${n} of the log\n`);
  log.end();
  await finished(log);
  assert.match(readFileSync(file, 'utf8'), /line number 9/);
  assert.match(readFileSync(`${file}.1`, 'utf8'), /line number [3-8]/);
  assert.ok(statSync(file).size <= 100);
});

test('compiled code is kept in a folder of ours alone; where there is none, arrays start without', async (t) => {
  const folder = join(temporaryFolder(t), 'cache');
  const cache = openCache(folder, '1.0.0') as string;
  assert.equal(statSync(folder).mode & 0o777, 0o700);
  const old = openCache(folder, '0.9.0') as string;
  utimesSync(old, 0, 0);
  assert.equal(openCache(folder, '1.0.0'), cache);
  assert.equal(existsSync(old), false, 'code of releases long unused goes');
  chmodSync(folder, 0o777);
  assert.equal(openCache(folder, '1.0.0'), undefined);
  assert.equal(openCache(join(program, 'cache'), '1.0.0'), undefined);
  const { array, reaches } = await setUp(t, 'serve', {}, { withCache: false });
  array.start();
  await reaches('running');
});
