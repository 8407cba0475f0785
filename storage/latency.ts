/** Upper bounds of the buckets that latencies are counted in, milliseconds. */
export const LATENCY_ENDS_MS: readonly number[] = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 5000];

/** Counts operations by how long they took. */
export class LatencyCounter {
  readonly #counts = new Array<number>(LATENCY_ENDS_MS.length + 1).fill(0);

  add(milliseconds: number): void {
    let index = 0;
    while (index < LATENCY_ENDS_MS.length && milliseconds > (LATENCY_ENDS_MS[index] as number)) index++;
    this.#counts[index] = (this.#counts[index] as number) + 1;
  }

  /** In the order of `LATENCY_ENDS_MS`, each bucket alone; last those that took longer. */
  counts(): number[] {
    return [...this.#counts];
  }
}
