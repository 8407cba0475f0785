import type { Transferable } from 'node:worker_threads';
import { releaseMemory } from '@granary/kernel/resources';
import { Outbox } from '@granary/kernel/threads';
import { EngineError } from '../errors.ts';
import { compact } from './bytes.ts';
import { packError } from './errors.ts';
import {
  CALLS,
  type ActiveEngine,
  type EngineCall,
  type EngineMethods,
  type FromController,
  type OpenEngine,
  type Request,
  type ThreadData,
  type ToController,
} from './protocol.ts';

const PROGRESS_EVERY_MS = 100;

type Post = (messages: readonly FromController[], transfer: Transferable[]) => void;

/** What is done in a controller's thread: takes requests, has the engine carry them out, answers. */
export class ControllerSide {
  readonly #data: Omit<ThreadData, 'vitals'>;
  readonly #outbox: Outbox<FromController>;
  readonly #underWay = new Map<number, AbortController>();
  #active: ActiveEngine | undefined;
  #isServing = false;

  constructor(data: Omit<ThreadData, 'vitals'>, post: Post) {
    this.#data = data;
    this.#outbox = new Outbox<FromController>({
      post,
      onUnsendable: (message, error) => {
        if (message.type === 'answer') this.#outbox.send({ type: 'refusal', id: message.id, error: packError(error) });
      },
    });
  }

  /** Servers reach their volumes through this controller. */
  get isServing(): boolean {
    return this.#isServing;
  }

  accept(message: ToController): void {
    if (message.type === 'cancel') this.#underWay.get(message.id)?.abort();
    else void this.#answer(message.id, message.request);
  }

  async #answer(id: number, request: Request): Promise<void> {
    const cancelling = new AbortController();
    this.#underWay.set(id, cancelling);
    try {
      const result = await this.#carryOut(id, request, cancelling.signal);
      this.#sendResult(id, result);
    } catch (error) {
      this.#outbox.add({ type: 'refusal', id, error: packError(error) });
    } finally {
      this.#underWay.delete(id);
    }
  }

  async #carryOut(id: number, request: Request, signal: AbortSignal): Promise<unknown> {
    switch (request.type) {
      case 'prepare':
        await this.#load();
        return undefined;
      case 'activate':
        return this.#activate(id, request);
      case 'serve':
        releaseMemory();
        return this.#serve(this.#engine());
      case 'follow':
        return this.#engine().follow(request.configuration);
      case 'retire':
        return this.retire();
      case 'call':
        return this.#call(id, request.call, signal);
    }
  }

  async #load(): Promise<OpenEngine> {
    const { openEngine } = (await import(this.#data.engineModule)) as { openEngine: OpenEngine };
    return openEngine;
  }

  async #serve(active: ActiveEngine): Promise<void> {
    await active.serve();
    this.#isServing = true;
  }

  async #activate(
    id: number,
    { configuration, replay, serves }: Extract<Request, { type: 'activate' }>,
  ): Promise<void> {
    const open = await this.#load();
    const active = await open(configuration, {
      controller: this.#data.name,
      onEvent: (event) => this.#outbox.send({ type: 'event', event }),
      log: (line) => this.#outbox.send({ type: 'log', line }),
      onStage: (value) => this.#outbox.send({ type: 'progress', id, value }),
    });
    this.#active = active;
    for (const call of replay) await this.#replay(active, call);
    if (serves) await this.#serve(active);
  }

  /** What one thing cannot take, because it is gone or failed, must not keep the others from being served. */
  async #replay({ engine }: ActiveEngine, { method, args }: EngineCall): Promise<void> {
    try {
      await invoke(engine, method, args);
    } catch (error) {
      const facts = { method, problem: packError(error).message };
      this.#outbox.send({
        type: 'log',
        line: { level: 'warn', text: 'the engine refused a replayed call', facts },
      });
    }
  }

  /** Closes what it serves, if it serves. */
  async retire(): Promise<void> {
    const active = this.#active;
    this.#active = undefined;
    this.#isServing = false;
    await active?.close();
  }

  #call(id: number, { method, args }: EngineCall, signal: AbortSignal): Promise<unknown> {
    const { engine } = this.#engine();
    if (CALLS[method] !== 'long') return invoke(engine, method, args);
    return invoke(engine, method, [...args.slice(0, -1), { signal, onProgress: this.#progress(id) }]);
  }

  /** Not every step: the first, and then the last of a tenth of a second. */
  #progress(id: number): (value: unknown) => void {
    let sentMs = -Infinity;
    return (value) => {
      const now = performance.now();
      if (now - sentMs < PROGRESS_EVERY_MS) return;
      sentMs = now;
      this.#outbox.send({ type: 'progress', id, value });
    };
  }

  #engine(): ActiveEngine {
    if (this.#active === undefined) throw new EngineError('interrupted', 'This controller is not active.');
    return this.#active;
  }

  #sendResult(id: number, result: unknown): void {
    const answer = { type: 'answer', id, result: compact(result) } as const;
    if (!(answer.result instanceof Uint8Array)) {
      this.#outbox.add(answer);
      return;
    }
    const { buffer } = answer.result;
    try {
      this.#outbox.send(answer, buffer instanceof ArrayBuffer ? [buffer] : []);
    } catch {
      // The memory of a WebAssembly module looks like any other, but cannot be given away.
      this.#outbox.send(answer);
    }
  }
}

async function invoke(
  engine: Omit<EngineMethods, 'failover'>,
  method: EngineCall['method'],
  args: readonly unknown[],
): Promise<unknown> {
  if (method === 'failover') throw new Error('A controller cannot fail over by itself.');
  return (engine[method] as (...given: unknown[]) => Promise<unknown>).apply(engine, [...args]);
}
