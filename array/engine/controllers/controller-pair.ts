import { EngineError } from '../errors.ts';
import type { OnEngineEvent } from '../engine.ts';
import type { ControllerReport } from '../report.ts';
import { EngineController } from './controller.ts';
import type { StartThread } from './controller-thread.ts';
import { EngineDispatcher } from './dispatcher.ts';
import { ControllerGone } from './errors.ts';
import type { ControllerConfiguration, EngineCall, LogLine, Request } from './protocol.ts';
import { targetOfController } from './target.ts';

const LOOK_EVERY_MS = 1_000;
const RETRY_MS_MIN = 1_000;
const RETRY_MS_MAX = 30_000;
/** With more failures than this in the period below, the next attempt waits. */
const FAILURES_MAX = 4;
const FAILURES_COUNT_MS = 60_000;

export interface ControllerPairOptions {
  readonly configuration: ControllerConfiguration;
  readonly engineModule: string;
  readonly startThread?: StartThread | undefined;
  /** State that a controller that takes over does not find on the drives. */
  readonly stateToReplay: () => readonly EngineCall[];
  /** A controller went away without closing: what it had not flushed may be lost. */
  readonly onCrash: () => void;
  readonly onEvent: OnEngineEvent;
  readonly onLog: (line: LogLine) => void;
  /** How far a controller is that opens the drives. */
  readonly onStage: (stage: string) => void;
}

/** Two controllers, of which one serves: sees that there always is one, and that it never is both. */
export class ControllerPair {
  readonly calls = new EngineDispatcher();
  readonly #options: ControllerPairOptions;
  readonly #controllers: readonly [EngineController, EngineController];
  #configuration: ControllerConfiguration;
  #active: EngineController | undefined;
  #serves = false;
  #changes: Promise<unknown> = Promise.resolve();
  #watch: NodeJS.Timeout | undefined;
  #retry: NodeJS.Timeout | undefined;
  /** When controllers failed. */
  #failures: number[] = [];
  #isStopped = false;
  #terms = 0;

  constructor(options: ControllerPairOptions) {
    this.#options = options;
    this.#configuration = options.configuration;
    this.#controllers = [this.#controller(0), this.#controller(1)];
  }

  /** How often a controller became active. */
  get terms(): number {
    return this.#terms;
  }

  reports(): ControllerReport[] {
    const { management, dataPort } = this.#configuration;
    return this.#controllers.map((each) =>
      each.report(targetOfController(this.#configuration, each.index), management.host, dataPort),
    );
  }

  /** Rejects when neither of them can open what it should serve. */
  async start(): Promise<void> {
    for (const controller of this.#controllers) controller.start();
    this.#watch = setInterval(() => this.#checkHeartbeats(), LOOK_EVERY_MS).unref();
    const problem = await this.#inTurn(() => this.#activateOne(this.#controllers, 'the array started'));
    if (problem === undefined) return;
    await this.stop();
    throw problem;
  }

  serve(): Promise<void> {
    return this.#inTurn(async () => {
      this.#serves = true;
      await this.#askActive({ type: 'serve' });
    });
  }

