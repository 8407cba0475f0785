import { writeSync } from 'node:fs';
import { pino, type DestinationStream, type Logger } from 'pino';

export type Log = Logger;
export type LogLevel = 'debug' | 'info';

const SECRET_NAME = /pass(word|code|wd)|pwd|secret|token|authorization|cookie|pem$|[_-]key$/i;
const DEPTH_MAX = 5;
const STDOUT = 1;
const BUSY_WAIT_MS = 5;
const BUSY_TRIES_MAX = 200;

/**
 * Redacts by name, at any depth. A safety net: nothing that carries a request's parameters is logged as a whole. The
 * level may be changed while the service runs: `log.level = 'debug'`.
 */
export function createLog(service: string, level: LogLevel | 'silent' = 'info', destination?: DestinationStream): Log {
  return pino(
    {
      level,
      base: { service },
      errorKey: 'error',
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { log: (facts) => redacted(facts, 0) as Record<string, unknown> },
      // Errors are serialized above; pino's own serializer would process the result again.
      serializers: { error: (serialized: unknown) => serialized },
    },
    destination ?? new LogLines(STDOUT),
  );
}

/**
 * Writes lines to a descriptor. The service matters more than its log: lines that a full disk or a closed pipe refuses
 * are lost, and logging continues as soon as there is space.
 */
export class LogLines implements DestinationStream {
  readonly #fd: number;
  readonly #writeSome: (fd: number, bytes: Buffer) => number;
  #isStuck = false;
  /** The last line was written in part. */
  #isTorn = false;

  constructor(fd: number, writeSome: (fd: number, bytes: Buffer) => number = writeSync) {
    this.#fd = fd;
    this.#writeSome = writeSome;
  }

  write(line: string): void {
    // A reader that did not read the last line in time is not waited for again.
    const tries = this.#isStuck ? 1 : BUSY_TRIES_MAX;
    const whole = Buffer.from(this.#isTorn ? `\n${line}` : line);
    let rest = whole;
    try {
      while (rest.length > 0) rest = rest.subarray(this.#writeOnce(rest, tries));
      this.#isStuck = false;
      this.#isTorn = false;
    } catch {
      this.#isStuck = true;
      this.#isTorn ||= rest.length < whole.length;
    }
  }

  #writeOnce(bytes: Buffer, tries: number): number {
    try {
      return this.#writeSome(this.#fd, bytes);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN' || tries <= 1) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BUSY_WAIT_MS);
      return this.#writeOnce(bytes, tries - 1);
    }
  }
}

function redacted(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null || 'toJSON' in value) return value;
  if (depth > DEPTH_MAX) return '[deep]';
  if (Array.isArray(value)) return value.map((item) => redacted(item, depth + 1));
  const facts = value instanceof Error ? pino.stdSerializers.err(value) : value;
  return Object.fromEntries(
    Object.entries(facts).map(([name, fact]) => [
      name,
      SECRET_NAME.test(name) ? '[redacted]' : redacted(fact, depth + 1),
    ]),
  );
}
