import { readFileSync } from 'node:fs';
import { systemClock, type Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import { pairProblem } from './pair.ts';
import { TlsSource } from './source.ts';
import type { KeyAndCertificate } from './certificate.ts';

const CHECK_EVERY_MS = 5_000;

interface CertificateFilesOptions {
  readonly certFile: string;
  readonly keyFile: string;
  readonly clock?: Clock;
}

/** A certificate and a key in files that the operator replaces. Bad new files leave the old ones in use. */
export class CertificateFiles {
  readonly source: TlsSource;
  readonly #options: CertificateFilesOptions;
  #timer: NodeJS.Timeout | undefined;
  /** The last content of the files, good or bad: each change is evaluated once. */
  #seen: string;

  /** Throws when the files cannot be used. */
  constructor(options: CertificateFilesOptions) {
    this.#options = options;
    const pair = this.#read();
    const problem = pairProblem(pair, this.#now());
    if (problem !== undefined) throw new Error(`The pair ${options.certFile}, ${options.keyFile} ${problem}.`);
    this.source = new TlsSource(pair);
    this.#seen = textOf(pair);
  }

  /** Polled, because notifications do not cross every file system and symbolic link. */
  watch(log: Log): void {
    this.#timer = setInterval(() => this.check(log), CHECK_EVERY_MS).unref();
  }

  check(log: Log): void {
    const { certFile, keyFile } = this.#options;
    const found = this.#tryRead();
    const seen = typeof found === 'string' ? found : textOf(found);
    if (seen === this.#seen) return;
    this.#seen = seen;
    const problem = typeof found === 'string' ? found : pairProblem(found, this.#now());
    if (problem !== undefined) {
      log.error({ certFile, keyFile, problem }, 'a new certificate is not taken; the one before stays in use');
      return;
    }
    this.source.replace(found as KeyAndCertificate);
    log.info({ certFile, keyFile }, 'a new certificate is in use');
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #now(): number {
    return (this.#options.clock ?? systemClock).now();
  }

  #tryRead(): KeyAndCertificate | string {
    try {
      return this.#read();
    } catch (error) {
      return `cannot be read (${(error as NodeJS.ErrnoException).code})`;
    }
  }

  #read(): KeyAndCertificate {
    const { certFile, keyFile } = this.#options;
    return { cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') };
  }
}

function textOf({ cert, key }: KeyAndCertificate): string {
  return `${cert}\n${key}`;
}
