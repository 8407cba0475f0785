import { setTimeout as sleep } from 'node:timers/promises';
import type { Work } from '../work.ts';
import { EngineError, isEngineError } from '../errors.ts';
import type { EngineController } from './controller.ts';
import { ControllerGone, interrupted } from './errors.ts';
import { CALLS, type EngineCall } from './protocol.ts';

const WAIT_MS_MAX = 60_000;
const STOPPED = 'The array has stopped.';
/** How long a controller that is to hand over may take for the calls it has begun. */
const FINISH_MS_MAX = 10_000;

/** A controller while calls go to it. */
interface Line {
  readonly controller: EngineController;
  readonly running: Set<Promise<unknown>>;
  readonly ending: AbortController;
  /** Whatever it still answers counts for nothing: the next controller is asked. */
  isCut: boolean;
}

/** Brings calls to the controller that is active, and keeps them waiting while none is. */
export class EngineDispatcher {
  #line: Line | undefined;
  #opening: PromiseWithResolvers<Line> = Promise.withResolvers();
  #isStopped = false;

  constructor() {
    this.#opening.promise.catch(() => undefined);
  }

  open(controller: EngineController): void {
    const line = { controller, running: new Set<Promise<unknown>>(), ending: new AbortController(), isCut: false };
    this.#line = line;
    this.#opening.resolve(line);
  }

  /** From now on calls wait. Those under way get some time to end; long ones are cut off at once. */
  async finish(): Promise<void> {
    const line = this.#close();
    if (line === undefined) return;
    line.ending.abort();
    const late = new AbortController();
    const time = sleep(FINISH_MS_MAX, undefined, { signal: late.signal }).catch(() => undefined);
    await Promise.race([Promise.allSettled(line.running), time]);
    late.abort();
    line.isCut = true;
  }

  /** From now on calls wait; those under way are rejected when their controller ends. */
  cut(): void {
    const line = this.#close();
    if (line === undefined) return;
    line.isCut = true;
    line.ending.abort();
  }

  /** Rejects the calls that wait, because no controller comes up; later calls wait again. */
  refuse(reason: string): void {
    this.#opening.reject(new EngineError('failed', reason));
    this.#renew();
  }

  /** For good. */
  stop(): void {
    this.refuse(STOPPED);
    this.#isStopped = true;
  }

  async call(call: EngineCall): Promise<unknown> {
    for (;;) {
      const line = await this.#opened();
      try {
        return await this.#ask(line, call);
      } catch (error) {
        const isGone = error instanceof ControllerGone || line.isCut;
        if (isGone && CALLS[call.method] === 'again') continue;
        if (isGone || (line.ending.signal.aborted && isEngineError(error, 'cancelled'))) throw interrupted();
        throw error;
      }
    }
  }

  async #ask(line: Line, call: EngineCall): Promise<unknown> {
    const running = CALLS[call.method] === 'long' ? askLong(line, call) : line.controller.ask({ type: 'call', call });
    line.running.add(running);
    try {
      return await running;
    } finally {
      line.running.delete(running);
    }
  }

  async #opened(): Promise<Line> {
    if (this.#line !== undefined) return this.#line;
    if (this.#isStopped) throw new EngineError('failed', STOPPED);
    const late = new AbortController();
    const refusal = sleep(WAIT_MS_MAX, undefined, { signal: late.signal }).then(() => {
      throw new EngineError('failed', 'No controller is active; see the events of the array for why.');
    });
    try {
      return await Promise.race([this.#opening.promise, refusal]);
    } finally {
      late.abort();
      refusal.catch(() => undefined);
    }
  }

  #close(): Line | undefined {
    const line = this.#line;
    this.#line = undefined;
    if (line !== undefined) this.#renew();
    return line;
  }

  #renew(): void {
    this.#opening = Promise.withResolvers();
    this.#opening.promise.catch(() => undefined);
  }
}

/** The last argument cannot cross: its signal and its listener are minded here. */
function askLong(line: Line, { method, args }: EngineCall): Promise<unknown> {
  const given = args as readonly unknown[];
  const work = given.at(-1) as Work;
  const signal = work.signal ? AbortSignal.any([work.signal, line.ending.signal]) : line.ending.signal;
  const call = { method, args: [...given.slice(0, -1), {}] } as EngineCall;
  const onProgress = work.onProgress as ((value: unknown) => void) | undefined;
  return line.controller.ask({ type: 'call', call }, { signal, onProgress });
}
