/** Comparison of numbers that wrap around (RFC 1982): positive when `one` comes after `other`. */
export function distance(one: number, other: number): number {
  return (one - other) | 0;
}

/** Which commands a session takes: CmdSN of the next one, and up to which CmdSN the initiator may send. */
export class CommandWindow {
  #expected: number;
  #maximum: number;

  constructor(first: number, depth: number) {
    this.#expected = first >>> 0;
    this.#maximum = (first + depth - 1) >>> 0;
  }

  get expected(): number {
    return this.#expected;
  }

  get maximum(): number {
    return this.#maximum;
  }

  /** `early` commands wait for those before them; what is `outside` the window is ignored. */
  place(commandNumber: number): 'next' | 'early' | 'outside' {
    if (commandNumber === this.#expected) {
      return distance(commandNumber, this.#maximum) > 0 ? 'outside' : 'next';
    }
    const after = distance(commandNumber, this.#expected) > 0;
    return after && distance(commandNumber, this.#maximum) <= 0 ? 'early' : 'outside';
  }

  received(): void {
    this.#expected = (this.#expected + 1) >>> 0;
  }

  /** A command has ended: there is room for one more. */
  ended(): void {
    this.#maximum = (this.#maximum + 1) >>> 0;
  }
}
