/**
 * Tells whether several requests come in one stretch, as when a protocol finds many commands in what it received. One
 * that its caller waits for is done soonest on the spot; only where the next is there already does help pay.
 */
export class Burst {
  #inThisStretch = 0;

  /** Counts the request at hand: true from the second on. */
  isOn(): boolean {
    // Whoever waits for an answer goes on in a microtask of its own.
    if (this.#inThisStretch === 0) queueMicrotask(() => (this.#inThisStretch = 0));
    this.#inThisStretch += 1;
    return this.#inThisStretch > 1;
  }
}
