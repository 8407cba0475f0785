import type { BlockDevice } from '../block-device.ts';
import { StorageError } from '../errors.ts';
import { allocate, release, type Xts } from '../kernels/index.ts';
import { RangeLock } from '../range-lock.ts';
import { Meter, type OperationStatistics } from '../statistics.ts';
import { BLOCK_BYTES, type Done } from '../units.ts';
import { checkRange, edgesOf, readUnaligned } from './alignment.ts';
import { discardBlocks } from './discard.ts';
import type { LayerFormat, LayerFormats, LayerView, VolumeOptions } from './format.ts';
import { Gate } from './gate.ts';
import type { Layer } from './layers.ts';
import { type Caps, Limiter } from './limiter.ts';
import { type MappedRun, mappedRuns } from './mapped-runs.ts';

export interface VolumeStatistics {
  readonly reads: OperationStatistics;
  readonly writes: OperationStatistics;
  readonly discards: OperationStatistics;
}

export interface VolumeSetup {
  readonly id: string;
  readonly sizeBytes: number;
  readonly layer: Layer;
  readonly formats: LayerFormats;
  readonly encrypted: boolean;
  readonly options: VolumeOptions;
  /** Resolves when every acknowledged write survives a crash. */
  readonly commit: () => Promise<void>;
}

/**
 * A thin volume: sectors that can be read, written and discarded. It excludes overlapping writes, completes partial
 * blocks, enforces its caps, and leaves the storage of bytes to its format.
 */
export class Volume implements BlockDevice, LayerView {
  readonly id: string;
  readonly gate = new Gate();
  readonly lock = new RangeLock();
  readonly encrypted: boolean;
  readonly readOnly = false;
  /** Called once, at the next change of its statistics: a watcher of thousands of volumes need not poll each. */
  onNextChange: (() => void) | undefined;
  /** Being moved to another pool. */
  isMoving = false;
  /** The layer that receives writes. */
  layer: Layer;
  cipher: Xts | undefined;
  options: VolumeOptions;
  sizeBytes: number;
  readonly #formats: LayerFormats;
  readonly #commit: () => Promise<void>;
  readonly #readLimiter = new Limiter();
  readonly #writeLimiter = new Limiter();
  readonly #reads = new Meter(this);
  readonly #writes = new Meter(this);
  readonly #discards = new Meter(this);
  #closed: string | undefined;
  #successor: Volume | undefined;

  constructor(setup: VolumeSetup) {
    this.id = setup.id;
    this.sizeBytes = setup.sizeBytes;
    this.layer = setup.layer;
    this.encrypted = setup.encrypted;
    this.options = setup.options;
    this.#formats = setup.formats;
    this.#commit = setup.commit;
  }

  /** That of its top layer: it changes when reduction is switched on for a volume made without. */
  get format(): LayerFormat {
    return this.#formats[this.layer.format];
  }

  get isLocked(): boolean {
    return this.encrypted && this.cipher === undefined;
  }

  /** Reads and writes have separate caps. */
  setCaps(reads: Caps, writes: Caps): void {
    this.#readLimiter.setCaps(reads);
    this.#writeLimiter.setCaps(writes);
  }

