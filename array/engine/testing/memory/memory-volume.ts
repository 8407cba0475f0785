import type { BlockDevice } from '@granary/storage';
import type { ShareFigures, ShareVolume } from '../../embedded/setup.ts';
import { NO_IO } from '../../embedded/reports/totals.ts';
import type { IoTotals, VolumeReport } from '../../report.ts';
import { CHUNK_BYTES, type ChunkAccount, MemoryBytes } from './memory-bytes.ts';

export interface MemoryPool extends ChunkAccount {
  readonly id: string;
  capacityBytes: number;
}

/** A volume of the memory engine, with its snapshots in the order they were taken. */
export class MemoryVolume implements ShareVolume {
  readonly id: string;
  readonly readOnly = false;
  readonly isLocked = false;
  readonly snapshots = new Map<string, MemoryBytes>();
  /** Snapshots from before it was last reverted. */
  readonly leftBehind = new Set<string>();
  pool: MemoryPool;
  bytes: MemoryBytes;
  /** In which version of the report it last changed. */
  changedIn = 0;
  #io: IoTotals = NO_IO;
  #figures: ShareFigures | undefined;
  #held: PromiseWithResolvers<void> | undefined;
  #holdEnds: NodeJS.Timeout | undefined;
  readonly #onChange: (volume: MemoryVolume) => void;

  constructor(id: string, pool: MemoryPool, bytes: MemoryBytes, onChange: (volume: MemoryVolume) => void) {
    this.id = id;
    this.pool = pool;
    this.bytes = bytes;
    this.#onChange = onChange;
  }

  get sizeBytes(): number {
    return this.bytes.sizeBytes;
  }

  get isHeld(): boolean {
    return this.#held !== undefined;
  }

  get figures(): ShareFigures | undefined {
    return this.#figures;
  }

  set figures(figures: ShareFigures | undefined) {
    this.#figures = figures;
    this.changed();
  }

  changed(): void {
    this.#onChange(this);
  }

  counted(): void {
    this.changed();
  }

  read(offset: number, into: Buffer): undefined {
    this.#count('reads', into.length);
    this.bytes.read(offset, into);
  }

  write(offset: number, from: Buffer): Promise<void> | undefined {
    this.#count('writes', from.length);
    if (!this.#held) {
      this.bytes.write(offset, from);
      return;
    }
    return this.#held.promise.then(() => this.bytes.write(offset, from));
  }

  discard(offset: number, length: number): Promise<void> | undefined {
    this.changed();
    if (!this.#held) {
      this.bytes.discard(offset, length);
      return;
    }
    return this.#held.promise.then(() => this.bytes.discard(offset, length));
  }

  flush(): Promise<void> {
    return this.bytes.flush();
  }

  mapped(offset: number, length: number): ReturnType<BlockDevice['mapped']> {
    return this.bytes.mapped(offset, length);
  }

  /** It keeps its size. */
  revert(to: MemoryBytes): void {
    const { sizeBytes } = this;
    this.bytes.clear();
    this.bytes = to.copy();
    this.bytes.sizeBytes = sizeBytes;
    for (const snapshot of this.snapshots.keys()) this.leftBehind.add(snapshot);
    this.changed();
  }

  hold(forMs: number): void {
    clearTimeout(this.#holdEnds);
    this.#held ??= Promise.withResolvers();
    this.#holdEnds = setTimeout(() => this.release(), forMs).unref();
  }

  release(): void {
    clearTimeout(this.#holdEnds);
    this.#held?.resolve();
    this.#held = undefined;
  }

  report(): VolumeReport {
    const last = [...this.snapshots.values()].at(-1);
    const ownBytes = last ? [...this.bytes.differing(last)].length * CHUNK_BYTES : this.bytes.usedBytes;
    return {
      id: this.id,
      pool: this.pool.id,
      sizeBytes: this.sizeBytes,
      ownBytes,
      snapshotBytes: last?.usedBytes ?? 0,
      sharedBytes: 0,
      isLocked: false,
      io: this.#figures?.io ?? this.#io,
      sizes: null,
      share: this.#figures?.share ?? null,
    };
  }

  #count(kind: 'reads' | 'writes', bytes: number): void {
    const before = this.#io[kind];
    this.#io = { ...this.#io, [kind]: { ...before, count: before.count + 1, bytes: before.bytes + bytes } };
    this.changed();
  }
}
