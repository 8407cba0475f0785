import { flushCompileCache } from 'node:module';
import type { HostedConfiguration } from './configuration.ts';
import type { EncryptionChange, FromProgram, GivenBack, Listening, ToProgram, UnboundAddress } from './messages.ts';
import { releaseMemory } from './resources.ts';

/** A running array. */
export interface HostedProgram {
  /** Addresses it listens on. */
  readonly bound: readonly string[];
  /** Addresses it should listen on and cannot. */
  readonly unbound?: readonly UnboundAddress[];
  /** Applies a new configuration while it runs. */
  change(configuration: HostedConfiguration): Promise<void>;
  stop(): Promise<void>;
}

/** What an array may ask of its cloud. */
export interface ProgramHost {
  /** Rejects with the cloud's reason when it does not accept the drive. */
  returnDrive(uuid: string): Promise<void>;
  /** Keeps the first `kept` proxy controllers; returning those that are gone already has no effect. */
  returnProxies(kept: number): Promise<void>;
  /** Reports to the cloud where the array listens. */
  reportListening(): void;
  /** Reports when its encryption came and went; resolves when the report has left the process. */
  reportEncryption(changes: readonly EncryptionChange[]): Promise<void>;
  /**
   * Reports the progress of the start. A start without progress for long counts as hanging, and the process is killed.
   */
  progress(stage: string): void;
}

export type StartProgram = (configuration: HostedConfiguration, host: ProgramHost) => Promise<HostedProgram>;

/** Without its cloud this process would never be stopped: it exits soon, whatever hangs. */
const LEAVE_MS_MAX = 2_000;

const RETURN_MS_MAX = 30_000;

/** The argument that only compiles a program. */
export const PREPARE = 'prepare';

/**
 * The main function of a process that a cloud starts: waits for its configuration, serves, and exits when it is stopped
 * or the cloud is gone.
 */
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
  readonly #returns = new Map<number, (problem: string | null) => void>();
  #running: HostedProgram | undefined;
  #lastReturn = 0;
  #work: Promise<void> = Promise.resolve();
  #leaving = false;

  constructor(start: StartProgram) {
    this.#start = start;
  }

  listen(): void {
    process.on('message', (message: ToProgram) => {
      if (message.kind === 'returned') {
        this.#returns.get(message.id)?.(message.problem);
        return;
      }
      if (message.kind === 'health') {
        send({ kind: 'healthy', id: message.id });
        return;
      }
      // Serialized: a change that arrives during the start waits for it.
      this.#work = this.#work.then(() => this.#handle(message)).catch((error: unknown) => this.#fail(error));
    });
    process.on('disconnect', () => {
      setTimeout(() => process.exit(1), LEAVE_MS_MAX);
      void this.#exit(0);
    });
    process.on('SIGTERM', () => void this.#exit(0));
    // Ctrl-C reaches the whole process group; the cloud stops its arrays in order.
    process.on('SIGINT', () => undefined);
    process.on('uncaughtException', (error) => this.#fail(error));
  }

  async #handle(message: Extract<ToProgram, { kind: 'start' | 'change' }>): Promise<void> {
    if (message.kind === 'start') {
      send({ kind: 'progress', stage: 'reading its configuration' });
      this.#running = await this.#start(message.configuration, {
        returnDrive: (drive) => this.#return({ drive }),
        returnProxies: (proxiesKept) => this.#return({ proxiesKept }),
        reportListening: () => {
          if (this.#running) send({ kind: 'listening', ...this.#listening() });
        },
        reportEncryption: (changes) => new Promise((resolve) => send({ kind: 'encryption', changes }, resolve)),
        progress: (stage) => send({ kind: 'progress', stage }),
      });
      send({ kind: 'ready', ...this.#listening() });
      flushCompileCache();
      releaseMemory();
      return;
    }
    try {
      await this.#running?.change(message.configuration);
      send({ kind: 'changed', id: message.id, ...this.#listening() });
    } catch (error) {
      send({ kind: 'refused', id: message.id, reason: reasonOf(error) });
    }
  }

  #listening(): Listening {
    return { bound: this.#running?.bound ?? [], unbound: this.#running?.unbound ?? [] };
  }

  #return(what: GivenBack): Promise<void> {
    const id = ++this.#lastReturn;
    return new Promise((resolve, reject) => {
      const answer = (problem: string | null) => {
        clearTimeout(timer);
        this.#returns.delete(id);
        if (problem === null) resolve();
        else reject(new Error(problem));
      };
      const timer = setTimeout(() => answer('The cloud did not answer in time.'), RETURN_MS_MAX);
      this.#returns.set(id, answer);
      send({ kind: 'return', id, what });
    });
  }

  async #exit(code: number): Promise<void> {
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

  /** The cloud shows the reason to the operator, so it is sent before the process exits. */
  #fail(error: unknown): void {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    send({ kind: 'failed', reason: reasonOf(error) }, () => process.exit(1));
  }
}

function send(message: FromProgram, done: () => void = () => undefined): void {
  if (!process.connected || !process.send) {
    done();
    return;
  }
  process.send(message, undefined, undefined, () => done());
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
