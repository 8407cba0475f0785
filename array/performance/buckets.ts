/** How many numbers a bucket holds. Their meaning is the caller's. */
export const COLUMNS = 6;
const WIDTH = COLUMNS + 1;
const FIRST_LENGTH = 4;

/** Sums of equal stretches of time, in the order of time. Those in which nothing happened take no room. */
export class TimeBuckets {
  /** How long a bucket is. */
  readonly seconds: number;
  readonly #keep: number;
  /** Rows of a bucket's number and its sums; those before `#first` are gone. */
  #rows = new Float64Array(FIRST_LENGTH * WIDTH);
  #first = 0;
  #end = 0;

  constructor(seconds: number, keep: number) {
    this.seconds = seconds;
    this.#keep = keep;
  }

  get isEmpty(): boolean {
    return this.#first === this.#end;
  }

  /** The first second of the oldest bucket that would still be kept. */
  keptSince(now: number): number {
    return (Math.floor(now / this.seconds) - this.#keep + 1) * this.seconds;
  }

  /** Adds a fraction of some sums to the bucket of a second. A time before the last bucket counts to the last bucket. */
  add(second: number, sums: ArrayLike<number>, part: number): void {
    const row = this.#rowOf(Math.floor(second / this.seconds));
    for (let column = 0; column < COLUMNS; column++) {
      const at = row * WIDTH + 1 + column;
      this.#rows[at] = (this.#rows[at] ?? 0) + (sums[column] ?? 0) * part;
    }
  }

  /** Adds to `into` what happened from one moment to another; a bucket that is partly inside counts for that part. */
  sum(from: number, to: number, into: Float64Array): void {
    for (let row = this.#first; row < this.#end; row++) {
      const begin = (this.#rows[row * WIDTH] ?? 0) * this.seconds;
      const part = (Math.min(to, begin + this.seconds) - Math.max(from, begin)) / this.seconds;
      if (part <= 0) continue;
      for (let column = 0; column < COLUMNS; column++)
        into[column] = (into[column] ?? 0) + (this.#rows[row * WIDTH + 1 + column] ?? 0) * part;
    }
  }

  /** The buckets from a number on. */
  *since(bucket: number): Iterable<{ readonly bucket: number; readonly sums: Float64Array }> {
    for (let row = this.#first; row < this.#end; row++) {
      const number = this.#rows[row * WIDTH] ?? 0;
      if (number >= bucket) yield { bucket: number, sums: this.#rows.slice(row * WIDTH + 1, (row + 1) * WIDTH) };
    }
  }

  /** Lets go of what is too old. */
  prune(now: number): void {
    const oldest = this.keptSince(now) / this.seconds;
    while (this.#first < this.#end && (this.#rows[this.#first * WIDTH] ?? 0) < oldest) this.#first += 1;
  }

  #rowOf(bucket: number): number {
    const last = this.#end - 1;
    if (!this.isEmpty && bucket <= (this.#rows[last * WIDTH] ?? 0)) return last;
    this.prune(bucket * this.seconds);
    this.#makeRoom();
    this.#rows[this.#end * WIDTH] = bucket;
    this.#end += 1;
    return this.#end - 1;
  }

  #makeRoom(): void {
    if ((this.#end + 1) * WIDTH <= this.#rows.length) return;
    const kept = this.#rows.subarray(this.#first * WIDTH, this.#end * WIDTH);
    const rows = new Float64Array(Math.max(FIRST_LENGTH * WIDTH, kept.length * 2));
    rows.set(kept);
    this.#rows = rows;
    this.#end -= this.#first;
    this.#first = 0;
  }
}
