import assert from 'node:assert/strict';
import type { BlockDevice } from '../../block-device.ts';
import { SharedFlush } from '../../drive/shared-flush.ts';
import { Batch } from './batch.ts';
import { type DataCheck, overlapsAny } from './data-checks.ts';
import type { FreedBlocks } from './freed-blocks.ts';
import type { FilesystemJournal, SealedBatch } from './filesystem-journal.ts';

/** Lets a checkpoint begin between two batches. */
export interface SealingHooks {
  /** Returns what has to be waited for before the batch can be sealed. */
  prepare(): Promise<void> | undefined;
  sealed(): void;
}

/**
 * Group commit: the records of all operations that wait at the moment are one batch, made durable by one flush. A record
 * that survives must not show blocks with whatever was in them earlier. So large data that records name are flushed before
 * the batch is written. Of small ones it has the checksums instead, and one flush does for both: if after a crash the
 * last batch does not find its data, it was not acknowledged and does not count. Blocks that the last batch checks are
 * therefore not overwritten before another batch is durable, if need be an empty one.
 *
 * A batch that could not be written is written again, as it is, before anything that came later. Its operations were told
 * of the failure, but what they changed is there.
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
  /** Of the batch that is being written, and of the last durable one. */
  #sealedChecks: readonly DataCheck[] = [];
  #lastChecks: readonly DataCheck[] = [];
  /** Takes the records of operations. */
  open = new Batch();

  constructor(device: BlockDevice, journal: FilesystemJournal, freed: FreedBlocks, moment: SealingHooks) {
    this.#device = device;
    this.#journal = journal;
    this.#freed = freed;
    this.#hooks = moment;
  }

  /** Blocks that the last batch checks, which an earlier mount wrote. */
  protect(checks: readonly DataCheck[]): void {
    this.#lastChecks = checks;
  }

  /** Returns what to wait for. */
  beforeOverwriting(start: number, count: number): Promise<void> | undefined {
    // A batch that is not sealed yet can have its data flushed first.
    if (overlapsAny(this.open.checks, start, count)) this.open.namesData = true;
    return this.#isProtected(start, count) ? this.#supersede(start, count) : undefined;
  }

  /** File data were written. */
  dataWritten(): void {
    this.#hasUnflushedData = true;
  }

  /** Resolves when everything changed before the call survives a power cut. */
  commit(): Promise<void> {
    // A moment later: operations that end in the same breath are part of it, instead of waiting for the first to be done.
    this.#beginning ??= Promise.resolve().then(() => {
      this.#beginning = undefined;
      return this.#writer.run();
    });
    return this.#beginning;
  }

  async #write(): Promise<void> {
    if (this.#sealed !== undefined) await this.#writeSealed(this.#sealed);
    for (let wait = this.#hooks.prepare(); wait !== undefined; wait = this.#hooks.prepare()) await wait;
    // From here on nothing else runs until the content of the commit, and of a checkpoint that begins with it, is fixed.
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
