import { getSystemErrorName } from 'node:util';

/** Checksums of the blocks of a request: where the helper puts them, and where they are wanted. */
export interface WantedSums {
  readonly space: Buffer;
  readonly sums: Uint32Array;
}

/** One request to the helper, until it is done. */
export class HelperJob {
  readonly bytes: Buffer;
  /** How long the helper took, so that a drive that made it wait is left to the platform's threads. */
  milliseconds = 0;
  isDone = false;
  error: Error | undefined;
  readonly #wanted: WantedSums | undefined;
  readonly #ending: PromiseWithResolvers<void> = Promise.withResolvers();

  constructor(bytes: Buffer, wanted: WantedSums | undefined) {
    this.bytes = bytes;
    this.#wanted = wanted;
    // Who was there when it ended has seen the error.
    this.#ending.promise.catch(() => undefined);
  }

  get ended(): Promise<void> {
    return this.#ending.promise;
  }

  end(problem: number, milliseconds: number): void {
    this.isDone = true;
    this.milliseconds = milliseconds;
    if (problem !== 0) this.error = systemError(problem);
    if (this.error) {
      this.#ending.reject(this.error);
      return;
    }
    if (this.#wanted) takeSums(this.#wanted);
    this.#ending.resolve();
  }
}

function takeSums({ space, sums }: WantedSums): void {
  sums.set(new Uint32Array(space.buffer, space.byteOffset, sums.length));
}

function systemError(number: number): Error {
  const code = getSystemErrorName(-number);
  return Object.assign(new Error(`${code}: the helper could not`), { code, errno: -number });
}
