interface Range {
  readonly start: number;
  readonly end: number;
  readonly exclusive: boolean;
}

interface Waiter {
  readonly range: Range;
  readonly go: () => void;
}

/** Like everything that touches storage: `undefined` when it is done already. */
type Eventual = Promise<unknown> | undefined;

/**
 * Keeps commands that must not be interleaved with others apart, block by block. Commands that are done at once never
 * wait for anything but an exclusive one under way, and leave no trace here: one thread runs one of them at a time.
 */
export class CommandLock {
  readonly #held = new Set<Range>();
  #waiting: Waiter[] = [];
  /** Held or waited for. */
  #exclusives = 0;

  /** Runs `action` when nothing stands in its way: at once, or later in the order of asking. */
  run<R extends Eventual>(start: number, end: number, exclusive: boolean, action: () => R): R | Promise<Awaited<R>> {
    // The common case costs one comparison and no memory but what an action that takes time needs anyway.
    if (!exclusive && this.#exclusives === 0) return this.#runNow({ start, end, exclusive }, action);
    const range: Range = { start, end, exclusive };
    if (!this.#isBlocked(range, this.#waiting)) return this.#runNow(range, action);
    if (exclusive) this.#exclusives++;
    return this.#runLater(range, action);
  }

  #runNow<R extends Eventual>(range: Range, action: () => R): R {
    const result = action();
    if (result === undefined) return result;
    this.#held.add(range);
    if (range.exclusive) this.#exclusives++;
    return result.finally(() => this.#leave(range)) as R;
  }

  async #runLater<R extends Eventual>(range: Range, action: () => R): Promise<Awaited<R>> {
    await new Promise<void>((resolve) => this.#waiting.push({ range, go: resolve }));
    try {
      return await action();
    } finally {
      this.#leave(range);
    }
  }

  #leave(range: Range): void {
    this.#held.delete(range);
    if (range.exclusive) this.#exclusives--;
    if (this.#waiting.length === 0) return;
    const still: Waiter[] = [];
    for (const waiter of this.#waiting) {
      if (this.#isBlocked(waiter.range, still)) {
        still.push(waiter);
        continue;
      }
      // Held from here on, though the action runs a little later: no other command gets in between.
      this.#held.add(waiter.range);
      waiter.go();
    }
    this.#waiting = still;
  }

  #isBlocked(range: Range, before: readonly Waiter[]): boolean {
    for (const held of this.#held) if (conflicts(range, held)) return true;
    return before.some((waiter) => conflicts(range, waiter.range));
  }
}

function conflicts(one: Range, other: Range): boolean {
  return (one.exclusive || other.exclusive) && one.start < other.end && other.start < one.end;
}
