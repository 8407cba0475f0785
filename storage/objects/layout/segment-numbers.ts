/** How many are set aside at once: one durable write serves that many segments. */
const AT_ONCE = 64;

interface Range {
  next: number;
  end: number;
}

/**
 * Gives each segment of a drive a number that was never given before. Numbers are set aside durably in ranges; what is
 * left of a range when the process ends is never used. So segments of a number given here belong to this process.
 */
export class SegmentNumbers {
  readonly #allocate: (drive: number, count: number) => Promise<number>;
  readonly #ranges = new Map<number, Range>();
  readonly #refills = new Map<number, Promise<void>>();
  readonly #given = new Map<number, Set<number>>();

  constructor(take: (drive: number, count: number) => Promise<number>) {
    this.#allocate = take;
  }

  async next(drive: number): Promise<number> {
    for (;;) {
      const range = this.#ranges.get(drive);
      if (range && range.next < range.end) {
        const segment = range.next;
        range.next += 1;
        this.#givenOf(drive).add(segment);
        return segment;
      }
      await this.#refill(drive);
    }
  }

  /** Whether this process gave the number, so that one of its threads may be writing there. */
  wasGiven(drive: number, segment: number): boolean {
    return this.#given.get(drive)?.has(segment) ?? false;
  }

  /** Nothing will be written there any more. */
  drop(drive: number, segment: number): void {
    this.#given.get(drive)?.delete(segment);
  }

  #refill(drive: number): Promise<void> {
    const under = this.#refills.get(drive);
    if (under) return under;
    const refill = this.#allocate(drive, AT_ONCE)
      .then((first) => {
        this.#ranges.set(drive, { next: first, end: first + AT_ONCE });
      })
      .finally(() => this.#refills.delete(drive));
    this.#refills.set(drive, refill);
    return refill;
  }

  #givenOf(drive: number): Set<number> {
    let given = this.#given.get(drive);
    if (!given) {
      given = new Set();
      this.#given.set(drive, given);
    }
    return given;
  }
}
