import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface, type Interface } from 'node:readline';
import { Initiator, type LoginOptions, type InitiatorSession } from '@granary/protocols/iscsi/testing';

const GRANARY = new URL('../../bin/granary.js', import.meta.url).pathname;
const READY = /Granary is ready: iscsi:\/\/([\d.]+):(\d+)\/(\S+)\/0/;

export interface Status {
  readonly status: string;
  readonly progress?: number;
  readonly members: readonly { readonly driveId: string; readonly state: string }[];
  readonly mismatches: number;
}

/** `granary volume-server` as a process of its own, on a free port. */
export class RunningServer {
  readonly host: string;
  readonly port: number;
  readonly targetName: string;
  readonly #child: ChildProcess;
  readonly #lines: Interface;

  static async start(folder: string, ...options: string[]): Promise<RunningServer> {
    const args = [GRANARY, 'volume-server', '--dir', folder, '--port', '0', ...options];
    const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    const lines = createInterface({ input: child.stdout });
    const ready = new Promise<RunningServer>((resolve, reject) => {
      lines.on('line', (line) => {
        const [, host = '', port, targetName = ''] = READY.exec(line) ?? [];
        if (port !== undefined) resolve(new RunningServer(child, lines, host, Number(port), targetName));
      });
      child.once('exit', (code) => reject(new Error(`granary volume-server ended with ${code} before it was ready`)));
    });
    return ready;
  }

  private constructor(child: ChildProcess, lines: Interface, host: string, port: number, targetName: string) {
    this.#child = child;
    this.#lines = lines;
    this.host = host;
    this.port = port;
    this.targetName = targetName;
  }

  get url(): string {
    return `iscsi://${this.host}:${this.port}/${this.targetName}/0`;
  }

  login(options: Partial<LoginOptions> = {}): Promise<InitiatorSession> {
    const { host, port, targetName } = this;
    return Initiator.login({ host, port, targetName, ...options });
  }

  /** Types a line and returns the answer. */
  async say(line: string): Promise<string> {
    this.#child.stdin?.write(`${line}\n`);
    const [answer] = (await once(this.#lines, 'line')) as [string];
    assert(!answer.startsWith('Not done'), `${line}: ${answer}`);
    return answer;
  }

  async status(): Promise<Status> {
    return JSON.parse(await this.say('status')) as Status;
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await once(this.#child, 'close');
  }

  async stop(): Promise<number | null> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return this.#child.exitCode;
    const closed = once(this.#child, 'close');
    this.#child.kill('SIGTERM');
    await closed;
    return this.#child.exitCode;
  }
}
