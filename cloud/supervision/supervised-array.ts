import type { HostedConfiguration, Listening, Log, ProcessLimits } from '@granary/kernel';
import { watchHealth } from './health.ts';
import type { SupervisionLimits } from './limits.ts';
import { Outages, type Outage } from './outages.ts';
import type { SupervisedProcess } from './process.ts';
import { Retries } from './retries.ts';
import { watchStart } from './start-watch.ts';
import type { Timing } from './timing.ts';
import type { Turns } from './turns.ts';

/** Refusals of one change after which they are logged as an error. */
const REFUSALS_MAX = 3;

export type SupervisedState = 'stopped' | 'starting' | 'running' | 'stopping' | 'failed';

export interface StateChange {
  readonly state: SupervisedState;
  readonly reason: string | undefined;
}

interface SupervisedOptions {
  readonly launch: (configuration: HostedConfiguration) => SupervisedProcess;
  readonly limits: SupervisionLimits;
  readonly timing: Timing;
  readonly turns: Turns;
  /** Once the program is compiled. */
  readonly prepared: Promise<void>;
  /** Whether it served once, in this run of the cloud or an earlier one. */
  readonly hasServed: boolean;
  /** Begins the names of its outages. */
  readonly outagePrefix: string;
  readonly log: Log;
  readonly onChange: (change: StateChange) => void;
}

/** Keeps one array the way it should be: up, through crashes and hangs, or down. */
export class SupervisedArray {
  readonly #options: SupervisedOptions;
  readonly #outages: Outages;
  #configuration: HostedConfiguration;
  /** The last one the process said it follows. */
  #followed: HostedConfiguration | undefined;
  #refusals = 0;
  /** Of its process: other limits take another process. */
  #launchedWith: ProcessLimits = {};
  #isReplaced = false;
  #wantedUp = false;
  #isFirstStart = true;
  #hasServed: boolean;
  #state: SupervisedState = 'stopped';
  #reason: string | undefined;
  /** What its start is waiting for; undefined while its process is at work. */
  #waitingFor: (() => string) | undefined;
  #process: SupervisedProcess | undefined;
  #restarts = 0;
  /** The loop that keeps it up, and what ends it. At most one runs. */
  #loop: Promise<void> | undefined;
  #halt = new AbortController();
  #retryNow = new AbortController();
  #goingDown: Promise<void> | undefined;

  constructor(configuration: HostedConfiguration, options: SupervisedOptions) {
    this.#configuration = configuration;
    this.#options = options;
    this.#hasServed = options.hasServed;
    this.#outages = new Outages(options.outagePrefix);
  }

  get state(): SupervisedState {
    return this.#state;
  }

