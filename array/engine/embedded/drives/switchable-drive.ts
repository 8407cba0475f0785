import {
  type Done,
  type Drive,
  type DriveStatistics,
  type LargeRequests,
  type OperationStatistics,
  StorageError,
} from '@granary/storage';

const SILENT = 'does not answer; bring it back or replace it';

/**
 * A drive whose cable can be pulled and put back, and behind which another opening of its file can be put: groups hold
 * it for good. While it is plugged in it costs one look at a field.
 */
export class SwitchableDrive implements Drive {
  readonly id: string;
  #current: Drive | undefined;
  #inner: Drive | undefined;
  #sizeBytes: number;
  #before: DriveStatistics = nothing;
  #reason = SILENT;
  /** Pending requests, rejected when the cable is pulled: the drive may never answer. */
  readonly #waiting = new Set<() => void>();

  constructor(id: string, sizeBytes: number) {
    this.id = id;
    this.#sizeBytes = sizeBytes;
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  get isPlugged(): boolean {
    return this.#current !== undefined;
  }

  async plug(inner: Drive): Promise<void> {
    await this.shut();
    this.#inner = inner;
    this.#current = inner;
    this.#sizeBytes = inner.sizeBytes;
  }

  /** As if its cable were pulled. Requests are rejected with the reason. */
  unplug(reason = SILENT): void {
    this.#current = undefined;
    this.#reason = reason;
    for (const reject of this.#waiting) reject();
  }

  /** What it did stays counted. */
  async shut(): Promise<void> {
    const inner = this.#inner;
    this.unplug(this.#current ? SILENT : this.#reason);
    this.#inner = undefined;
    if (!inner) return;
    this.#before = sum(this.#before, inner.statistics());
    await inner.close();
  }

  read(offset: number, into: Buffer): Done {
    return (this.#current ?? this.#refuse()).read(offset, into);
  }

  get large(): LargeRequests | undefined {
    return this.#current?.large;
  }

  write(offset: number, from: Buffer): Done {
    return (this.#current ?? this.#refuse()).write(offset, from);
  }

  flush(): Promise<void> {
    return this.#unlessPulled((current) => current.flush());
  }

  writeDurably(offset: number, from: Buffer): Promise<void> {
    return this.#unlessPulled((current) => current.writeDurably(offset, from));
  }

  async discard(offset: number, length: number): Promise<void> {
    await (this.#current ?? this.#refuse()).discard(offset, length);
  }

  statistics(): DriveStatistics {
    return this.#inner ? sum(this.#before, this.#inner.statistics()) : this.#before;
  }

  /** Groups close their drives; these outlive them. */
  close(): Promise<void> {
    return Promise.resolve();
  }

  /** What was pulled meanwhile may not have everything. */
  async #unlessPulled(work: (current: Drive) => Promise<void>): Promise<void> {
    const current = this.#current ?? this.#refuse();
    const pulled: PromiseWithResolvers<void> = Promise.withResolvers();
    this.#waiting.add(pulled.resolve);
    try {
      await Promise.race([work(current), pulled.promise]);
    } finally {
      this.#waiting.delete(pulled.resolve);
    }
    if (this.#current !== current) this.#refuse();
  }

  #refuse(): never {
    throw new StorageError('drive-failed', `Drive ${this.id} ${this.#reason}.`);
  }
}

const none: OperationStatistics = { count: 0, bytes: 0, errors: 0, microseconds: 0, microsecondsMax: 0 };
const nothing: DriveStatistics = { reads: none, writes: none, flushes: none, discards: none };

function sum(one: DriveStatistics, other: DriveStatistics): DriveStatistics {
  return {
    reads: add(one.reads, other.reads),
    writes: add(one.writes, other.writes),
    flushes: add(one.flushes, other.flushes),
    discards: add(one.discards, other.discards),
  };
}

function add(one: OperationStatistics, other: OperationStatistics): OperationStatistics {
  return {
    count: one.count + other.count,
    bytes: one.bytes + other.bytes,
    errors: one.errors + other.errors,
    microseconds: one.microseconds + other.microseconds,
    microsecondsMax: Math.max(one.microsecondsMax, other.microsecondsMax),
  };
}
