import assert from 'node:assert/strict';
import type { BlockDevice } from '../../block-device.ts';
import { SharedFlush } from '../../drive/shared-flush.ts';
import { Batch } from './batch.ts';
import { type DataCheck, overlapsAny } from './data-checks.ts';
import type { FreedBlocks } from './freed-blocks.ts';
import type { FilesystemJournal, SealedBatch } from './filesystem-journal.ts';

/** Starts a checkpoint between two batches. */
export interface SealingHooks {
  /** Returns a promise to await before the batch can be sealed. */
  prepare(): Promise<void> | undefined;
  sealed(): void;
}

/**
 * Group commit: the records of all concurrent operations form one batch, made durable by one flush. A record that
 * survives must not expose stale contents of its blocks. Large data is therefore flushed before its batch is written.
 * For small data the batch has checksums instead, and one flush covers both: if after a crash the last batch does not
 * match its data, it was not acknowledged and is invalid. Blocks that the last batch checks are not overwritten before
 * another batch is durable, if necessary an empty one.
 *
 * A batch that could not be written is written again, unchanged, before later ones. Its operations were reported as
 * failed, but their changes are in memory.
 */
export class FilesystemCommits {
  readonly #device: BlockDevice;
  readonly #journal: FilesystemJournal;
  readonly #freed: FreedBlocks;
  readonly #writer = new SharedFlush(() => this.#write());
  readonly #hooks: SealingHooks;
  #beginning: Promise<void> | undefined;
  #sealed: SealedBatch | undefined;
  #hasUnflushedData = false;
  /** Of the batch being written, and of the last durable one. */
  #sealedChecks: readonly DataCheck[] = [];
  #lastChecks: readonly DataCheck[] = [];
  /** Receives the records of operations. */
  open = new Batch();

  constructor(device: BlockDevice, journal: FilesystemJournal, freed: FreedBlocks, moment: SealingHooks) {
    this.#device = device;
    this.#journal = journal;
    this.#freed = freed;
    this.#hooks = moment;
  }

  /** Blocks that the last batch checks, written by an earlier mount. */
  protect(checks: readonly DataCheck[]): void {
    this.#lastChecks = checks;
  }

  /** Returns a promise to await first, if any. */
  beforeOverwriting(start: number, count: number): Promise<void> | undefined {
    // The data of a batch that is not sealed yet can be flushed first.
    if (overlapsAny(this.open.checks, start, count)) this.open.namesData = true;
    return this.#isProtected(start, count) ? this.#supersede(start, count) : undefined;
  }

  /** File data was written. */
  dataWritten(): void {
    this.#hasUnflushedData = true;
  }

  /** Resolves when everything changed before the call survives a power cut. */
  commit(): Promise<void> {
    // Deferred by a microtask: operations that end in the same turn join this batch instead of waiting for the next
    // one.
    this.#beginning ??= Promise.resolve().then(() => {
      this.#beginning = undefined;
      return this.#writer.run();
    });
    return this.#beginning;
  }

  async #write(): Promise<void> {
    if (this.#sealed !== undefined) await this.#writeSealed(this.#sealed);
    for (let wait = this.#hooks.prepare(); wait !== undefined; wait = this.#hooks.prepare()) await wait;
    // No other operation runs from here until the content of the commit, and of a checkpoint that begins with it, is
    // fixed.
    const { open } = this;
    if (!open.isEmpty || open.isForced) {
      assert.ok(this.#sealed === undefined, 'a batch is sealed when the one before it is durable');
      this.#sealed = this.#journal.seal(open);
      this.#sealedChecks = open.checks;
      this.open = new Batch();
    }
    this.#hooks.sealed();
    if (this.#sealed !== undefined) await this.#writeSealed(this.#sealed);
    else if (this.#hasUnflushedData) await this.#flush();
  }

  async #writeSealed(sealed: SealedBatch): Promise<void> {
    if (sealed.batch.namesData && this.#hasUnflushedData) await this.#flush();
    await this.#journal.write(sealed);
    await this.#flush();
    this.#sealed = undefined;
    this.#lastChecks = this.#sealedChecks;
    this.#sealedChecks = [];
    this.#freed.add(sealed.batch.retired);
  }

  #isProtected(start: number, count: number): boolean {
    return overlapsAny(this.#lastChecks, start, count) || overlapsAny(this.#sealedChecks, start, count);
  }

  async #supersede(start: number, count: number): Promise<void> {
    while (this.#isProtected(start, count)) {
      this.open.isForced = true;
      await this.commit();
    }
  }

  async #flush(): Promise<void> {
    const hadData = this.#hasUnflushedData;
    this.#hasUnflushedData = false;
    try {
      await this.#device.flush();
    } catch (error) {
      this.#hasUnflushedData ||= hadData;
      throw error;
    }
  }
}
