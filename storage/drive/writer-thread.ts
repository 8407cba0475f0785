import { getSystemErrorName } from 'node:util';
import { Worker } from 'node:worker_threads';
import { ASKED, ASLEEP, createRing, DONE, SLOT_BYTES, SLOTS, type WriterRing } from './writer-ring.ts';

/**
 * A second pair of hands for small writes. A write into the page cache costs the processor far more than everything
 * around it; so when several are due at once, this thread writes them while the other goes on taking requests. One
 * thread, because the kernel does not write to two files of a disk faster than to one; not the thread pool, because its
 * hand-over costs as much as the write.
 */
export class WriterThread {
  static #only: WriterThread | undefined;
  readonly #ring: WriterRing = createRing();
  readonly #shared: Buffer;
  readonly #worker: Worker;
  readonly #waiting = new Array<PromiseWithResolvers<void> | undefined>(SLOTS).fill(undefined);
  #asked = 0;
  #done = 0;
  #listening = false;

  /** One for the whole process. */
  static get(): WriterThread {
    WriterThread.#only ??= new WriterThread();
    return WriterThread.#only;
  }

  private constructor() {
    this.#shared = Buffer.from(this.#ring.bytes.buffer);
    this.#worker = new Worker(new URL('./writer-main.ts', import.meta.url), { workerData: this.#ring });
    this.#worker.unref();
  }

  hasRoomFor(bytes: number): boolean {
    return bytes <= SLOT_BYTES && ((this.#asked - this.#done) | 0) < SLOTS;
  }

  /** The bytes are copied at once; the caller's buffer is free when this returns. */
  write(file: number, offset: number, from: Buffer): Promise<void> {
    const slot = this.#asked % SLOTS;
    from.copy(this.#shared, slot * SLOT_BYTES);
    this.#ring.files[slot] = file;
    this.#ring.lengths[slot] = from.length;
    this.#ring.offsets[slot] = offset;
    const waiting: PromiseWithResolvers<void> = Promise.withResolvers();
    this.#waiting[slot] = waiting;
    this.#asked = (this.#asked + 1) & 0x7fffffff;
    Atomics.store(this.#ring.control, ASKED, this.#asked);
    if (Atomics.load(this.#ring.control, ASLEEP) === 1) Atomics.notify(this.#ring.control, ASKED);
    if (!this.#listening) this.#listen();
    return waiting.promise;
  }

  #listen(): void {
    this.#listening = true;
    // What is under way keeps the process alive, like any other request to the disk.
    this.#worker.ref();
    const { async, value } = Atomics.waitAsync(this.#ring.control, DONE, this.#done);
    const settle = (): void => {
      this.#settle();
      this.#listening = false;
      if (this.#done !== this.#asked) this.#listen();
      else this.#worker.unref();
    };
    if (async) void value.then(settle);
    else queueMicrotask(settle);
  }

  #settle(): void {
    const done = Atomics.load(this.#ring.control, DONE);
    while (this.#done !== done) {
      const slot = this.#done % SLOTS;
      const waiting = this.#waiting[slot];
      const problem = this.#ring.problems[slot] ?? 0;
      this.#waiting[slot] = undefined;
      this.#done = (this.#done + 1) & 0x7fffffff;
      if (problem === 0) waiting?.resolve();
      else waiting?.reject(systemError(problem));
    }
  }
}

function systemError(number: number): Error {
  const code = getSystemErrorName(-number);
  return Object.assign(new Error(`${code}: the write failed`), { code, errno: -number });
}
