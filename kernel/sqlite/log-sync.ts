import fs from 'node:fs';

/**
 * Syncs the write-ahead log of one database. After a failed sync every further call throws the same error: the kernel
 * drops dirty pages it could not write, so a later sync would report success for lost commits.
 */
export class LogSync {
  readonly #file: string;
  readonly #toError: (cause: Error) => Error;
  #fd: number | undefined;
  #running = 0;
  #isClosed = false;
  #failure: Error | undefined;

  /** `toError` maps the failure of a sync to the error that callers get. */
  constructor(file: string, toError: (cause: Error) => Error) {
    this.#file = file;
    this.#toError = toError;
  }

  /** Throws if a sync has failed. */
  requireDurable(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Resolves when every commit so far survives a power cut. */
  async sync(): Promise<void> {
    const fd = this.#open();
    this.#running += 1;
    try {
      await new Promise<void>((resolve, reject) => {
        fs.fdatasync(fd, (error) => (error ? reject(this.#fail(error)) : resolve()));
      });
    } finally {
      this.#running -= 1;
      if (this.#isClosed) this.#closeIdle();
    }
  }

  /** The same, synchronously: for opening and closing. */
  syncNow(): void {
    const fd = this.#open();
    try {
      fs.fdatasyncSync(fd);
    } catch (error) {
      throw this.#fail(error as Error);
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#closeIdle();
  }

  #open(): number {
    this.requireDurable();
    this.#fd ??= fs.openSync(this.#file, 'r+');
    return this.#fd;
  }

  /** A descriptor that is being synced stays open: its number could be reused for another file. */
  #closeIdle(): void {
    if (this.#fd === undefined || this.#running > 0) return;
    fs.closeSync(this.#fd);
    this.#fd = undefined;
  }

  #fail(cause: Error): Error {
    this.#failure ??= this.#toError(cause);
    return this.#failure;
  }
}
