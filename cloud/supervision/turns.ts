/** Lets a few pass at a time; the others wait in the order they came. */
export class Turns {
  readonly #max: number;
  readonly #waiting: (() => void)[] = [];
  #acquired = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** How many wait for a turn. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Resolves with what gives the turn back, or with undefined when it is no longer wanted. */
  async acquire(halt: AbortSignal): Promise<(() => void) | undefined> {
    if (halt.aborted) return undefined;
    if (this.#acquired < this.#max) this.#acquired += 1;
    else if (!(await this.#wait(halt))) return undefined;
    let isHeld = true;
    return () => {
      if (isHeld) this.#handOn();
      isHeld = false;
    };
  }

  #wait(halt: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(pass), 1);
        resolve(false);
      };
      const pass = () => {
        halt.removeEventListener('abort', leave);
        resolve(true);
      };
      halt.addEventListener('abort', leave, { once: true });
      this.#waiting.push(pass);
    });
  }

  /** The turn is handed on, so that no other caller gets in between. */
  #handOn(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#acquired -= 1;
  }
}
