import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Store, type Migrations } from './store/index.ts';

const noMigrations: Migrations = { component: 'test', steps: [] };

/** A folder that is gone after the test. */
export function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'granary-test-'));
  t.after(() => {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  });
  return folder;
}

/** A folder with a file system of its own, so small that it can be filled; undefined where the test may not mount. */
export function smallFileSystem(t: TestContext, megabytes: number): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'granary-test-'));
  let isMounted = false;
  t.after(() => {
    if (isMounted) execFileSync('umount', ['-l', folder], { stdio: 'ignore' });
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  });
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder], { stdio: 'ignore' });
  } catch {
    return undefined;
  }
  isMounted = true;
  return folder;
}

/** Writes to the file until its disk is full, to the last block. */
export function fillDisk(file: string): void {
  const descriptor = openSync(file, 'a');
  try {
    for (const size of [2 ** 20, 4096]) {
      const piece = Buffer.alloc(size, 1);
      try {
        while (writeSync(descriptor, piece) === size);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
      }
    }
  } finally {
    closeSync(descriptor);
  }
}

export function temporaryStore(t: TestContext, sql = ''): Store {
  const migrations = sql === '' ? noMigrations : { component: 'test', steps: [{ name: '0001-test.sql', sql }] };
  const store = new Store(join(temporaryFolder(t), 'test.db'), migrations);
  t.after(() => {
    store.close();
  });
  return store;
}

/** Random numbers in [0, 1) that `GRANARY_TEST_SEED` replays. */
export function seededRandom(t: TestContext): () => number {
  const seed = Number(process.env['GRANARY_TEST_SEED'] ?? Date.now() % 2 ** 32);
  t.diagnostic(`GRANARY_TEST_SEED=${seed}`);
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A real process that tells what it did line by line, and can be killed in the middle. */
export class LineProcess {
  readonly lines: string[] = [];
  readonly #child: ChildProcess;
  #rest = '';

  constructor(script: URL, ...args: string[]) {
    this.#child = spawn(process.execPath, [fileURLToPath(script), ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      const parts = (this.#rest + text).split('\n');
      this.#rest = parts.pop() ?? '';
      this.lines.push(...parts);
    });
  }

  /** Ended, and everything it wrote has been read. */
  async ended(): Promise<void> {
    if (!this.#child.stdout?.closed) await once(this.#child, 'close');
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.ended();
  }
}

/** Waits until something holds; a test that waits in vain fails. */
export async function until(holds: () => boolean, timeoutMs = 30_000): Promise<void> {
  const giveUpAt = Date.now() + timeoutMs;
  while (!holds()) {
    if (Date.now() > giveUpAt) throw new Error(`Waited ${timeoutMs} ms in vain for ${String(holds)}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

const LOOK_EVERY_MS = 20;
const STANDSTILL_MS = 200;

/** How long work takes, in milliseconds: of a moment in which the machine stands still only its beginning counts. */
export async function awakeMs(work: () => Promise<unknown>): Promise<number> {
  let [spent, lookedMs] = [0, performance.now()];
  const look = () => {
    const nowMs = performance.now();
    spent += Math.min(nowMs - lookedMs, STANDSTILL_MS);
    lookedMs = nowMs;
  };
  const timer = setInterval(look, LOOK_EVERY_MS);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
  look();
  return spent;
}

/** What work costs, in milliseconds of processor time: other processes do not make it look slow. */
export async function cpuMs(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
