import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Initiator, type LoginOptions } from './initiator.ts';
import { fillUnit, runLoad, type LoadResult, type Workload } from './load.ts';

/** What the process is asked: log in to a unit and fill it, or put a load on it. */
export interface LoadRequest {
  readonly login: LoginOptions;
  readonly lun: number;
  readonly fillBytes?: number;
  readonly workload?: Workload;
}

type LoadAnswer = { readonly result: LoadResult } | { readonly error: string };

const NOTHING_DONE: LoadResult = { operations: 0, seconds: 0, clientMicroseconds: 0 };

/** An initiator in a process of its own, so that it takes no processor time from the measurement or the server. */
export class LoadProcess {
  readonly #child: ChildProcess;

  constructor() {
    this.#child = fork(fileURLToPath(import.meta.url), ['load'], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  }

  async request(request: LoadRequest): Promise<LoadResult> {
    const ended = new AbortController();
    const exit = once(this.#child, 'exit', { signal: ended.signal }).then(() => {
      throw new Error('The process that puts on the load ended');
    });
    try {
      this.#child.send(request);
      const [answer] = (await Promise.race([once(this.#child, 'message', { signal: ended.signal }), exit])) as [
        LoadAnswer,
      ];
      if ('error' in answer) throw new Error(answer.error);
      return answer.result;
    } finally {
      ended.abort();
      await exit.catch(() => undefined);
    }
  }

  stop(): void {
    this.#child.disconnect();
  }
}

async function serve(request: LoadRequest): Promise<LoadAnswer> {
  try {
    const session = await Initiator.login(request.login);
    try {
      if (request.fillBytes !== undefined) await fillUnit(session, request.lun, request.fillBytes);
      const lun = session.lun(request.lun);
      await lun.clearUnitAttentions();
      await lun.readCapacity();
      return { result: request.workload === undefined ? NOTHING_DONE : await runLoad(lun, request.workload) };
    } finally {
      await session.close();
    }
  } catch (error) {
    return { error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

if (process.argv[2] === 'load' && process.argv[1] === fileURLToPath(import.meta.url)) {
  process.on('message', (request: LoadRequest) => {
    void serve(request).then((answer) => process.send?.(answer));
  });
}
