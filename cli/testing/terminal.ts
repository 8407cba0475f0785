import { PassThrough, Readable, Writable } from 'node:stream';
import type { Terminal } from '../terminal.ts';

interface Setting {
  /** What comes on standard input. */
  readonly stdin?: string;
  readonly env?: Record<string, string>;
  readonly columns?: number;
  /** Whether a person sees the output, and not a pipe. */
  readonly isWatched?: boolean;
}

/** A terminal without a person: what is written can be read back. */
export class FakeTerminal implements Terminal {
  readonly stdin: Terminal['stdin'];
  readonly stdout: Writable & { columns: number; isTTY: boolean };
  readonly stderr: Writable & { isTTY: boolean };
  readonly env: Record<string, string>;
  #out = '';
  #err = '';

  constructor({ stdin = '', env = {}, columns = 120, isWatched = false }: Setting = {}) {
    this.stdin = Object.assign(Readable.from([stdin]), { isTTY: false });
    this.stdout = Object.assign(
      collector((text) => (this.#out += text)),
      { columns, isTTY: isWatched },
    );
    this.stderr = Object.assign(
      collector((text) => (this.#err += text)),
      { isTTY: isWatched },
    );
    this.env = env;
  }

  get out(): string {
    return this.#out;
  }

  get err(): string {
    return this.#err;
  }
}

/** A terminal with a person who types what the test says. */
export function peopledTerminal(): { terminal: FakeTerminal; type: (keys: string) => void; rawModes: boolean[] } {
  const keys = new PassThrough();
  const rawModes: boolean[] = [];
  const terminal = new FakeTerminal();
  const stdin = Object.assign(keys, { isTTY: true, setRawMode: (mode: boolean) => rawModes.push(mode) });
  Object.assign(terminal, { stdin });
  Object.assign(terminal.stderr, { isTTY: true });
  return { terminal, type: (text) => void keys.write(text), rawModes };
}

function collector(receive: (text: string) => void): Writable {
  return new Writable({
    write(chunk: Buffer, _, done) {
      receive(chunk.toString('utf8'));
      done();
    },
  });
}
