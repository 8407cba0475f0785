import type { Engine } from '../engine.ts';
import { EngineError, isEngineError } from '../errors.ts';
import type { Report } from '../report.ts';
import { compact } from './bytes.ts';
import type { ControllerPair } from './controller-pair.ts';
import { CALLS, type EngineCall, type EngineMethod, type EngineMethods } from './protocol.ts';
import type { ReplayLog } from './replay-log.ts';
import type { Unflushed } from './unflushed.ts';

/** A version names the controller that gave it: another controller starts to count again. */
const TERMS = 1024;
const REPORT_TRIES_MAX = 3;

interface RemoteEngineParts {
  readonly description: Pick<Engine, 'kind' | 'allocationBytes'>;
  readonly pair: ControllerPair;
  readonly replayLog: ReplayLog;
  readonly unflushed: Unflushed;
}

/** The engine of whichever controller is active, as the array's management sees it. */
export function remoteEngine({ description, pair, replayLog, unflushed }: RemoteEngineParts): Engine {
  const reporter = new Reporter(pair);
  const call = async (one: EngineCall): Promise<unknown> => {
    beforeCall(one, unflushed);
    const result = await pair.calls.call(one);
    replayLog.record(one);
    return result;
  };
  const methods = (Object.keys(CALLS) as EngineMethod[]).map((method) => [
    method,
    (...args: unknown[]) => call({ method, args: args.map(compact) } as unknown as EngineCall),
  ]);
  const all = Object.fromEntries(methods) as unknown as EngineMethods;
  const failover = async (): Promise<void> => {
    // To close its volumes a controller has to let held writes through.
    if (replayLog.holdsWrites)
      throw new EngineError('conflict', 'Writes are held for a snapshot set; wait until it ends.');
    await pair.failover();
  };
  return {
    ...all,
    ...description,
    hardware: all,
    controllers: { failover },
    reduction: all,
    encryption: all,
    report: (since) => reporter.report(since),
    flushVolume: async (id) => {
      try {
        await call({ method: 'flushVolume', args: [id] });
      } catch (error) {
        unflushed.written(id);
        throw error;
      }
    },
  };
}

function beforeCall({ method, args }: EngineCall, unflushed: Unflushed): void {
  switch (method) {
    case 'writeVolume':
    case 'discardVolume':
      unflushed.written(args[0]);
      return;
    case 'deleteVolume':
      unflushed.removeVolume(args[0]);
      return;
    case 'flushVolume':
      if (unflushed.reportLost(args[0])) {
        throw new EngineError('interrupted', 'A controller failed: what was not flushed is to be written again.');
      }
      unflushed.flushing(args[0]);
  }
}

/** Puts the controllers into reports, and answers even while none is active. */
class Reporter {
  readonly #pair: ControllerPair;
  #last: Report = {
    version: 0,
    drives: [],
    groups: [],
    pools: [],
    volumes: [],
    sessions: [],
    servers: [],
    controllers: [],
  };

  constructor(pair: ControllerPair) {
    this.#pair = pair;
  }

  async report(since: number): Promise<Report> {
    try {
      this.#last = await this.#ask(since);
      return this.#last;
    } catch (error) {
      if (!isEngineError(error, 'failed')) throw error;
      return { ...this.#last, version: since, volumes: [], sessions: [], controllers: this.#pair.reports() };
    }
  }

  async #ask(since: number): Promise<Report> {
    for (let tries = 1; ; tries += 1) {
      const term = this.#pair.terms % TERMS;
      const known = since % TERMS === term ? Math.floor(since / TERMS) : 0;
      const report = (await this.#pair.calls.call({ method: 'report', args: [known] })) as Report;
      if (this.#pair.terms % TERMS === term || tries === REPORT_TRIES_MAX) {
        return { ...report, version: report.version * TERMS + term, controllers: this.#pair.reports() };
      }
    }
  }
}
