const MINUTE_MS = 60_000;

/** A clock that says when another minute has begun, by one timer for all who listen, and by none when nobody does. */
export class Minutes {
  readonly #every: (action: () => void, ms: number) => () => void;
  readonly #now: () => number;
  readonly #listeners = new Set<() => void>();
  #stop: (() => void) | undefined;

  constructor(every: (action: () => void, ms: number) => () => void, now: () => number = Date.now) {
    this.#every = every;
    this.#now = now;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    this.#stop ??= this.#every(() => {
      for (const one of this.#listeners) one();
    }, MINUTE_MS);
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      this.#stop?.();
      this.#stop = undefined;
    };
  };

  /** The same for a minute. */
  readonly current = (): number => Math.floor(this.#now() / MINUTE_MS);
}
