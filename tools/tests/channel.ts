import { writeSync } from 'node:fs';

/** What a worker says to the run: over a pipe of its own, since the IPC channel and the output belong to the tests. */
export type Message = TestMessage | OutputMessage | EndMessage;

export interface TestMessage {
  readonly kind: 'test';
  readonly file: string;
  /** The names of the tests around it, then its own. */
  readonly path: readonly string[];
  readonly outcome: 'passed' | 'failed' | 'skipped';
  /** Why it failed or was skipped. */
  readonly detail?: string;
}

/** What a test reports: over the channel it comes before the end of its file, over the standard output perhaps later. */
interface OutputMessage {
  readonly kind: 'output';
  readonly text: string;
}

export interface EndMessage {
  readonly kind: 'end';
  readonly file: string;
  readonly cpuMs: number;
  readonly rssBytes: number;
  /** What the file left behind in the process. */
  readonly leaks: readonly string[];
}

export const CHANNEL_FD = 3;

/** Synchronous: what was sent has been sent even when the process dies next. */
export function send(message: Message): void {
  let rest = Buffer.from(`${JSON.stringify(message)}\n`);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(CHANNEL_FD, rest));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
    }
  }
}
