/** Finds the item with the highest count. Every operation takes constant time: counts change by one. */
export class Ranking<T> {
  readonly #counts = new Map<T, number>();
  /** Items by their count. */
  readonly #levels: Set<T>[] = [];
  #top = 0;

  get top(): T | undefined {
    return this.#levels[this.#top]?.values().next().value;
  }

  increment(item: T): void {
    const count = this.#counts.get(item) ?? 0;
    this.#move(item, count, count + 1);
    this.#top = Math.max(this.#top, count + 1);
  }

  decrement(item: T): void {
    const count = this.#counts.get(item) ?? 0;
    if (count === 0) return;
    this.#move(item, count, count - 1);
    if (this.#levels[this.#top]?.size === 0) this.#top = count - 1;
  }

  #move(item: T, from: number, to: number): void {
    this.#levels[from]?.delete(item);
    if (to === 0) {
      this.#counts.delete(item);
      return;
    }
    this.#counts.set(item, to);
    (this.#levels[to] ??= new Set()).add(item);
  }
}
