import type { ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  PULSE_FD,
  type EncryptionChange,
  type FromProgram,
  type GivenBack,
  type HostedConfiguration,
  type Listening,
  type ToProgram,
} from '@granary/kernel';
import { forkProgram } from './forking.ts';
import { RotatingFile } from './output.ts';
import type { Ending, SupervisedProcess } from './process.ts';
import type { Timing } from './timing.ts';

const LAST_WORDS_LENGTH_MAX = 2_000;
const OUTPUT_MS_MAX = 1_000;

export interface Launch {
  readonly program: string;
  readonly configuration: HostedConfiguration;
  readonly logFile: string;
  /** Where compiled code is kept between starts: it makes them faster and smaller. */
  readonly cacheFolder: string | undefined;
  readonly timing: Timing;
  /** The array gives something back: null when it was taken, else why not. */
  readonly onReturn: (what: GivenBack) => Promise<string | null>;
  readonly onListening: (now: Listening, before: Listening) => void;
  /** All changes of its encryption that it keeps. */
  readonly onEncryption: (changes: readonly EncryptionChange[]) => void;
}

type Answer = (message: FromProgram | undefined) => void;

/** A process of the machine. */
export class ArrayProcess implements SupervisedProcess {
  readonly ended: Promise<Ending>;
  readonly ready: Promise<boolean>;
  readonly #child: ChildProcess;
  readonly #onReturn: Launch['onReturn'];
  readonly #onListening: Launch['onListening'];
  readonly #onEncryption: Launch['onEncryption'];
  readonly #timing: Timing;
  /** Who waits for an answer, by the id of the question. */
  readonly #asked = new Map<number, Answer>();
  #setReady: (isReady: boolean) => void = () => undefined;
  #listening: Listening = { bound: [], unbound: [] };
  #lastId = 0;
  /** A health check that was not answered, and so is not asked again. */
  #healthCheck: number | undefined;
  #steps = 0;
  #stage: string | undefined;
  #pulses = 0;
  #lastSignAt: number;
  #silentSince: number | undefined;
  #sentConfiguration: string | undefined;
  #lastWords = '';

  constructor(launch: Launch) {
    const { program, configuration, logFile, cacheFolder, timing } = launch;
    this.#onReturn = launch.onReturn;
    this.#onListening = launch.onListening;
    this.#onEncryption = launch.onEncryption;
    this.#timing = timing;
    this.#lastSignAt = timing.now();
    const { internalName, limits } = configuration;
    this.#child = forkProgram({ program, name: internalName, cacheFolder, limits });
    const written = this.#keepOutput(logFile);
    this.#child.on('message', (message: FromProgram) => this.#receive(message));
    this.#watchPulses();
    this.ended = this.#watchEnd(written);
    this.ready = new Promise((resolve) => {
      this.#setReady = resolve;
    });
    void this.ended.then(() => this.#setReady(false));
    this.#send({ kind: 'start', configuration });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get listening(): Listening {
    return this.#listening;
  }

  get steps(): number {
    return this.#steps;
  }

  get stage(): string | undefined {
    return this.#stage;
  }

  get pulses(): number {
    return this.#pulses;
  }

  async check(timeoutMs: number): Promise<boolean> {
    // One question is enough for a main thread that is busy: it answers when it is back.
    const id = this.#healthCheck ?? ++this.#lastId;
    const isNew = this.#healthCheck === undefined;
    this.#healthCheck = id;
    const answer = this.#answerTo(id, timeoutMs);
    if (isNew) this.#send({ kind: 'health', id });
    return (await answer) !== undefined;
  }

  change(configuration: HostedConfiguration, timeoutMs: number): Promise<FromProgram | undefined> {
    const id = ++this.#lastId;
    const answer = this.#answerTo(id, timeoutMs);
    this.#send({ kind: 'change', id, configuration });
    return answer;
  }

  kill(reason: string): void {
    this.#sentConfiguration ??= reason;
    this.#silentSince = this.#lastSignAt;
    this.#child.kill('SIGKILL');
  }

  async stop(timeoutMs: number): Promise<void> {
    this.#child.kill('SIGTERM');
    const impatience = setTimeout(() => this.#child.kill('SIGKILL'), timeoutMs);
    await this.ended;
    clearTimeout(impatience);
  }

  #receive(message: FromProgram): void {
    this.#lastSignAt = this.#timing.now();
    switch (message.kind) {
      case 'progress':
        this.#steps += 1;
        this.#stage = message.stage;
        return;
      case 'failed':
        this.#sentConfiguration ??= message.reason;
        return;
      case 'return': {
        const { id, what } = message;
        void this.#onReturn(what).then((problem) => this.#send({ kind: 'returned', id, problem }));
        return;
      }
      case 'ready':
        this.#receiveListening(message);
        this.#setReady(true);
        return;
      case 'listening':
        this.#receiveListening(message);
        return;
      case 'encryption':
        this.#onEncryption(message.changes);
        return;
      case 'healthy':
        this.#healthCheck = undefined;
        this.#asked.get(message.id)?.(message);
        return;
      case 'changed':
        // Also when no caller waits any more: a change may take longer than the caller's timeout.
        this.#receiveListening(message);
        this.#asked.get(message.id)?.(message);
        return;
      case 'refused':
        this.#asked.get(message.id)?.(message);
    }
  }

  #receiveListening({ bound, unbound }: Listening): void {
    const before = this.#listening;
    this.#listening = { bound, unbound };
    this.#onListening(this.#listening, before);
  }

  #answerTo(id: number, timeoutMs: number): Promise<FromProgram | undefined> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => answer(undefined), timeoutMs);
      const answer = (message: FromProgram | undefined) => {
        clearTimeout(timer);
        this.#asked.delete(id);
        resolve(message);
      };
      this.#asked.set(id, answer);
    });
  }

  #watchPulses(): void {
    const pulses = this.#child.stdio[PULSE_FD] as Readable | null | undefined;
    pulses?.on('data', () => {
      this.#pulses += 1;
      this.#lastSignAt = this.#timing.now();
    });
    // It ends with the process, which is noticed by its exit.
    pulses?.on('error', () => undefined);
  }

  #send(message: ToProgram): void {
    // A process that went away is noticed by its exit; what we wanted to say no longer matters.
    if (this.#child.connected) this.#child.send(message, () => undefined);
  }

  #watchEnd(written: Promise<void>): Promise<Ending> {
    return new Promise((resolve) => {
      this.#child.on('error', (error) => {
        if (this.#child.pid === undefined)
          resolve({ reason: `it could not be started: ${error.message}`, silentSince: undefined });
      });
      this.#child.once('exit', (code, signal) => {
        for (const answer of this.#asked.values()) answer(undefined);
        // Its last words are in the file, and nothing is written to its folder any more.
        void Promise.race([written, sleep(OUTPUT_MS_MAX, undefined, { ref: false })]).then(() =>
          resolve({ reason: this.#reasonOf(code, signal), silentSince: this.#silentSince }),
        );
      });
    });
  }

  #reasonOf(code: number | null, signal: string | null): string {
    if (this.#sentConfiguration !== undefined) return this.#sentConfiguration;
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
