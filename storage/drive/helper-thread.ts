import { Worker } from 'node:worker_threads';
import { allocate, isInArena, kernels, memoryBuffer, sharedKernels } from '../kernels/index.ts';
import { BLOCK_BYTES } from '../units.ts';
import { PIECE_BYTES } from './file-pieces.ts';
import { HelperJob } from './helper-job.ts';
import type { HelperData } from './helper-main.ts';
import { callerOrder, HelperPieces, type OnCopy, piecesOf } from './helper-pieces.ts';
import {
  ASKED,
  ASLEEP,
  COPIES_MAX,
  createRing,
  type HelperRing,
  NUMBER_MASK,
  PASSED,
  READ,
  SLOTS,
  WRITE,
} from './helper-ring.ts';

/** Up to this size handing a request to another thread costs about as much as executing it. */
const SMALL_BYTES_MAX = 16 * 1024;
/** The limit for queued bytes. */
const WAITING_BYTES_MAX = 8 * 1024 * 1024;
/** After this time the helper is blocked at a file, and further requests bypass it. */
const HANGS_MS = 20;
/** A piece that takes this thread longer has waited for the disk: the helper does the rest. */
const PIECE_SLOW_MS = 1;
/** Waking up takes longer than this. */
const SPIN_MS = 0.1;
/** For 1 MiB. */
const SUMS_MAX = 256;
const BYTES_MAX = SUMS_MAX * BLOCK_BYTES;
const SUM_BYTES = 4;

/**
 * Doubles the I/O throughput of one thread. Copying to and from the page cache costs the processor far more than
 * everything around it, so large requests are split between the two threads. Both work on the bytes in place, in the
 * arena. The thread pool is no alternative: its hand-over costs as much as a small write, and checksums would be
 * computed on the wrong processor.
 */
export class HelperThread {
  static #only: HelperThread | undefined;
  static #isImpossible = false;
  readonly #ring: HelperRing = createRing();
  readonly #pieces = new HelperPieces(callerOrder, this.#ring, kernels, Buffer.from(memoryBuffer));
  readonly #worker: Worker;
  /** The checksums of each slot's blocks. */
  readonly #sums = allocate(SLOTS * SUMS_MAX * SUM_BYTES);
  readonly #sumsOf = Array.from({ length: SLOTS }, (_, slot) => this.#sumsAt(slot));
  readonly #jobs = new Array<HelperJob | undefined>(SLOTS).fill(undefined);
  #waitingBytes = 0;
  #asked = 0;
  #passed = 0;
  #isListening = false;

  /** One for each thread that has drives, if the machine supports it. */
  static get(): HelperThread | undefined {
    if (HelperThread.#only !== undefined || HelperThread.#isImpossible) return HelperThread.#only;
    try {
      HelperThread.#only = new HelperThread();
    } catch {
      HelperThread.#isImpossible = true;
    }
    return HelperThread.#only;
  }

  private constructor() {
    const workerData: HelperData = { ring: this.#ring, shared: sharedKernels };
    this.#worker = new Worker(new URL('./helper-main.ts', import.meta.url), { workerData });
    this.#worker.unref();
    this.#worker.on('error', (error: Error) => {
      // Its jobs would never end. The controller ends with it, and the standby takes over.
      throw new Error(`the helper of the drives' thread failed: ${error.message}`, { cause: error });
    });
  }

  /** For bytes that are large enough and in the arena, when the helper has capacity. */
  static for(bytes: Buffer): HelperThread | undefined {
    if (bytes.length <= SMALL_BYTES_MAX || !isInArena(bytes)) return undefined;
    const helper = HelperThread.get();
    return helper?.accepts(bytes) ? helper : undefined;
  }

  /** The process may use one processor only: from now on every thread does its requests itself. */
  static doWithout(): void {
    HelperThread.#isImpossible = true;
  }

