import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Duplex, Readable } from 'node:stream';
import { CHANNEL_FD, type Message, type TestMessage } from './channel.ts';

export interface FileResult {
  readonly file: string;
  readonly tests: readonly TestMessage[];
  readonly wallMs: number;
  readonly cpuMs: number;
  /** What was wrong with the file as a whole: it left something behind, or its process died. */
  readonly problems: readonly string[];
  /** What it printed. */
  readonly output: string;
}

export interface PoolOptions {
  readonly concurrency: number;
  readonly env: Readonly<Record<string, string>>;
  /** Files that run in a process of their own. */
  readonly isIsolated: (file: string) => boolean;
  readonly onResult: (result: FileResult) => void;
}

/** Modules and compiled code are shared by this many files at most; then memory goes back to the system. */
const FILES_PER_WORKER_MAX = 60;
const RSS_BYTES_MAX = 900 * 1024 * 1024;

/** Runs every file; each worker takes the next one when it has finished one, so that all of them end together. */
export async function runFiles(files: readonly string[], options: PoolOptions): Promise<void> {
  const queue = files.values();
  await Promise.all(Array.from({ length: options.concurrency }, () => work(queue, options)));
}

async function work(queue: Iterator<string>, options: PoolOptions): Promise<void> {
  let worker: TestWorker | undefined;
  for (let next = queue.next(); next.done !== true; next = queue.next()) {
    const isIsolated = options.isIsolated(next.value);
    const own = isIsolated ? undefined : worker;
    const chosen = own ?? new TestWorker(options.env, isIsolated);
    options.onResult(await chosen.run(next.value));
    if (isIsolated || chosen.isUsedUp) await chosen.end();
    if (!isIsolated) worker = chosen.isUsedUp ? undefined : chosen;
  }
  await worker?.end();
}

class TestWorker {
  readonly #child: ChildProcess;
  readonly #channel: Duplex;
  readonly #messages: AsyncIterator<string>;
  readonly #ended: Promise<string>;
  #output: Buffer[] = [];
  #files = 0;
  #isUsedUp = false;

  constructor(env: Readonly<Record<string, string>>, isIsolated: boolean) {
    const at = (name: string) => join(import.meta.dirname, name);
    const preloaded = isIsolated ? [] : [`--import=${at('quick-scrypt.ts')}`];
    const args = [
      ...preloaded,
      `--test-reporter=${at('reporter.ts')}`,
      '--test-reporter-destination=stdout',
      at('worker.ts'),
    ];
    const stdio: ('pipe' | 'ignore')[] = ['ignore', 'pipe', 'pipe'];
    stdio[CHANNEL_FD] = 'pipe';
    this.#child = spawn(process.execPath, args, { stdio, env: { ...process.env, ...env } });
    this.#ended = new Promise((resolve, reject) => {
      this.#child.once('error', reject);
      this.#child.once('close', (code, signal) => resolve(signal ?? `exit code ${code}`));
    });
    for (const stream of [this.#child.stdout, this.#child.stderr] as Readable[])
      stream.on('data', (chunk: Buffer) => this.#output.push(chunk));
    this.#channel = this.#child.stdio[CHANNEL_FD] as Duplex;
    this.#messages = createInterface({ input: this.#channel })[Symbol.asyncIterator]();
  }

  get isUsedUp(): boolean {
    return this.#isUsedUp || this.#files >= FILES_PER_WORKER_MAX;
  }

  async run(file: string): Promise<FileResult> {
    const tests: TestMessage[] = [];
    const start = performance.now();
    this.#files += 1;
    this.#output = [];
    this.#channel.write(`${file}\n`);
    const result = (cpuMs: number, problems: readonly string[]): FileResult => ({
      file,
      tests,
      wallMs: performance.now() - start,
      cpuMs,
      problems,
      output: Buffer.concat(this.#output).toString(),
    });
    for (;;) {
      const next = await this.#messages.next();
      if (next.done === true) {
        this.#isUsedUp = true;
        return result(0, [`its process ended: ${await this.#ended}`]);
      }
      const message = JSON.parse(next.value) as Message;
      if (message.kind === 'test') tests.push(message);
      else if (message.kind === 'output') this.#output.push(Buffer.from(message.text));
      else {
        if (message.leaks.length > 0 || message.rssBytes > RSS_BYTES_MAX) this.#isUsedUp = true;
        return result(
          message.cpuMs,
          message.leaks.map((leak) => `it leaves ${leak}`),
        );
      }
    }
  }

  async end(): Promise<void> {
    this.#channel.end();
    await this.#ended;
  }
}
