import { setTimeout as sleep } from 'node:timers/promises';
import type { OnEngineEvent } from '../engine.ts';
import type { ControllerReport } from '../report.ts';
import { EngineControllerThread, type AskOptions, type StartThread } from './controller-thread.ts';
import { ControllerGone } from './errors.ts';
import type { LogLine, Request } from './protocol.ts';

/** `starting`: on its way to be active. `ending`: it is being closed, or killed. */
type Phase = 'standby' | 'starting' | 'active' | 'ending' | 'failed';

export interface ControllerOptions {
  readonly index: number;
  readonly name: string;
  readonly engineModule: string;
  readonly heapMb?: number | undefined;
  readonly startThread?: StartThread | undefined;
  readonly onEvent: OnEngineEvent;
  readonly onLog: (line: LogLine) => void;
  /** It failed outside of a start or stop. Its thread has not ended yet: `kill` waits for that. */
  readonly onFailed: (controller: EngineController, reason: string) => void;
}

/** How many checks in a row may find no heartbeat. Opening takes longer: metadata is read and crashes are recovered from. */
const SILENT_LOOKS_MAX = { standby: 5, active: 5, starting: 120, ending: Infinity, failed: Infinity };

const RETIRE_MS_MAX = 20_000;

/** One of the two controllers: a thread that is restarted whenever it has failed or handed over. */
export class EngineController {
  readonly index: number;
  readonly name: string;
  readonly #options: ControllerOptions;
  #thread: EngineControllerThread | undefined;
  #phase: Phase = 'failed';
  #beats = 0;
  #silentChecks = 0;
  #heartbeatAt = Date.now();
  #failedAt: number | null = null;

  constructor(options: ControllerOptions) {
    this.#options = options;
    this.index = options.index;
    this.name = options.name;
  }

  get isReady(): boolean {
    return this.#phase === 'standby';
  }

  get isDown(): boolean {
    return this.#phase === 'failed';
  }

  start(): void {
    const { name, engineModule, heapMb, startThread, onEvent, onLog } = this.#options;
    const thread = new EngineControllerThread({
      name,
      engineModule,
      heapMb,
      startThread,
      onEvent,
      onLog,
      onGone: (reason) => this.#thread === thread && this.#failed(reason),
    });
    this.#thread = thread;
    this.#phase = 'standby';
    this.#beats = this.#silentChecks = 0;
  }

  ask(request: Request, options?: AskOptions): Promise<unknown> {
    if (this.#thread === undefined) return Promise.reject(new ControllerGone('it has not started'));
    return this.#thread.ask(request, options);
  }

  async activate(request: Extract<Request, { type: 'activate' }>, onStage: (stage: string) => void): Promise<void> {
    this.#phase = 'starting';
    await this.ask(request, { onProgress: (stage) => onStage(String(stage)) });
    this.#phase = 'active';
    this.#silentChecks = 0;
  }

  /** Has it close everything, if it can, and ends its thread in any case; false when it did not close in order. */
  async retire(): Promise<boolean> {
    const wasActive = this.#phase === 'active';
    this.#phase = 'ending';
    const late = new AbortController();
    const closed = this.ask({ type: 'retire' }).then(
      () => true,
      () => false,
    );
    const inTime = wasActive
      ? await Promise.race([closed, sleep(RETIRE_MS_MAX, false, { signal: late.signal }).catch(() => false)])
      : true;
    late.abort();
    await this.kill('it handed over');
    return inTime;
  }

  /** Resolves when its sockets, files and locks are released. */
  async kill(reason: string): Promise<void> {
    if (this.#phase !== 'failed') this.#phase = 'ending';
    const thread = this.#thread;
    await thread?.kill(reason);
    if (this.#thread !== thread) return;
    this.#thread = undefined;
    this.#phase = 'failed';
  }

  /** Called every second. */
  checkHeartbeat(nowMs: number): void {
    const beats = this.#thread?.vitals.beats ?? 0;
    if (beats !== this.#beats) {
      this.#beats = beats;
      this.#silentChecks = 0;
      this.#heartbeatAt = nowMs;
    } else if (++this.#silentChecks >= SILENT_LOOKS_MAX[beats === 0 ? 'starting' : this.#phase]) {
      const reason = 'it did not answer any more';
      if (this.#phase === 'starting') void this.#thread?.kill(reason);
      else this.#failed(reason);
    }
  }

  report(target: string, host: string, port: number): ControllerReport {
    const { cpuUserMicroseconds = 0, cpuSystemMicroseconds = 0, memoryBytes = 0 } = this.#thread?.vitals ?? {};
    return {
      name: this.name,
      index: this.index,
      state: this.#phase === 'active' ? 'active' : this.#phase === 'failed' ? 'failed' : 'standby',
      target,
      host,
      port,
      heartbeatAt: this.#heartbeatAt,
      failedAt: this.#failedAt,
      cpuUserMicroseconds,
      cpuSystemMicroseconds,
      memoryBytes,
    };
  }

  /** While it starts or ends, the caller of that sees the failure itself. */
  #failed(reason: string): void {
    if (this.#phase !== 'active' && this.#phase !== 'standby') return;
    this.#phase = 'failed';
    this.#failedAt = Date.now();
    this.#options.onFailed(this, reason);
  }
}
