import { flushCompileCache } from 'node:module';
import type { HostedConfiguration } from './configuration.ts';
import type { FromProgram, ToProgram } from './messages.ts';

/** An array, once it serves. */
export interface HostedProgram {
  /** Addresses it listens on. */
  readonly bound: readonly string[];
  /** Becomes what the configuration says, while it runs. */
  change(configuration: HostedConfiguration): Promise<void>;
  stop(): Promise<void>;
}

export type StartProgram = (configuration: HostedConfiguration) => Promise<HostedProgram>;

/** Once the cloud is gone, nobody would ever stop this process: it leaves soon, whatever hangs. */
const LEAVE_MS_MAX = 2_000;

/** The argument that asks a program only to be compiled. */
export const PREPARE = 'prepare';

/** The main of a process that a cloud starts: waits for its configuration, serves, and goes when it is told or left alone. */
export function runProgram(start: StartProgram): void {
  if (!process.send) {
    process.stderr.write('This program is started by a Granary cloud; order an array at the portal instead.\n');
    process.exitCode = 2;
    return;
  }
  if (process.argv[2] === PREPARE) {
    flushCompileCache();
    process.disconnect();
    return;
  }
  new Program(start).listen();
}

class Program {
  readonly #start: StartProgram;
  #running: HostedProgram | undefined;
  #work: Promise<void> = Promise.resolve();
  #leaving = false;

  constructor(start: StartProgram) {
    this.#start = start;
  }

  listen(): void {
    process.on('message', (message: ToProgram) => {
      // One after the other: a change that arrives during the start waits for it.
      this.#work = this.#work.then(() => this.#handle(message)).catch((error: unknown) => this.#fail(error));
    });
    process.on('disconnect', () => {
      setTimeout(() => process.exit(1), LEAVE_MS_MAX);
      void this.#leave(0);
    });
    process.on('SIGTERM', () => void this.#leave(0));
    // Ctrl-C reaches the whole process group; the cloud stops its arrays in order.
    process.on('SIGINT', () => undefined);
    process.on('uncaughtException', (error) => this.#fail(error));
  }

  async #handle(message: ToProgram): Promise<void> {
    if (message.kind === 'start') {
      this.#running = await this.#start(message.configuration);
      tell({ kind: 'ready', bound: this.#running.bound });
      flushCompileCache();
      return;
    }
    try {
      await this.#running?.change(message.configuration);
      tell({ kind: 'changed', id: message.id, bound: this.#running?.bound ?? [] });
    } catch (error) {
      tell({ kind: 'refused', id: message.id, reason: reasonOf(error) });
    }
  }

  async #leave(code: number): Promise<void> {
    if (this.#leaving) return;
    this.#leaving = true;
    try {
      await this.#work;
      await this.#running?.stop();
      process.exit(code);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** The cloud shows the reason to the operator, so it is told before the process goes. */
  #fail(error: unknown): void {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    tell({ kind: 'failed', reason: reasonOf(error) }, () => process.exit(1));
  }
}

function tell(message: FromProgram, done: () => void = () => undefined): void {
  if (!process.connected || !process.send) {
    done();
    return;
  }
  process.send(message, undefined, undefined, () => done());
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
