import { createInterface } from 'node:readline/promises';
import type { ReadStream } from 'node:tty';
import { text } from 'node:stream/consumers';
import { CommandFailure, exitCodes } from './exit.ts';

type Output = NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number };
type Input = NodeJS.ReadableStream & Pick<ReadStream, 'isTTY'> & Partial<Pick<ReadStream, 'setRawMode'>>;

/** Where a command reads and writes: the process's own streams, or a test's. */
export interface Terminal {
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
}

const WIDTH_WITHOUT_TERMINAL = 120;
const CTRL_C = '\u0003';
const CTRL_D = '\u0004';
const BACKSPACE = '\b';
const DELETE = '\u007f';

export function print(terminal: Terminal, line: string): void {
  terminal.stdout.write(`${line}\n`);
}

/** Beside the result: progress, warnings, errors. */
export function printToStderr(terminal: Terminal, line: string): void {
  terminal.stderr.write(`${line}\n`);
}

/** For a service: it goes on, and stops cleanly, when its output is closed. */
export function outliveReaders({ stdout, stderr }: Terminal): void {
  for (const output of [stdout, stderr]) {
    // A command ends when its output is closed.
    output.removeAllListeners('error');
    output.on('error', () => undefined);
  }
}

export function widthOf({ stdout, env }: Terminal): number {
  return stdout.columns || Number(env['COLUMNS']) || WIDTH_WITHOUT_TERMINAL;
}

export function hasColour({ stdout, env }: Terminal): boolean {
  return stdout.isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
}

/** Whether a person sees the result: it goes to a terminal, not into a file or another program. */
export function isWatched({ stdout }: Terminal): boolean {
  return stdout.isTTY === true;
}

/** Whether questions can be asked: input and output are a terminal. */
export function isInteractive({ stdin, stderr }: Terminal): boolean {
  return Boolean(stdin.isTTY && stderr.isTTY);
}

export async function askLine({ stdin, stderr }: Terminal, question: string): Promise<string> {
  const lines = createInterface({ input: stdin, output: stderr });
  try {
    return await lines.question(question);
  } finally {
    lines.close();
  }
}

interface Asking {
  /** More than one line, as of a certificate: Enter is part of it, and Ctrl-D ends it. */
  readonly hasLines?: boolean;
}

/** Asks without showing what is typed. */
export function askSecretly(
  { stdin, stderr }: Terminal,
  question: string,
  { hasLines = false }: Asking = {},
): Promise<string> {
  // Before the question: what is typed at once must not be shown either.
  stdin.setRawMode?.(true);
  stdin.resume();
  stderr.write(question);
  return new Promise((resolve, reject) => {
    const typed: string[] = [];
    const end = (settle: () => void) => {
      stdin.off('data', onData);
      stdin.setRawMode?.(false);
      stdin.pause();
      stderr.write('\n');
      settle();
    };
    const onData = (chunk: Buffer | string) => {
      for (const key of chunk.toString()) {
        const isEnter = key === '\r' || key === '\n';
        if (isEnter && hasLines) {
          typed.push('\n');
          continue;
        }
        if (isEnter || key === CTRL_D) {
          end(() => resolve(typed.join('')));
          return;
        }
        if (key === CTRL_C) {
          end(() => reject(new CommandFailure(exitCodes.failed, 'Cancelled.')));
          return;
        }
        if (key === DELETE || key === BACKSPACE) typed.pop();
        else typed.push(key);
      }
    };
    stdin.on('data', onData);
  });
}

/** What is piped in. Where a person types instead, it is asked for, and not shown. */
export function readSecret(terminal: Terminal, question: string, asking: Asking = {}): Promise<string> {
  return terminal.stdin.isTTY ? askSecretly(terminal, question, asking) : readStdin(terminal);
}

/** Everything on standard input, without the newline that `echo` puts at its end. */
async function readStdin({ stdin }: Terminal): Promise<string> {
  return (await text(stdin)).replace(/\r?\n$/, '');
}