  /** Why it is in its state: why it failed, or what its start is doing and why the last one ended. */
  get reason(): string | undefined {
    if (this.#state !== 'starting') return this.#reason;
    const now = this.#waitingFor?.() ?? `Its process is ${this.#process?.stage ?? 'loading its program'}`;
    return this.#reason === undefined ? `${now}.` : `${now}; before, ${withoutStop(this.#reason)}.`;
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

  get outages(): readonly Outage[] {
    return this.#outages.list;
  }

  /** Runs it, or, when it failed or waits for its next try, tries again now. */
  start(): void {
    this.#wantedUp = true;
    this.#retryNow.abort();
    // On its way down it comes up again as soon as it is there.
    if (this.#loop || this.#goingDown) return;
    this.#halt = new AbortController();
    // When it went down while no cloud watched it, the time is unknown.
    if (this.#hasServed) this.#outages.begin(this.#isFirstStart ? undefined : this.#options.timing.now());
    this.#isFirstStart = false;
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
   * What it is from now on. A running process is sent it, and this resolves when it has followed or not in time; then it
   * is sent again with its health checks. Other limits take another process, which starts once the present one has ended.
   */
  async change(configuration: HostedConfiguration): Promise<void> {
    if (!isSame(configuration, this.#configuration)) {
      this.#configuration = configuration;
      this.#refusals = 0;
    }
    if (this.#state === 'running' && this.#process) await this.#notify(this.#process);
  }

  async #bringDown(): Promise<void> {
    this.#halt.abort();
    if (this.#loop) this.#enter('stopping');
    await this.#process?.stop(this.#options.limits.stopMsMax);
    await this.#loop;
    this.#outages.clear();
    this.#enter('stopped');
  }

  async #keepUp(halt: AbortSignal): Promise<void> {
    const { limits, log, timing } = this.#options;
    const retries = new Retries(limits, this.#hasServed);
    for (;;) {
      const { servedMs, reason } = await this.#runOnce(halt);
      if (halt.aborted) return;
      if (this.#isReplaced) {
        this.#isReplaced = false;
        continue;
      }
      const pauseMs = retries.afterEnd(servedMs);
      const { failures } = retries;
      log.warn({ array: this.#configuration.internalName, reason, failures }, 'an array process ended');
      if (pauseMs === undefined) {
        const what = `Its process did not start ${failures} times in a row, last: ${withoutStop(reason)}`;
        this.#enter('failed', `${what}. Restore it to try again.`);
        return;
      }
      this.#waitUntil(timing.now() + pauseMs);
      this.#enter('starting', reason);
      this.#retryNow = new AbortController();
      await timing.pause(pauseMs, AbortSignal.any([halt, this.#retryNow.signal]));
      if (isAborted(halt)) return;
      this.#restarts += 1;
    }
  }

  /** One process from start to end. */
  async #runOnce(halt: AbortSignal): Promise<{ servedMs: number | undefined; reason: string }> {
    const { prepared, turns, timing } = this.#options;
    this.#waitingFor = () => `It waits for its turn to start (${turns.waiting} arrays wait)`;
    await prepared;
    const release = await turns.acquire(halt);
    if (!release || isAborted(halt)) {
      release?.();
      return { servedMs: undefined, reason: 'it was stopped' };
    }
    const process = this.#options.launch(this.#configuration);
    this.#launchedWith = this.#configuration.limits;
    this.#isReplaced = false;
    this.#process = process;
    this.#waitingFor = undefined;
    const followed = this.#configuration;
    const isReady = await watchStart({ ...this.#options, process, onWaiting: release }).finally(release);
    const servedSince = isReady && !halt.aborted ? this.#serving(process, followed) : undefined;
    const ended = new AbortController();
    if (servedSince !== undefined) void this.#watchHealth(process, AbortSignal.any([ended.signal, halt]));
    const { reason, silentSince } = await process.ended;
    ended.abort();
    this.#process = undefined;
    const endedAt = silentSince ?? timing.now();
    if (servedSince !== undefined && !halt.aborted) this.#outages.begin(Math.max(endedAt, servedSince));
    return { servedMs: servedSince === undefined ? undefined : endedAt - servedSince, reason };
  }

  /** When it began to serve. */
  #serving(process: SupervisedProcess, followed: HostedConfiguration): number {
    const now = this.#options.timing.now();
    this.#followed = followed;
    this.#hasServed = true;
    this.#outages.end(now);
    this.#enter('running');
    void this.#notify(process);
    return now;
  }

  /** Tells the process what it should be, unless it said that it is. */
  async #notify(process: SupervisedProcess): Promise<void> {
    const configuration = this.#configuration;
    if (configuration === this.#followed || this.#isReplaced) return;
    if (!isSame(configuration.limits, this.#launchedWith)) {
      this.#replace(process);
      return;
    }
    const answer = await process.change(configuration, this.#options.limits.changeMsMax);
    if (process !== this.#process) return;
    if (answer?.kind === 'changed') this.#followed = configuration;
    else this.#countRefusal(answer?.kind === 'refused' ? answer.reason : 'it did not answer in time');
  }

  /** Its next process starts as soon as this one has ended; that is neither a failure nor a pause. */
  #replace(process: SupervisedProcess): void {
    this.#isReplaced = true;
    this.#enter('starting', 'its engine was changed');
    void process.stop(this.#options.limits.stopMsMax);
  }

  /** Logged twice and not each time: it goes on for as long as the array refuses. */
  #countRefusal(reason: string): void {
    const facts = { array: this.#configuration.internalName, reason };
    this.#refusals += 1;
    if (this.#refusals === 1) this.#options.log.warn(facts, 'an array did not follow a change; it is sent again');
    if (this.#refusals === REFUSALS_MAX) this.#options.log.error(facts, 'an array does not follow its configuration');
  }

  #watchHealth(process: SupervisedProcess, done: AbortSignal): Promise<void> {
    const { limits, timing } = this.#options;
    const onAnswer = () => this.#notify(process);
    const onSilence = (reason: string | undefined) => {
      if (!this.#isReplaced) this.#enter('running', reason);
    };
    return watchHealth({ process, limits, timing, onAnswer, onSilence }, done);
  }

  #waitUntil(time: number): void {
    const { timing } = this.#options;
    this.#waitingFor = () => {
      const seconds = Math.max(0, Math.ceil((time - timing.now()) / 1000));
      return `Its process is started again in ${seconds} seconds`;
    };
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

function withoutStop(reason: string): string {
  return reason.replace(/\.$/, '');
}

function isSame<T extends HostedConfiguration | ProcessLimits>(a: T, b: T): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
