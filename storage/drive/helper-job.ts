import { getSystemErrorName } from 'node:util';
import { piecesOf } from './helper-pieces.ts';

/** The share of both threads in one file of a request: known when it is done. */
class CopyPart {
  ownMs = 0;
  helpedMs = 0;
  error: Error | undefined;

  fail(problem: number): void {
    const code = getSystemErrorName(-problem);
    this.error ??= Object.assign(new Error(`${code}: the helper could not`), { code, errno: -problem });
  }
}

/** One request that is shared with the helper. */
export class HelperJob {
  readonly slot: number;
  readonly bytes: Buffer;
  readonly pieces: number;
  readonly startMs = performance.now();
  readonly copies: CopyPart[] = [];
  ownPieces = 0;
  ownBytes = 0;
  isDone = false;
  /** Where the caller wants the checksums, and the shared memory that receives them first. */
  readonly #sums: Uint32Array;
  readonly #space: Uint32Array;
  #onEnd: (() => void)[] = [];

  constructor(slot: number, copies: number, bytes: Buffer, sums: Uint32Array, space: Uint32Array) {
    this.slot = slot;
    this.bytes = bytes;
    this.pieces = piecesOf(bytes.length);
    for (let copy = 0; copy < copies; copy += 1) this.copies.push(new CopyPart());
    this.#sums = sums;
    this.#space = space;
  }

  /** Resolves when it is done or has failed. */
  ended(): Promise<void> {
    if (this.isDone) return Promise.resolve();
    return new Promise((resolve) => this.#onEnd.push(resolve));
  }

  end(): void {
    this.isDone = true;
    // One by one, because the engine copies shared memory byte by byte.
    for (let index = 0; index < this.#sums.length; index += 1) this.#sums[index] = this.#space[index] ?? 0;
    for (const resolve of this.#onEnd) resolve();
  }
}
