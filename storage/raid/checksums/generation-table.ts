import { RegionGenerations } from './generations.ts';

/** The generations that a flush makes durable when it succeeds. */
type FlushedGenerations = readonly {
  readonly of: RegionGenerations;
  readonly latest: Uint32Array;
  readonly durable: Uint32Array;
}[];

/** The generations of regions with checksum pages in memory, or with changes that are not durable. */
export class GenerationTable {
  readonly #isLoading: (region: number) => boolean;
  readonly #regions = new Map<number, RegionGenerations>();
  readonly #undurable = new Set<RegionGenerations>();

  /** Generations of a region that is being loaded are kept. */
  constructor(isLoading: (region: number) => boolean) {
    this.#isLoading = isLoading;
  }

  /** The generations in memory, or new ones that start from what the drives record. */
  of(region: number, latest: Uint32Array): RegionGenerations {
    const known = this.#regions.get(region);
    if (known !== undefined) return known;
    const generations = new RegionGenerations(region, latest, this.#undurable);
    this.#regions.set(region, generations);
    return generations;
  }

  /** The generations that a flush starting now makes durable. */
  beginFlush(): FlushedGenerations {
    return [...this.#undurable].map((generations) => {
      return { of: generations, latest: generations.latest.slice(), durable: generations.durable.slice() };
    });
  }

  /** The flush succeeded on all members. Returns the regions whose checksums it made durable. */
  endFlush(flushed: FlushedGenerations): number[] {
    for (const then of flushed) {
      then.of.markDurable(then);
      this.#dropUnused(then.of);
    }
    return flushed.map(({ of }) => of.region);
  }

  /** A page of the region was evicted. */
  pageEvicted(generations: RegionGenerations): void {
    generations.pageCount -= 1;
    this.#dropUnused(generations);
  }

  clear(): void {
    this.#regions.clear();
    this.#undurable.clear();
  }

  #dropUnused(generations: RegionGenerations): void {
    if (generations.pageCount > 0 || !generations.isDurable) return;
    if (this.#regions.get(generations.region) === generations && !this.#isLoading(generations.region)) {
      this.#regions.delete(generations.region);
    }
  }
}
