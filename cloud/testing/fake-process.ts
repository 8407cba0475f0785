import type { HostedConfiguration } from '@granary/kernel';
import type { Ending, SupervisedProcess } from '../supervision/process.ts';
import type { Timing } from '../supervision/timing.ts';

/** Time that moves when a test says so. */
export class FakeTiming implements Timing {
  #now = 0;
  #pauses: { readonly at: number; readonly end: (whole: boolean) => void }[] = [];

  now(): number {
    return this.#now;
  }

  pause(ms: number, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return Promise.resolve(false);
    return new Promise((resolve) => {
      const pause = { at: this.#now + ms, end: resolve };
      this.#pauses.push(pause);
      signal.addEventListener('abort', () => resolve(false), { once: true });
    });
  }

  /** Ends pauses in the order of their times, and lets each waiter go on before the next. */
  async pass(ms: number): Promise<void> {
    const end = this.#now + ms;
    await turn();
    for (;;) {
      const due = this.#pauses.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
      if (!due) break;
      this.#pauses = this.#pauses.filter((pause) => pause !== due);
      this.#now = due.at;
      due.end(true);
      await turn();
    }
    this.#now = end;
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** A process that does what a test says. */
export class FakeProcess implements SupervisedProcess {
  readonly pid = 1;
  readonly listening = { bound: [], unbound: [] };
  readonly configuration: HostedConfiguration;
  readonly ready: Promise<boolean>;
  readonly ended: Promise<Ending>;
  steps = 0;
  stage: string | undefined;
  pulses = 0;
  isAnswering = true;
  killedFor: string | undefined;
  #setReady: (isReady: boolean) => void = () => undefined;
  #end: (ending: Ending) => void = () => undefined;

  constructor(configuration: HostedConfiguration) {
    this.configuration = configuration;
    this.ready = new Promise((resolve) => (this.#setReady = resolve));
    this.ended = new Promise((resolve) => (this.#end = resolve));
  }

  progress(stage: string): void {
    this.steps += 1;
    this.stage = stage;
  }

  serve(): void {
    this.#setReady(true);
  }

  end(reason: string, silentSince?: number): void {
    this.#setReady(false);
    this.#end({ reason, silentSince });
  }

  check(): Promise<boolean> {
    return Promise.resolve(this.isAnswering);
  }

  change(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  kill(reason: string): void {
    this.killedFor = reason;
    this.end(reason);
  }

  stop(): Promise<void> {
    this.end('it was asked to stop');
    return Promise.resolve();
  }
}
