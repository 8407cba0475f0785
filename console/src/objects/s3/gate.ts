/** Lets a number of pieces of work go on at a time; the others wait in turn. */
export class Gate {
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(places: number) {
    this.#free = places;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      // The place goes to the next in turn, and to nobody who comes meanwhile.
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free += 1;
    }
  }
}
