const LEFT_ALONE = 32;

/**
 * Tells whether others come while a request is under way. If so, another thread does it as a whole; where one is asked
 * for after the other, it would only wait for that thread to wake up.
 */
export class Sharing {
  #asked = 0;
  #leftAlone = 0;

  count(): void {
    this.#asked += 1;
    if (this.#leftAlone > 0) this.#leftAlone -= 1;
  }

  get doOthersCome(): boolean {
    return this.#leftAlone === 0;
  }

  /** Looks whether others come while this one is under way. */
  async watch(work: Promise<void>): Promise<void> {
    const asked = this.#asked;
    await work;
    if (this.#asked === asked) this.#leftAlone = LEFT_ALONE;
  }
}
