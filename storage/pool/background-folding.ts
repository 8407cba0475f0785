import { isNoSpace, StorageError } from '../errors.ts';
import type { Layer } from '../volume/layers.ts';

const RETRY_MS = 5000;

/**
 * Background work that changes maps, serialized: two at once could move the same extent. Unreferenced layers are folded
 * here.
 */
export class BackgroundFolding {
  readonly #fold: (layer: Layer) => Promise<Layer[]>;
  readonly #onError: (error: unknown) => void;
  readonly #due = new Set<Layer>();
  /** Layers that could not be folded on a full disk, or not be converted in a full pool. */
  readonly #unfolded = new Set<Layer>();
  #last: Promise<unknown> = Promise.resolve();
  #isFolding = false;
  #closed = false;
  #retry: NodeJS.Timeout | undefined;

  constructor(fold: (layer: Layer) => Promise<Layer[]>, onError: (error: unknown) => void) {
    this.#fold = fold;
    this.#onError = onError;
  }

  /** Runs `work` while no other background work changes maps. */
  exclusively<T>(work: () => Promise<T>): Promise<T> {
    return this.#inTurn(() => {
      if (this.#closed) throw new StorageError('closed', 'The pool is closed.');
      return work();
    });
  }

  /** Schedules the layer for folding if nothing refers to it. */
  foldIfUnreferenced(layer: Layer | undefined): void {
    if (layer?.isUnreferenced !== true || this.#closed) return;
    this.#due.add(layer);
    if (this.#isFolding) return;
    this.#isFolding = true;
    void this.#foldDue().finally(() => (this.#isFolding = false));
  }

  /** Resolves when no work is left. */
  async whenIdle(): Promise<void> {
    while (this.#isFolding) await this.#last.then(() => undefined);
    await this.#last;
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  /** Stops after the current step; the rest is found again when the pool is opened. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#retry);
    this.#due.clear();
    await this.#last;
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  /** There is no space: tries again later. */
  #retryLater(layer: Layer): void {
    if (this.#closed) return;
    this.#unfolded.add(layer);
    this.#retry ??= setTimeout(() => {
      this.#retry = undefined;
      const again = [...this.#unfolded];
      this.#unfolded.clear();
      for (const each of again) this.foldIfUnreferenced(each);
    }, RETRY_MS).unref();
  }

  async #foldDue(): Promise<void> {
    for (let [layer] = this.#due; layer && !this.#closed; [layer] = this.#due) {
      const current = layer;
      this.#due.delete(current);
      try {
        // A pool closed meanwhile is no error: its layers are folded when it is opened again.
        const next = await this.#inTurn(async () =>
          current.isUnreferenced && !this.#closed ? this.#fold(current) : [],
        );
        for (const candidate of next) if (candidate.isUnreferenced) this.#due.add(candidate);
      } catch (error) {
        // The others can still be folded; this one is found again when the pool is opened.
        // Who watches the pool knows when it is full.
        const isFull = error instanceof StorageError && error.code === 'pool-full';
        if (!isFull) this.#onError(error);
        if (isFull || isNoSpace(error)) this.#retryLater(current);
      }
    }
  }
}
