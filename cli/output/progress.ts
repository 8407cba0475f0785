import { Presets, SingleBar } from 'cli-progress';
import { printToStderr, type Terminal } from '../terminal.ts';
import { cellText, plainText } from './cells.ts';

/** Progress of long work, printed beside the result. */
export interface Progress {
  print(message: string): void;
  show(record: Readonly<Record<string, unknown>>): void;
  finish(): void;
  /** Puts the terminal back in order; called whatever happened. */
  stop(): void;
}

export function showProgress(terminal: Terminal, subject: string): Progress {
  return terminal.stderr.isTTY ? new BarProgress(terminal, subject) : new LineProgress(terminal, subject);
}

/** A bar that moves, for people. */
class BarProgress implements Progress {
  readonly #terminal: Terminal;
  readonly #bar: SingleBar;
  #state = '';

  constructor(terminal: Terminal, subject: string) {
    this.#terminal = terminal;
    const format = `${plainText(subject)} {bar} {percentage}% {state}`;
    const options = { format, stream: terminal.stderr, barsize: 30, gracefulExit: false };
    this.#bar = new SingleBar(options, Presets.shades_classic);
  }

  print(message: string): void {
    if (message !== '') printToStderr(this.#terminal, plainText(message));
    this.#bar.start(100, 0, { state: '' });
  }

  show(record: Readonly<Record<string, unknown>>): void {
    this.#state = wording(record);
    this.#bar.update(percentOf(record), { state: this.#state });
  }

  finish(): void {
    this.#bar.update(100, { state: 'done' });
  }

  stop(): void {
    this.#bar.stop();
  }
}

/** A line for each change, for logs and pipes. */
class LineProgress implements Progress {
  readonly #terminal: Terminal;
  readonly #subject: string;
  #last = '';

  constructor(terminal: Terminal, subject: string) {
    this.#terminal = terminal;
    this.#subject = subject;
  }

  print(message: string): void {
    if (message !== '') printToStderr(this.#terminal, plainText(message));
  }

  show(record: Readonly<Record<string, unknown>>): void {
    const line = plainText(`${this.#subject}: ${wording(record)}, ${percentOf(record)}%`);
    if (line !== this.#last) printToStderr(this.#terminal, line);
    this.#last = line;
  }

  finish(): void {
    printToStderr(this.#terminal, plainText(`${this.#subject}: done`));
  }

  stop(): void {
    // Lines leave nothing behind.
  }
}

/** `creating: placing drives` */
function wording({ status, status_message: message }: Readonly<Record<string, unknown>>): string {
  return [status, message].map(cellText).filter(Boolean).join(': ');
}

/** A field of its own, a percentage within the status, or what was done of a total. */
function percentOf(record: Readonly<Record<string, unknown>>): number {
  const inStatus = /(\d+)\s*%/.exec(cellText(record['status']))?.[1];
  const done = Number(record['already_migrated_mb'] ?? 0) / Number(record['total_capacity_to_migrate_mb'] ?? 1);
  const percent = Number(record['progress'] ?? inStatus ?? (Number.isFinite(done) ? done * 100 : 0));
  return Math.min(100, Math.max(0, Math.round(percent)));
}
