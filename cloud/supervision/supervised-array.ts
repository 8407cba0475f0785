import { setTimeout as sleep } from 'node:timers/promises';
import type { GivenBack, HostedConfiguration, Listening, Log } from '@granary/kernel';
import { ArrayProcess } from './array-process.ts';
import { answers } from './health.ts';
import type { SupervisionLimits } from './limits.ts';
import type { Turns } from './turns.ts';

/** Refusals of one change after which it is told as an error. */
const REFUSALS_MAX = 3;

export type SupervisedState = 'stopped' | 'starting' | 'running' | 'stopping' | 'failed';

export interface StateChange {
  readonly state: SupervisedState;
  readonly reason: string | undefined;
}

interface SupervisedOptions {
  readonly program: string;
  readonly logFile: string;
  readonly cacheFolder: string | undefined;
  readonly limits: SupervisionLimits;
  readonly turns: Turns;
  /** Once the program is compiled. */
  readonly prepared: Promise<void>;
  readonly log: Log;
  readonly onChange: (change: StateChange) => void;
  readonly onReturn: (what: GivenBack) => Promise<string | null>;
  readonly onListening: (now: Listening, before: Listening) => void;
}

/** Keeps one array the way it should be: up, through crashes and hangs, or down. */
export class SupervisedArray {
  readonly #options: SupervisedOptions;
  #configuration: HostedConfiguration;
  /** The last one the process said it follows. */
  #followed: HostedConfiguration | undefined;
  #refusals = 0;
  #wantedUp = false;
  #state: SupervisedState = 'stopped';
  #reason: string | undefined;
  #process: ArrayProcess | undefined;
  #restarts = 0;
  /** The loop that keeps it up, and what ends it. At most one runs. */
  #loop: Promise<void> | undefined;
  #halt = new AbortController();
  #goingDown: Promise<void> | undefined;

  constructor(configuration: HostedConfiguration, options: SupervisedOptions) {
    this.#configuration = configuration;
    this.#options = options;
  }

  get state(): SupervisedState {
    return this.#state;
  }

  get reason(): string | undefined {
    return this.#reason;
  }

  /** Where its process listens; nowhere when there is none. */
  get listening(): Listening {
    return this.#process?.listening ?? { bound: [], unbound: [] };
  }

  get restarts(): number {
    return this.#restarts;
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  /** Runs it, or, when it failed, tries again from the beginning. */
  start(): void {
    this.#wantedUp = true;
    // On its way down it comes up again as soon as it is there.
    if (this.#loop || this.#goingDown) return;
    this.#halt = new AbortController();
    this.#enter('starting');
    this.#loop = this.#keepUp(this.#halt.signal).finally(() => {
      this.#loop = undefined;
    });
  }

  /** Says why it cannot even be started. */
  fail(reason: string): void {
    if (!this.#loop && !this.#goingDown) this.#enter('failed', reason);
  }

  stop(): Promise<void> {
    this.#wantedUp = false;
    this.#goingDown ??= this.#bringDown().finally(() => {
      this.#goingDown = undefined;
      if (this.#wantedUp) this.start();
    });
    return this.#goingDown;
  }

