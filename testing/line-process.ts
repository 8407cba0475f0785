import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** A real process that prints what it did line by line and can be killed at any point. */
export class LineProcess {
  readonly lines: string[] = [];
  readonly #child: ChildProcess;
  #rest = '';

  constructor(script: URL, ...args: string[]) {
    this.#child = spawn(process.execPath, [fileURLToPath(script), ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      const parts = (this.#rest + text).split('\n');
      this.#rest = parts.pop() ?? '';
      this.lines.push(...parts);
    });
  }

  /** Ended, and everything it wrote has been read. */
  async ended(): Promise<void> {
    if (!this.#child.stdout?.closed) await once(this.#child, 'close');
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.ended();
  }
}
