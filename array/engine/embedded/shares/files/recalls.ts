import { setTimeout as sleep } from 'node:timers/promises';
import { FileError } from '@granary/protocols/nfs';
import type { ArchivedError } from '@granary/storage/filesystem';
import type { OnEngineEvent } from '../../../engine.ts';

/** How long a request waits for the contents before it fails with EAGAIN. */
const WAIT_MS_MAX = 4_000;
/** A recall that has not ended after this time is requested again by the next reader. */
const REPEAT_MS = 60_000;

interface Recall {
  readonly done: PromiseWithResolvers<void>;
  askedAt: number;
}

/** Archived files that clients want to read: requested once, however many wait. */
export class ShareRecalls {
  readonly #onEvent: OnEngineEvent;
  readonly #recalls = new Map<string, Recall>();

  constructor(onEvent: OnEngineEvent) {
    this.#onEvent = onEvent;
  }

  /** Resolves when the contents are there. */
  async wait(volume: string, { inode, generation, archive }: ArchivedError, sizeBytes: number): Promise<void> {
    const key = keyOf(volume, inode, generation);
    const recall = this.#recalls.get(key) ?? newRecall();
    this.#recalls.set(key, recall);
    recall.done.promise.catch(() => undefined);
    if (performance.now() - recall.askedAt > REPEAT_MS) {
      recall.askedAt = performance.now();
      this.#onEvent({ type: 'recall-wanted', volume, inode, generation, sizeBytes, archive });
    }
    const late = new AbortController();
    const time = sleep(WAIT_MS_MAX, 'late', { signal: late.signal, ref: false }).catch(() => undefined);
    try {
      if ((await Promise.race([recall.done.promise, time])) !== 'late') return;
    } finally {
      late.abort();
    }
    throw new FileError('EAGAIN', 'the file is being brought back from its archive');
  }

  /** With a reason it failed. */
  finished(volume: string, inode: number, generation: number, failure?: string): void {
    const key = keyOf(volume, inode, generation);
    const recall = this.#recalls.get(key);
    this.#recalls.delete(key);
    if (failure === undefined) recall?.done.resolve();
    else recall?.done.reject(new FileError('EIO', failure));
  }
}

function newRecall(): Recall {
  return { done: Promise.withResolvers(), askedAt: -Infinity };
}

function keyOf(volume: string, inode: number, generation: number): string {
  return `${volume} ${inode} ${generation}`;
}
