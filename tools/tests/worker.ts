import { syncBuiltinESMExports } from 'node:module';
import { createInterface } from 'node:readline';
import { Socket } from 'node:net';
import { mock, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { CHANNEL_FD, send } from './channel.ts';
import { reported } from './reporter.ts';

/**
 * Runs the test files that it is sent, one after the other, in one process: modules are loaded and compiled once for all
 * of them. Each file is a test of its own, so that its `before`, `after` and `beforeEach` concern only its own tests.
 * What a file leaves behind in the process would change the next one: that is reported as a failure of the file.
 */
/** Torture has files that take an hour. */
const TEST_MS_MAX = process.env['GRANARY_TORTURE'] === '1' ? 4 * 3_600_000 : 900_000;
/** A process of its own would not end while something is open; it has this long to close. */
const QUIET_MS_MAX = 30_000;

const commands = createInterface({ input: new Socket({ fd: CHANNEL_FD, readable: true, writable: false }) });
let running = Promise.resolve();
let lastError: unknown;

process.on('uncaughtExceptionMonitor', (error) => {
  lastError = error;
});

commands.on('line', (file) => {
  running = running.then(() => runFile(file));
});
commands.on('close', () => void running.then(() => process.exit()));

async function runFile(file: string): Promise<void> {
  const before = processState();
  const cpu = process.cpuUsage();
  const allReported = reported(file);
  await test(file, { timeout: TEST_MS_MAX }, async () => {
    await import(pathToFileURL(file).href);
  });
  await allReported;
  mock.reset();
  // A file that mocked Node's modules may have left its mocks in what later files import.
  syncBuiltinESMExports();
  const leaks = await leaksSince(before);
  const { user, system } = process.cpuUsage(cpu);
  send({ kind: 'end', file, cpuMs: (user + system) / 1000, rssBytes: process.memoryUsage.rss(), leaks });
}

interface ProcessState {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly open: ReadonlyMap<string, number>;
}

function processState(): ProcessState {
  return { env: { ...process.env }, cwd: process.cwd(), open: openResources() };
}

/** Whatever keeps a process alive, by kind. */
function openResources(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo()) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts;
}

async function leaksSince(before: ProcessState): Promise<string[]> {
  const leaks = environmentLeaks(before);
  if (process.cwd() !== before.cwd) {
    leaks.push(`the working directory ${process.cwd()}`);
    process.chdir(before.cwd);
  }
  leaks.push(...(await resourceLeaks(before.open)));
  // The runner fails the process, not a test, when an error comes from a test that has ended.
  if (process.exitCode !== undefined) leaks.push(`an error that came after its test had ended: ${String(lastError)}`);
  process.exitCode = undefined;
  return leaks;
}

function environmentLeaks({ env }: ProcessState): string[] {
  const leaks: string[] = [];
  for (const name of new Set([...Object.keys(env), ...Object.keys(process.env)])) {
    if (process.env[name] === env[name]) continue;
    leaks.push(`the environment variable ${name}`);
    if (env[name] === undefined) Reflect.deleteProperty(process.env, name);
    else process.env[name] = env[name];
  }
  return leaks;
}

async function resourceLeaks(before: ReadonlyMap<string, number>): Promise<string[]> {
  for (const end = performance.now() + QUIET_MS_MAX; ;) {
    const more = [...openResources()].filter(([kind, count]) => count > (before.get(kind) ?? 0));
    if (more.length === 0) return [];
    if (performance.now() > end) return more.map(([kind, count]) => `${count - (before.get(kind) ?? 0)} ${kind} open`);
    await quietly(10);
  }
}

/** Waits without being an open resource itself. */
function quietly(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
