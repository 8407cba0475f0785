/**
 * Generations of checksum pages count flushes of a region. They have 32 bits and wrap around; two that are compared are
 * never far apart. 0 is the generation of a page that was never written.
 */
export function nextGeneration(generation: number): number {
  const next = (generation + 1) >>> 0;
  return next === 0 ? 1 : next;
}

/** The distance from `generation` to `latest`; 0 or less when it is not behind. */
export function stepsBehind(generation: number, latest: number): number {
  if (generation === latest) return 0;
  if (generation === 0) return latest === 1 ? 1 : Infinity;
  if (latest === 0) return -1;
  const steps = (latest - generation) | 0;
  // Generation 0 is skipped at the wrap-around.
  return steps > 0 && latest < generation ? steps - 1 : steps;
}

export function laterOf(one: number, other: number): number {
  return stepsBehind(one, other) > 0 ? other : one;
}

/**
 * The generations of the pages of one region, one for each slot. A generation is used for all writes until a flush made
 * it durable on every member, so after a crash no page is more than one step behind.
 */
export class RegionGenerations {
  readonly region: number;
  readonly latest: Uint32Array;
  readonly durable: Uint32Array;
  /** Pages of the region in memory. */
  pageCount = 0;
  readonly #undurable: Set<RegionGenerations>;

  /** Adds itself to `undurable` while `latest` is not durable. */
  constructor(region: number, latest: Uint32Array, unsettled: Set<RegionGenerations>) {
    this.region = region;
    this.latest = latest;
    this.durable = latest.slice();
    this.#undurable = unsettled;
  }

  /** To be called before a page of the slot changes: writes from now on belong to a new generation. */
  advance(slot: number): void {
    if (this.latest[slot] !== this.durable[slot]) return;
    this.latest[slot] = nextGeneration(this.latest[slot] as number);
    this.#undurable.add(this);
  }

  /** Part of the slot's page has an older generation: the next writes still belong to the latest. */
  fallBehind(slot: number): void {
    // Any other value will do: `durable` is only compared with `latest`.
    this.durable[slot] = ~(this.latest[slot] as number);
    this.#undurable.add(this);
  }

  isSlotDurable(slot: number): boolean {
    return this.latest[slot] === this.durable[slot];
  }

  /** `then.latest` is durable on all members, except in slots that fell behind since. */
  markDurable(then: { readonly latest: Uint32Array; readonly durable: Uint32Array }): void {
    let isDurable = true;
    for (let slot = 0; slot < this.latest.length; slot += 1) {
      if (this.durable[slot] === then.durable[slot]) this.durable[slot] = then.latest[slot] as number;
      isDurable &&= this.isSlotDurable(slot);
    }
    if (isDurable) this.#undurable.delete(this);
  }

  get isDurable(): boolean {
    return !this.#undurable.has(this);
  }
}
