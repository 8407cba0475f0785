import { Worker, type ResourceLimits } from 'node:worker_threads';
import { letThreadsDiffer } from '@granary/kernel/resources';
import { Outbox } from '@granary/kernel/threads';
import type { OnEngineEvent } from '../engine.ts';
import { ControllerGone, unpackError } from './errors.ts';
import type { FromController, LogLine, Request, ThreadData, ToController } from './protocol.ts';
import { createVitals, readVitals, type Vitals } from './vitals.ts';

interface Pending {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly onProgress: ((value: unknown) => void) | undefined;
}

export interface AskOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((value: unknown) => void) | undefined;
}

/** What the management uses of a thread. */
export type ThreadHandle = Pick<Worker, 'on' | 'once' | 'postMessage' | 'ref' | 'unref' | 'terminate'>;
export type StartThread = (data: ThreadData) => ThreadHandle;

/** Room for what requests leave behind: with less, a thread that serves collects garbage all the time. */
export const CONTROLLER_YOUNG_MB = 24;

const startWorker: StartThread = (workerData) => {
  letThreadsDiffer();
  return new Worker(new URL('./controller-main.ts', import.meta.url), {
    name: workerData.name,
    workerData,
    resourceLimits: limitsOf(workerData),
  });
};

function limitsOf({ heapMb }: ThreadData): ResourceLimits {
  const young = { maxYoungGenerationSizeMb: CONTROLLER_YOUNG_MB };
  return heapMb === undefined ? young : { ...young, maxOldGenerationSizeMb: heapMb };
}

export interface ControllerThreadOptions {
  readonly name: string;
  readonly engineModule: string;
  readonly heapMb?: number | undefined;
  /** A worker thread by default. */
  readonly startThread?: StartThread | undefined;
  readonly onEvent: OnEngineEvent;
  readonly onLog: (line: LogLine) => void;
  /** It ended, by itself or because it was killed. */
  readonly onGone: (reason: string) => void;
}

/** The management's end of the line to a controller's thread. */
export class EngineControllerThread {
  readonly #options: ControllerThreadOptions;
  readonly #worker: ThreadHandle;
  readonly #vitals = createVitals();
  readonly #pending = new Map<number, Pending>();
  readonly #outbox = new Outbox<ToController>({
    post: (messages) => this.#worker.postMessage(messages),
    onUnsendable: ({ id }, error) => this.#removePending(id)?.reject(error as Error),
  });
  readonly #gone: Promise<void>;
  #lastId = 0;
  #reason: string | undefined;
  #isGone = false;

  constructor(options: ControllerThreadOptions) {
    this.#options = options;
    const { name, engineModule, heapMb, startThread = startWorker } = options;
    this.#worker = startThread({ name, engineModule, heapMb, vitals: this.#vitals });
    // A question under way keeps the process alive; a controller alone does not.
    this.#worker.unref();
    this.#worker.on('message', (messages: readonly FromController[]) =>
      messages.forEach((message) => this.#accept(message)),
    );
    this.#worker.on('error', (error: Error) => (this.#reason ??= error.message));
    this.#gone = new Promise((resolve) => {
      this.#worker.once('exit', () => {
        this.#end();
        resolve();
      });
    });
  }

  get vitals(): Vitals {
    return readVitals(this.#vitals);
  }

  /** Rejects with `ControllerGone` when no answer will come any more. */
  ask(request: Request, { signal, onProgress }: AskOptions = {}): Promise<unknown> {
    if (this.#isGone) return Promise.reject(this.#goneError());
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      const cancel = () => this.#outbox.send({ type: 'cancel', id });
      const end =
        <T>(end: (value: T) => void) =>
        (value: T) => {
          signal?.removeEventListener('abort', cancel);
          end(value);
        };
      this.#pending.set(id, { resolve: end(resolve), reject: end(reject), onProgress });
      this.#worker.ref();
      this.#outbox.add({ type: 'ask', id, request });
      if (signal?.aborted === true) cancel();
      else signal?.addEventListener('abort', cancel, { once: true });
    });
  }

  /** Resolves when its sockets, files and locks are released. */
  async kill(reason: string): Promise<void> {
    this.#reason ??= reason;
    await this.#worker.terminate();
    await this.#gone;
  }

  #accept(message: FromController): void {
    switch (message.type) {
      case 'answer':
        this.#removePending(message.id)?.resolve(message.result);
        return;
      case 'refusal':
        this.#removePending(message.id)?.reject(unpackError(message.error));
        return;
      case 'progress':
        this.#pending.get(message.id)?.onProgress?.(message.value);
        return;
      case 'event':
        this.#options.onEvent(message.event);
        return;
      case 'log':
        this.#options.onLog(message.line);
    }
  }

  #removePending(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    if (this.#pending.size === 0) this.#worker.unref();
    return pending;
  }

  #end(): void {
    this.#isGone = true;
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const { reject } of pending) reject(this.#goneError());
    this.#options.onGone(this.#reason ?? 'its thread ended');
  }

  #goneError(): ControllerGone {
    return new ControllerGone(this.#reason ?? 'its thread ended');
  }
}
