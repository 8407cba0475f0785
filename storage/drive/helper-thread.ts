import { Worker } from 'node:worker_threads';
import { allocate, isInArena, sharedKernels } from '../kernels/index.ts';
import { BLOCK_BYTES } from '../units.ts';
import { HelperJob } from './helper-job.ts';
import type { HelperData } from './helper-main.ts';
import { ASKED, ASLEEP, createRing, DONE, READ, SLOTS, WRITE, type HelperRing } from './helper-ring.ts';

/** What may wait for it: it should not have to wait for the next, and whoever asks has hands of its own. */
const WAITING_BYTES_MAX = 2 * 1024 * 1024;
const MOMENT_MS = 0.1;
/** For 1 MiB. */
const SUMS_BYTES = 1024;
const BYTES_MAX = (SUMS_BYTES / 4) * BLOCK_BYTES;

/**
 * A second pair of hands for one thread. A write into the page cache, and a read from it, costs the processor far more
 * than everything around it; so when several are due at once, this thread does some of them while the other goes on. It
 * works on the bytes where they are, in the arena, and sums what it has read while that is in its processor's cache. Not
 * the thread pool, because its hand-over costs as much as a small write, and it leaves the sums to the wrong processor.
 */
export class HelperThread {
  static #only: HelperThread | undefined;
  readonly #ring: HelperRing = createRing();
  readonly #worker: Worker;
  /** For each slot the checksums of what it reads. */
  readonly #sums = allocate(SLOTS * SUMS_BYTES);
  readonly #jobs = new Array<HelperJob | undefined>(SLOTS).fill(undefined);
  #waitingBytes = 0;
  #asked = 0;
  #done = 0;
  #listening = false;

  /** Each thread that has drives has one. */
  static get(): HelperThread {
    return (HelperThread.#only ??= new HelperThread());
  }

  private constructor() {
    const workerData: HelperData = { ring: this.#ring, shared: sharedKernels };
    this.#worker = new Worker(new URL('./helper-main.ts', import.meta.url), { workerData });
    this.#worker.unref();
  }

  /** Whether it can take these bytes now, where they are. */
  hasRoomFor(bytes: Buffer): boolean {
    if (!isInArena(bytes) || !isInArena(this.#sums) || bytes.length > BYTES_MAX) return false;
    // Whoever asks without ever going back to the event loop would not hear of what is done.
    if (this.#done !== this.#asked) this.#settle();
    const isFull = ((this.#asked - this.#done) & 0x7fffffff) >= SLOTS;
    return !isFull && this.#waitingBytes + bytes.length <= WAITING_BYTES_MAX;
  }

  /** It has no more than one to do: with the next one it need not go to sleep in between. */
  get isNearlyIdle(): boolean {
    if (this.#done !== this.#asked) this.#settle();
    return ((this.#asked - this.#done) & 0x7fffffff) <= 1;
  }

  /** The bytes belong to the helper until it is done. The checksum of each block is put into `sums`, if given. */
  read(file: number, offset: number, into: Buffer, sums: Uint32Array): HelperJob {
    return this.#ask(READ, file, offset, into, sums);
  }

  write(file: number, offset: number, from: Buffer, sums?: Uint32Array): HelperJob {
    return this.#ask(WRITE, file, offset, from, sums);
  }

  /**
   * Whether everything is done, after looking for a moment if there is only one left that was begun a while ago: to be
   * woken up takes longer than that.
   */
  isAboutToEnd(): boolean {
    if (!this.isNearlyIdle) return false;
    const untilMs = performance.now() + MOMENT_MS;
    while (this.#done !== this.#asked && performance.now() < untilMs) this.#settle();
    return this.#done === this.#asked;
  }

  #ask(kind: number, file: number, offset: number, bytes: Buffer, sums?: Uint32Array): HelperJob {
    const ring = this.#ring;
    const slot = this.#asked % SLOTS;
    const space = this.#sums.subarray(slot * SUMS_BYTES, (slot + 1) * SUMS_BYTES);
    ring.kinds[slot] = kind;
    ring.files[slot] = file;
    ring.lengths[slot] = bytes.length;
    ring.offsets[slot] = offset;
    ring.addresses[slot] = bytes.byteOffset;
    ring.sums[slot] = sums ? space.byteOffset : 0;
    const job = new HelperJob(bytes, sums && { sums, space });
    this.#jobs[slot] = job;
    this.#waitingBytes += bytes.length;
    this.#asked = (this.#asked + 1) & 0x7fffffff;
    Atomics.store(ring.control, ASKED, this.#asked);
    if (Atomics.load(ring.control, ASLEEP) === 1) Atomics.notify(ring.control, ASKED);
    if (!this.#listening) this.#listen();
    return job;
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
      const job = this.#jobs[slot];
      this.#jobs[slot] = undefined;
      this.#done = (this.#done + 1) & 0x7fffffff;
      if (job === undefined) continue;
      this.#waitingBytes -= job.bytes.length;
      job.end(this.#ring.problems[slot] ?? 0, this.#ring.milliseconds[slot] ?? 0);
    }
  }
}
