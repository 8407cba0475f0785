const TICK_MS = 5_000;
const TICKS_MAX = 12;

/** A wait for a client's bytes. */
export interface Waiting {
  /** When there was last a sign of life. */
  tick: number;
  readonly giveUp: () => void;
}

/**
 * Gives up on clients that send nothing for a minute. One timer for all of them: one for each would cost more than a small
 * body does.
 */
class IdleWatch {
  readonly #waiting = new Set<Waiting>();
  #timer: NodeJS.Timeout | undefined;
  #tick = 0;

  begin(giveUp: () => void): Waiting {
    const waiting = { tick: this.#tick, giveUp };
    this.#waiting.add(waiting);
    this.#timer ??= setInterval(() => this.#check(), TICK_MS).unref();
    return waiting;
  }

  /** Something came. */
  refresh(waiting: Waiting): void {
    waiting.tick = this.#tick;
  }

  end(waiting: Waiting): void {
    this.#waiting.delete(waiting);
  }

  #check(): void {
    this.#tick += 1;
    for (const waiting of this.#waiting) if (this.#tick - waiting.tick > TICKS_MAX) waiting.giveUp();
    if (this.#waiting.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

export const idleWatch = new IdleWatch();
