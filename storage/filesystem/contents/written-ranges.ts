/** The written byte ranges of a recall, in order, joined where they touch. */
export class WrittenRanges {
  #ranges: { from: number; until: number }[] = [];

  add(from: number, until: number): void {
    const joined = { from, until };
    const apart = this.#ranges.filter((range) => {
      if (range.until < from || range.from > until) return true;
      joined.from = Math.min(joined.from, range.from);
      joined.until = Math.max(joined.until, range.until);
      return false;
    });
    this.#ranges = [...apart, joined];
  }

  covers(until: number): boolean {
    return until === 0 || this.#ranges.some((range) => range.from === 0 && range.until >= until);
  }
}