  accepts(bytes: Buffer): boolean {
    if (!isInArena(this.#sums) || bytes.length > BYTES_MAX) return false;
    this.#poll();
    const isFull = ((this.#asked - this.#passed) & NUMBER_MASK) >= SLOTS;
    return !isFull && this.#waitingBytes + bytes.length <= WAITING_BYTES_MAX && !this.#hangs();
  }

  /**
   * The helper uses the bytes until the job is done. The checksum of each block is stored in `sums`. With `joins`, this
   * thread executes pieces as well.
   */
  read(file: number, offset: number, into: Buffer, sums: Uint32Array, joins: boolean): HelperJob {
    this.#putFile(0, file);
    const job = this.#ask(READ, 1, offset, into, sums, joins);
    if (joins) this.#join(job);
    return job;
  }

  /** Writes the same bytes to the same place of several files. */
  write(files: readonly number[], offset: number, from: Buffer, sums: Uint32Array, joins: boolean): HelperJob {
    for (let copy = 0; copy < files.length; copy += 1) this.#putFile(copy, files[copy] ?? -1);
    const job = this.#ask(WRITE, files.length, offset, from, sums, joins);
    if (joins) this.#join(job);
    return job;
  }

  /** Whether a job is done, after spinning briefly. */
  isDone(job: HelperJob): boolean {
    for (const untilMs = performance.now() + SPIN_MS; !job.isDone && performance.now() < untilMs;) this.#pollJob(job);
    return job.isDone;
  }

  #join(job: HelperJob): void {
    let slowestMs = 0;
    const record: OnCopy = (index, milliseconds, error) => {
      const copy = job.copies[index];
      if (copy === undefined) return;
      copy.ownMs += milliseconds;
      copy.error ??= error;
      slowestMs = Math.max(slowestMs, milliseconds);
    };
    while (slowestMs < PIECE_SLOW_MS) {
      const at = this.#pieces.claim(job.slot, job.ownPieces);
      if (at < 0) break;
      this.#pieces.carryOut(job.slot, at, job.copies.length - 1, record);
      job.ownPieces += 1;
      job.ownBytes += Math.min(PIECE_BYTES, job.bytes.length - at);
    }
    this.#pollJob(job);
  }

  /** Resolves when a job is done or has failed. */
  ended(job: HelperJob): Promise<void> {
    const ended = job.ended();
    if (!job.isDone && !this.#isListening) this.#listen();
    return ended;
  }

  #putFile(copy: number, file: number): void {
    const { files, problems, milliseconds } = this.#ring;
    const place = (this.#asked % SLOTS) * COPIES_MAX + copy;
    files[place] = file;
    problems[place] = 0;
    milliseconds[place] = 0;
  }

  /** Publishes the request first, because the helper is waiting. */
  #ask(kind: number, copies: number, offset: number, bytes: Buffer, sums: Uint32Array, joins: boolean): HelperJob {
    const ring = this.#ring;
    const slot = this.#asked % SLOTS;
    const space = this.#sumsOf[slot] as Uint32Array;
    ring.kinds[slot] = kind;
    ring.copies[slot] = copies;
    ring.lengths[slot] = bytes.length;
    ring.offsets[slot] = offset;
    ring.addresses[slot] = bytes.byteOffset;
    ring.sums[slot] = space.byteOffset;
    // Alone it goes from front to end: sequential I/O.
    ring.splits[slot] = joins ? piecesOf(bytes.length) >> 1 : 0;
    ring.begun[slot] = 0;
    ring.ended[slot] = 0;
    this.#asked = (this.#asked + 1) & NUMBER_MASK;
    Atomics.store(ring.control, ASKED, this.#asked);
    if (Atomics.load(ring.control, ASLEEP) === 1) Atomics.notify(ring.control, ASKED);
    const job = new HelperJob(slot, copies, bytes, sums, space);
    this.#jobs[slot] = job;
    this.#waitingBytes += bytes.length;
    return job;
  }

  #sumsAt(slot: number): Uint32Array {
    return new Uint32Array(memoryBuffer, this.#sums.byteOffset + slot * SUMS_MAX * SUM_BYTES, SUMS_MAX);
  }

  #listen(): void {
    this.#isListening = true;
    // A request in flight keeps the process alive, like any other I/O.
    this.#worker.ref();
    const { async, value } = Atomics.waitAsync(this.#ring.control, PASSED, this.#passed);
    const onPassed = (): void => {
      this.#poll();
      this.#isListening = false;
      if (this.#passed !== this.#asked) this.#listen();
      else this.#worker.unref();
    };
    if (async) void value.then(onPassed);
    else queueMicrotask(onPassed);
  }

  /** Requests that the helper has passed are done: this thread ends the pieces it claimed before it polls. */
  #poll(): void {
    const passed = Atomics.load(this.#ring.control, PASSED);
    while (this.#passed !== passed) {
      const job = this.#jobs[this.#passed % SLOTS];
      this.#jobs[this.#passed % SLOTS] = undefined;
      this.#passed = (this.#passed + 1) & NUMBER_MASK;
      if (job?.isDone === false) this.#end(job);
    }
  }

  /** A job that this thread has completed need not wait for the helper to wake up. */
  #pollJob(job: HelperJob): void {
    if (job.isDone || job.ownPieces + Atomics.load(this.#ring.ended, job.slot) < job.pieces) return;
    this.#end(job);
  }

  #end(job: HelperJob): void {
    this.#waitingBytes -= job.bytes.length;
    for (const [index, copy] of job.copies.entries()) {
      const problem = this.#ring.problems[job.slot * COPIES_MAX + index] ?? 0;
      if (problem !== 0) copy.fail(problem);
      copy.helpedMs = this.#ring.milliseconds[job.slot * COPIES_MAX + index] ?? 0;
    }
    job.end();
  }

  #hangs(): boolean {
    const oldest = this.#jobs[this.#passed % SLOTS];
    return oldest?.isDone === false && performance.now() - oldest.startMs > HANGS_MS;
  }
}