  follow(configuration: ControllerConfiguration): Promise<void> {
    return this.#inTurn(async () => {
      this.#configuration = configuration;
      await this.#askActive({ type: 'follow', configuration });
    });
  }

  failover(): Promise<void> {
    return this.#inTurn(async () => {
      const from = this.#active;
      const to = this.#controllers.find((each) => each !== from);
      if (from === undefined) throw new EngineError('conflict', 'No controller is active; wait until one is.');
      if (to?.isReady !== true) throw new EngineError('conflict', 'The standby controller is not ready; wait for it.');
      await to.ask({ type: 'prepare' }).catch((error: unknown) => {
        const problem = error instanceof Error ? error.message : String(error);
        throw new EngineError('conflict', `The standby controller cannot take over: ${problem}`);
      });
      await this.calls.finish();
      this.#active = undefined;
      if (!(await from.retire())) this.#options.onCrash();
      from.start();
      const problem = await this.#activateOne([to, from], 'a failover was asked for');
      if (problem === undefined) return;
      this.#tryAgainLater();
      throw problem;
    });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#retry);
    clearInterval(this.#watch);
    await this.#inTurn(async () => {
      await this.calls.finish();
      this.#active = undefined;
      await Promise.all(this.#controllers.map((each) => each.retire()));
      this.calls.stop();
    });
  }

  #controller(index: number): EngineController {
    const { configuration, engineModule, startThread, onEvent, onLog } = this.#options;
    return new EngineController({
      index,
      name: `${configuration.internalName}-vc-${index}`,
      engineModule,
      heapMb: configuration.limits.controllerHeapMb,
      startThread,
      onEvent,
      onLog,
      onFailed: (controller, reason) => this.#failed(controller, reason),
    });
  }

  /** A controller that ended gets no calls: the next one gets the state when it takes over. */
  async #askActive(request: Request): Promise<void> {
    try {
      await this.#active?.ask(request);
    } catch (error) {
      if (!(error instanceof ControllerGone)) throw error;
    }
  }

  #checkHeartbeats(): void {
    for (const controller of this.#controllers) controller.checkHeartbeat(Date.now());
  }

  #failed(controller: EngineController, reason: string): void {
    if (this.#isStopped) return;
    this.#failures.push(performance.now());
    this.#options.onEvent({ type: 'controller-failed', controller: controller.name, reason });
    const wasActive = controller === this.#active;
    if (wasActive) {
      this.#active = undefined;
      this.calls.cut();
      this.#options.onCrash();
    }
    // At once: the caller that holds the turn may be waiting for an answer of this controller.
    const killed = controller.kill(reason);
    void this.#inTurn(async () => {
      await killed;
      if (!controller.isDown) return;
      if (wasActive) await this.#recover(controller);
      else this.#tryAgainLater();
    });
  }

  async #recover(failed: EngineController): Promise<void> {
    if (this.#active !== undefined) {
      this.#tryAgainLater();
      return;
    }
    if (this.#isStopped) return;
    if (this.#failuresOfLate() > FAILURES_MAX) {
      this.calls.refuse('Controllers fail one after the other; see the events of the array for why.');
      this.#tryAgainLater();
      return;
    }
    failed.start();
    const others = this.#controllers.filter((each) => each !== failed);
    const problem = await this.#activateOne([...others, failed], `${failed.name} failed`);
    if (problem !== undefined) this.#tryAgainLater();
  }

  /** Has the first of them serve that can. */
  async #activateOne(candidates: readonly EngineController[], reason: string): Promise<Error | undefined> {
    let problem: Error = new EngineError('failed', 'No controller could be started.');
    for (const controller of candidates.filter(({ isReady }) => isReady)) {
      try {
        const replay = this.#options.stateToReplay();
        await controller.activate(
          { type: 'activate', configuration: this.#configuration, replay, serves: this.#serves },
          this.#options.onStage,
        );
        this.#terms += 1;
        this.#active = controller;
        this.calls.open(controller);
        this.#options.onEvent({ type: 'controller-active', controller: controller.name, reason });
        if (this.#controllers.some(({ isDown }) => isDown)) this.#tryAgainLater();
        return undefined;
      } catch (error) {
        problem = error as Error;
        this.#failures.push(performance.now());
        this.#options.onEvent({ type: 'controller-failed', controller: controller.name, reason: problem.message });
        await controller.kill(problem.message);
      }
    }
    this.calls.refuse(`No controller could take over: ${problem.message}`);
    return problem;
  }

  /** Starts controllers that are down, and activates one where none serves. Retries back off. */
  #tryAgainLater(): void {
    if (this.#isStopped) return;
    clearTimeout(this.#retry);
    const ms = Math.min(RETRY_MS_MIN * 2 ** Math.floor(this.#failuresOfLate() / 2), RETRY_MS_MAX);
    this.#retry = setTimeout(() => void this.#inTurn(() => this.#tryAgain()), ms).unref();
  }

  #failuresOfLate(): number {
    const since = performance.now() - FAILURES_COUNT_MS;
    this.#failures = this.#failures.filter((at) => at >= since);
    return this.#failures.length;
  }

  async #tryAgain(): Promise<void> {
    if (this.#isStopped) return;
    for (const controller of this.#controllers) if (controller.isDown) controller.start();
    const problem =
      this.#active === undefined ? await this.#activateOne(this.#controllers, 'no controller was active') : undefined;
    if (problem !== undefined) this.#tryAgainLater();
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#changes.then(work);
    this.#changes = done.catch(() => undefined);
    return done;
  }
}
