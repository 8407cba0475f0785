import { appendFile, rename, stat } from 'node:fs/promises';
import { Writable } from 'node:stream';

const SIZE_BYTES_MAX = 10 * 2 ** 20;

/** A log file that starts over when it is full; the one before is kept as `.1`. */
export class RotatingFile extends Writable {
  readonly #file: string;
  readonly #sizeMax: number;
  #size: number | undefined;

  constructor(file: string, sizeMax = SIZE_BYTES_MAX) {
    super({ decodeStrings: true });
    this.#file = file;
    this.#sizeMax = sizeMax;
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: (error?: Error | null) => void): void {
    // What an array says is worth less than the array: a full disk loses lines, not the process.
    this.#append(chunk).then(
      () => done(),
      () => done(),
    );
  }

  async #append(chunk: Buffer): Promise<void> {
    this.#size ??= await sizeOf(this.#file);
    if (this.#size > 0 && this.#size + chunk.length > this.#sizeMax) {
      await rename(this.#file, `${this.#file}.1`);
      this.#size = 0;
    }
    await appendFile(this.#file, chunk, { mode: 0o600 });
    this.#size += chunk.length;
  }
}

async function sizeOf(file: string): Promise<number> {
  try {
    return (await stat(file)).size;
  } catch {
    return 0;
  }
}