  /** Copies the caps of another volume. */
  adoptCapsOf(other: Volume): void {
    this.setCaps(other.#readLimiter.caps, other.#writeLimiter.caps);
  }

  changed(): void {
    const notify = this.onNextChange;
    if (!notify) return;
    this.onNextChange = undefined;
    notify();
  }

  latencies(): { readonly reads: number[]; readonly writes: number[] } {
    return { reads: this.#reads.latencies(), writes: this.#writes.latencies() };
  }

  statistics(): VolumeStatistics {
    return { reads: this.#reads.totals(), writes: this.#writes.totals(), discards: this.#discards.totals() };
  }

  /**
   * Redirects all requests to the other volume from now on, including writes that wait at the gate. The caller holds
   * the gate, and has ensured that both have the same content.
   */
  handOver(successor: Volume): void {
    this.#successor = successor;
    // Requests that wait for their turn wait there.
    this.setCaps({}, {});
  }

  /** Writes content of a restore or copy: without caps, and without counting as use. */
  async fill(offset: number, from: Buffer): Promise<void> {
    this.#check(offset, from.length);
    await this.#write(offset, from);
  }

  /** The same for ranges that read as zeros. */
  async clear(offset: number, length: number): Promise<void> {
    this.#check(offset, length);
    await this.#discard(offset, length);
  }

  read(offset: number, into: Buffer): Done {
    if (this.#successor) return this.#successor.read(offset, into);
    this.#check(offset, into.length);
    const startedMs = performance.now();
    const wait = this.#readLimiter.acquire(into.length);
    const done = wait ? this.#readLater(wait, offset, into) : this.#read(offset, into);
    return this.#reads.measure(startedMs, into.length, done);
  }

  write(offset: number, from: Buffer): Done {
    if (this.#successor) return this.#successor.write(offset, from);
    this.#check(offset, from.length);
    const startedMs = performance.now();
    const wait = this.#writeLimiter.acquire(from.length);
    const done = wait || !this.gate.isOpen ? this.#writeLater(wait, offset, from) : this.#write(offset, from);
    return this.#writes.measure(startedMs, from.length, done);
  }

  discard(offset: number, length: number): Done {
    if (this.#successor) return this.#successor.discard(offset, length);
    this.#check(offset, length);
    return this.#discards.measure(performance.now(), length, this.#discard(offset, length));
  }

  async flush(): Promise<void> {
    if (this.#successor) return this.#successor.flush();
    this.#refuseIfClosed();
    await this.#commit();
  }

  mapped(offset: number, length: number, runsMax?: number): MappedRun[] {
    if (this.#successor) return this.#successor.mapped(offset, length, runsMax);
    this.#check(offset, length);
    return mappedRuns(this.format, this.layer, offset, length, runsMax);
  }

  reopen(): void {
    this.#closed = undefined;
  }

  /** Refuses all requests from now on, for the reason given. */
  close(reason: string): void {
    this.#closed ??= reason;
  }

  #read(offset: number, into: Buffer): Done {
    if (offset % BLOCK_BYTES === 0 && into.length % BLOCK_BYTES === 0) return this.format.read(this, offset, into);
    return readUnaligned(this.format, this, offset, into);
  }

  async #readLater(wait: Promise<void>, offset: number, into: Buffer): Promise<void> {
    await wait;
    if (this.#successor) return this.#successor.read(offset, into);
    this.#refuseIfClosed();
    await this.#read(offset, into);
  }

  async #writeLater(wait: Promise<void> | undefined, offset: number, from: Buffer): Promise<void> {
    await wait;
    while (!this.gate.isOpen) await this.gate.whenOpen();
    if (this.#successor) return this.#successor.write(offset, from);
    this.#refuseIfClosed();
    await this.#write(offset, from);
  }

  #write(offset: number, from: Buffer): Done {
    const start = Math.floor(offset / BLOCK_BYTES);
    const end = Math.ceil((offset + from.length) / BLOCK_BYTES);
    const aligned = offset % BLOCK_BYTES === 0 && from.length % BLOCK_BYTES === 0;
    if (aligned && this.lock.isFree(start, end)) {
      // The fast path: most writes are done when this returns, and nothing was allocated for them.
      const done = this.format.write(this, offset, from);
      return done && this.#passing(this.lock.run(start, end, () => done));
    }
    const work = aligned ? () => this.format.write(this, offset, from) : () => this.#writeEdges(offset, from);
    return this.#passing(this.lock.run(start, end, work));
  }

  /** A write in flight: closing the gate waits for it. */
  #passing(done: Done): Done {
    if (!done) return undefined;
    this.gate.enter();
    return done.finally(() => this.gate.leave());
  }

  /** Partially written blocks are read first and written whole. */
  async #writeEdges(offset: number, from: Buffer): Promise<void> {
    const start = Math.floor(offset / BLOCK_BYTES) * BLOCK_BYTES;
    const end = Math.ceil((offset + from.length) / BLOCK_BYTES) * BLOCK_BYTES;
    const whole = allocate(end - start);
    try {
      for (const edge of edgesOf(offset, from.length)) {
        await this.format.read(this, edge, whole.subarray(edge - start, edge - start + BLOCK_BYTES));
      }
      from.copy(whole, offset - start);
      await this.format.write(this, start, whole);
    } finally {
      release(whole);
    }
  }

  async #discard(offset: number, length: number): Promise<void> {
    while (!this.gate.isOpen) await this.gate.whenOpen();
    if (this.#successor) return this.#successor.discard(offset, length);
    this.#refuseIfClosed();
    this.gate.enter();
    try {
      const start = Math.ceil(offset / BLOCK_BYTES) * BLOCK_BYTES;
      const end = Math.floor((offset + length) / BLOCK_BYTES) * BLOCK_BYTES;
      if (end > start) await this.#discardBlocks(start, end - start);
      await this.#zeroEdges(offset, length, start, end);
    } finally {
      this.gate.leave();
    }
  }

  async #discardBlocks(offset: number, length: number): Promise<void> {
    // Whole entries: releasing one must not overlap a write to another part of it.
    const { entryBytes } = this.format;
    const start = (Math.floor(offset / entryBytes) * entryBytes) / BLOCK_BYTES;
    const end = (Math.ceil((offset + length) / entryBytes) * entryBytes) / BLOCK_BYTES;
    await this.lock.run(start, end, () => discardBlocks(this.format, this, offset, length));
  }

  async #zeroEdges(offset: number, length: number, start: number, end: number): Promise<void> {
    if (start >= end) {
      await this.#write(offset, Buffer.alloc(length));
      return;
    }
    if (offset < start) await this.#write(offset, Buffer.alloc(start - offset));
    if (end < offset + length) await this.#write(end, Buffer.alloc(offset + length - end));
  }

  #check(offset: number, length: number): void {
    this.#refuseIfClosed();
    if (this.isLocked) {
      throw new StorageError('locked', `Volume ${this.id} is encrypted and its key was not given; unlock it first.`);
    }
    checkRange(offset, length, this.sizeBytes);
  }

  #refuseIfClosed(): void {
    if (this.#closed !== undefined) throw new StorageError('closed', `Volume ${this.id} ${this.#closed}.`);
  }
}
