import type { BlockDevice, Done, Pool, Snapshot } from '@granary/storage';

/** A snapshot to read. It stays valid when its volume moves to another pool. */
export class SnapshotHandle implements BlockDevice {
  readonly readOnly = true;
  readonly sizeBytes: number;
  readonly #id: string;
  readonly #pool: () => Pool;
  #opened: { readonly pool: Pool; readonly device: BlockDevice } | undefined;

  constructor({ id, sizeBytes }: Snapshot, pool: () => Pool) {
    this.#id = id;
    this.sizeBytes = sizeBytes;
    this.#pool = pool;
  }

  read(offset: number, into: Buffer): Done {
    return this.#device().read(offset, into);
  }

  write(offset: number, from: Buffer): Done {
    return this.#device().write(offset, from);
  }

  discard(offset: number, length: number): Done {
    return this.#device().discard(offset, length);
  }

  async flush(): Promise<void> {
    // Nothing was written.
  }

  mapped(offset: number, length: number, runsMax?: number): ReturnType<BlockDevice['mapped']> {
    return this.#device().mapped(offset, length, runsMax);
  }

  #device(): BlockDevice {
    const pool = this.#pool();
    if (this.#opened?.pool !== pool) this.#opened = { pool, device: pool.snapshots.open(this.#id) };
    return this.#opened.device;
  }
}
