import { Worker } from 'node:worker_threads';
import { letThreadsDiffer } from '@granary/kernel/resources';
import { Line, type Answers } from '@granary/kernel/threads';
import { ObjectError, type StorageWorker } from '@granary/storage/objects';
import type { ControllerSpec } from '../../controller-spec.ts';
import type { ControllerCalls, MainCalls, ThreadData } from './protocol.ts';
import { revive } from './revive.ts';

/** Room for what requests leave behind: with less, a busy thread collects garbage all the time. */
const YOUNG_MB_MAX = 48;

interface ThreadOptions {
  readonly spec: ControllerSpec;
  readonly data: Omit<ThreadData, 'name' | 'index'>;
  readonly answers: Answers<MainCalls>;
  /** It ended without having been stopped. */
  readonly onLost: (reason: string) => void;
}

/** The main thread's end of a controller. */
export class ControllerThread {
  readonly spec: ControllerSpec;
  readonly worker: StorageWorker = {
    repair: (partition, verify) => this.ask('repair', { partition, verify }),
    compact: (drive, segment) => this.ask('compact', { drive, segment }),
    busySegments: () => this.ask('busySegments', null),
  };
  readonly #worker: Worker;
  readonly #line: Line<MainCalls, ControllerCalls>;
  readonly #gone: Promise<void>;
  #stopping = false;
  #isGone = false;

  constructor({ spec, data, answers, onLost }: ThreadOptions) {
    this.spec = spec;
    const workerData: ThreadData = { ...data, name: spec.name, index: spec.index };
    letThreadsDiffer();
    this.#worker = new Worker(new URL('./controller-main.ts', import.meta.url), {
      name: spec.name,
      workerData,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB_MAX },
    });
    this.#line = new Line(this.#worker, { answers, revive });
    let reason = 'its thread ended';
    this.#worker.on('error', (error: Error) => (reason = error.message));
    this.#gone = new Promise((resolve) => {
      this.#worker.once('exit', () => {
        this.#isGone = true;
        this.#line.close(new ObjectError('closed', `Controller ${spec.name} is gone: ${reason}.`));
        resolve();
        if (!this.#stopping) onLost(reason);
      });
    });
  }

  get isGone(): boolean {
    return this.#isGone;
  }

  ask<K extends keyof ControllerCalls>(
    call: K,
    args: ControllerCalls[K]['args'],
  ): Promise<ControllerCalls[K]['result']> {
    return this.#line.ask(call, args);
  }

  /** Afterwards its sockets and files are closed. */
  async end(): Promise<void> {
    this.#stopping = true;
    await this.#worker.terminate();
    await this.#gone;
  }
}
