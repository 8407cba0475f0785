import type { ChildProcess } from 'node:child_process';
import { finished } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FromProgram, GivenBack, HostedConfiguration, Listening, ToProgram } from '@granary/kernel';
import { forkProgram } from './forking.ts';
import { RotatingFile } from './output.ts';

const LAST_WORDS_LENGTH_MAX = 2_000;
const OUTPUT_MS_MAX = 1_000;

interface Launch {
  readonly program: string;
  readonly configuration: HostedConfiguration;
  readonly logFile: string;
  /** Where compiled code is kept between starts: it makes them faster and smaller. */
  readonly cacheFolder: string | undefined;
  /** The array gives something back: null when it was taken, else why not. */
  readonly onReturn: (what: GivenBack) => Promise<string | null>;
  readonly onListening: (now: Listening, before: Listening) => void;
}

export interface Ending {
  /** In words, for the operator. */
  readonly reason: string;
}

/** One run of an array process, from fork to exit. */
export class ArrayProcess {
  readonly ended: Promise<Ending>;
  readonly #child: ChildProcess;
  readonly #onReturn: Launch['onReturn'];
  readonly #onListening: Launch['onListening'];
  readonly #changes = new Map<number, (answer: FromProgram | undefined) => void>();
  #ready: (isReady: boolean) => void = () => undefined;
  #listening: Listening = { bound: [], unbound: [] };
  #nextChange = 1;
  #told: string | undefined;
  #lastWords = '';

  constructor({ program, configuration, logFile, cacheFolder, onReturn, onListening }: Launch) {
    this.#onReturn = onReturn;
    this.#onListening = onListening;
    this.#child = forkProgram(program, configuration.internalName, cacheFolder);
    const written = this.#keepOutput(logFile);
    this.#child.on('message', (message: FromProgram) => this.#hear(message));
    this.ended = this.#watchEnd(written);
    this.#send({ kind: 'start', configuration });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Where it listens, by its last word. */
  get listening(): Listening {
    return this.#listening;
  }

  /** True once it serves; false when it ended first or the time was up. */
  ready(timeoutMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), timeoutMs);
      this.#ready = (isReady) => {
        clearTimeout(timer);
        resolve(isReady);
      };
      void this.ended.then(() => this.#ready(false));
    });
  }

  /** Asks a process that runs to become what the configuration says. */
  change(configuration: HostedConfiguration, timeoutMs: number): Promise<FromProgram | undefined> {
    const id = this.#nextChange++;
    return new Promise((resolve) => {
      const timer = setTimeout(() => answer(undefined), timeoutMs);
      const answer = (message: FromProgram | undefined) => {
        clearTimeout(timer);
        this.#changes.delete(id);
        resolve(message);
      };
      this.#changes.set(id, answer);
      this.#send({ kind: 'change', id, configuration });
    });
  }

  kill(reason: string): void {
    this.#told ??= reason;
    this.#child.kill('SIGKILL');
  }

  /** Politely first; a process that does not go in time is killed. */
  async stop(timeoutMs: number): Promise<void> {
    this.#child.kill('SIGTERM');
    const impatience = setTimeout(() => this.#child.kill('SIGKILL'), timeoutMs);
    await this.ended;
    clearTimeout(impatience);
  }

  #hear(message: FromProgram): void {
    if (message.kind === 'failed') {
      this.#told ??= message.reason;
      return;
    }
    if (message.kind === 'return') {
      const { id, what } = message;
      void this.#onReturn(what).then((problem) => this.#send({ kind: 'returned', id, problem }));
      return;
    }
    // Also when nobody waits any more: a change may take longer than whoever asked for it.
    if (message.kind !== 'refused') this.#hearListening(message);
    if (message.kind === 'ready') this.#ready(true);
    else if (message.kind !== 'listening') this.#changes.get(message.id)?.(message);
  }

  #hearListening({ bound, unbound }: Listening): void {
    const before = this.#listening;
    this.#listening = { bound, unbound };
    this.#onListening(this.#listening, before);
  }

  #send(message: ToProgram): void {
    // A process that went away is noticed by its exit; what we wanted to say no longer matters.
    if (this.#child.connected) this.#child.send(message, () => undefined);
  }

  #watchEnd(written: Promise<void>): Promise<Ending> {
    return new Promise((resolve) => {
      this.#child.on('error', (error) => {
        if (this.#child.pid === undefined) resolve({ reason: `it could not be started: ${error.message}` });
      });
      this.#child.once('exit', (code, signal) => {
        for (const answer of this.#changes.values()) answer(undefined);
        // Its last words are in the file, and nothing is written to its folder any more.
        void Promise.race([written, sleep(OUTPUT_MS_MAX, undefined, { ref: false })]).then(() =>
          resolve({ reason: this.#reasonOf(code, signal) }),
        );
      });
    });
  }

  #reasonOf(code: number | null, signal: string | null): string {
    if (this.#told !== undefined) return this.#told;
    const how = signal === null ? `it ended with exit code ${code}` : `it was ended by ${signal}`;
    const line = this.#lastWords
      .split('\n')
      .map((text) => text.trim())
      .find((text) => /^\w*Error\b/.test(text));
    return line === undefined ? how : `${how}: ${line}`;
  }

  /** Resolves once everything it said is in its log. */
  #keepOutput(logFile: string): Promise<void> {
    const { stdout, stderr } = this.#child;
    stderr?.on('data', (chunk: Buffer) => {
      this.#lastWords = (this.#lastWords + chunk.toString('utf8')).slice(-LAST_WORDS_LENGTH_MAX);
    });
    const file = new RotatingFile(logFile);
    for (const stream of [stdout, stderr]) stream?.pipe(file, { end: false });
    this.#child.once('close', () => file.end());
    return finished(file);
  }
}