  /**
   * What it is from now on. A running process is told, and this resolves when it has followed or not in time; then it
   * is told again with its health checks.
   */
  async change(configuration: HostedConfiguration): Promise<void> {
    if (!isSame(configuration, this.#configuration)) {
      this.#configuration = configuration;
      this.#refusals = 0;
    }
    if (this.#state === 'running' && this.#process) await this.#tell(this.#process);
  }

  async #bringDown(): Promise<void> {
    this.#halt.abort();
    if (this.#loop) this.#enter('stopping');
    await this.#process?.stop(this.#options.limits.stopMsMax);
    await this.#loop;
    this.#enter('stopped');
  }

  async #keepUp(halt: AbortSignal): Promise<void> {
    const { limits, log } = this.#options;
    let crashes: number[] = [];
    let failedStarts = 0;
    for (;;) {
      const { served, reason } = await this.#runOnce(halt);
      if (halt.aborted) return;
      const now = performance.now();
      crashes = [...crashes.filter((time) => now - time < limits.crashWindowMs), now];
      // Starts that take long to fail never crowd into the window; in a row they are as hopeless.
      failedStarts = served ? 0 : failedStarts + 1;
      log.warn({ array: this.#configuration.internalName, reason, crashes: crashes.length }, 'an array process ended');
      if (Math.max(crashes.length, failedStarts) >= limits.crashesMax) {
        this.#enter('failed', hopelessness(crashes.length, failedStarts, limits, reason));
        return;
      }
      this.#enter('starting', reason);
      if (!(await pause(limits.backoffMs * 2 ** (crashes.length - 1), halt))) return;
      this.#restarts += 1;
    }
  }

  /** One process from start to end. */
  async #runOnce(halt: AbortSignal): Promise<{ served: boolean; reason: string }> {
    await this.#options.prepared;
    const process = await this.#options.turns.run(() => this.#launch(halt));
    if (!process) return { served: false, reason: 'it was stopped' };
    const served = this.#state === 'running';
    const ended = new AbortController();
    if (served) void this.#watchHealth(process, AbortSignal.any([ended.signal, halt]));
    const { reason } = await process.ended;
    ended.abort();
    this.#process = undefined;
    return { served, reason };
  }

  async #launch(halt: AbortSignal): Promise<ArrayProcess | undefined> {
    if (halt.aborted) return undefined;
    const { program, logFile, cacheFolder, limits, onReturn, onListening } = this.#options;
    const configuration = this.#configuration;
    const process = new ArrayProcess({ program, configuration, logFile, cacheFolder, onReturn, onListening });
    this.#process = process;
    const isReady = await process.ready(limits.readyMsMax);
    if (!isReady) process.kill(`it was not ready within ${limits.readyMsMax / 1000} seconds`);
    if (!isReady || isAborted(halt)) return process;
    this.#followed = configuration;
    this.#enter('running');
    void this.#tell(process);
    return process;
  }

  /** Tells the process what it should be, unless it said that it is. */
  async #tell(process: ArrayProcess): Promise<void> {
    const configuration = this.#configuration;
    if (configuration === this.#followed) return;
    const answer = await process.change(configuration, this.#options.limits.changeMsMax);
    if (process !== this.#process) return;
    if (answer?.kind === 'changed') this.#followed = configuration;
    else this.#countRefusal(answer?.kind === 'refused' ? answer.reason : 'it did not answer in time');
  }

  /** Told twice and not each time: it goes on for as long as the array refuses. */
  #countRefusal(reason: string): void {
    const facts = { array: this.#configuration.internalName, reason };
    this.#refusals += 1;
    if (this.#refusals === 1) this.#options.log.warn(facts, 'an array did not follow a change; it is told again');
    if (this.#refusals === REFUSALS_MAX) this.#options.log.error(facts, 'an array does not follow its configuration');
  }

  async #watchHealth(process: ArrayProcess, done: AbortSignal): Promise<void> {
    const { healthEveryMs, healthMsMax, healthMissesMax } = this.#options.limits;
    let misses = 0;
    while (await pause(healthEveryMs, done)) {
      misses = (await answers(this.#configuration.managementUrl, healthMsMax)) ? 0 : misses + 1;
      if (done.aborted) return;
      if (misses >= healthMissesMax) {
        process.kill(`it did not answer its health check ${misses} times`);
        return;
      }
      if (misses === 0) await this.#tell(process);
    }
  }

  #enter(state: SupervisedState, reason?: string): void {
    if (this.#state === state && this.#reason === reason) return;
    this.#state = state;
    this.#reason = reason;
    this.#options.onChange({ state, reason });
  }
}

/** A function, because it changes while one awaits. */
function isAborted({ aborted }: AbortSignal): boolean {
  return aborted;
}

/** False when it was cut short. */
async function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await sleep(ms, undefined, { signal });
    return true;
  } catch {
    return false;
  }
}

/** Why it is not tried again, for whoever reads it at the portal. */
function hopelessness(crashes: number, failedStarts: number, limits: SupervisionLimits, reason: string): string {
  const what =
    crashes >= limits.crashesMax
      ? `Its process ended ${crashes} times within ${limits.crashWindowMs / 1000} seconds`
      : `Its process did not start ${failedStarts} times in a row`;
  return `${what}, last: ${reason.replace(/\.$/, '')}. Restore it to try again.`;
}

function isSame(a: HostedConfiguration, b: HostedConfiguration): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
