import type { Store } from '@granary/kernel';
import type { Name } from './name.ts';
import { nextNames } from './repository.ts';

const BLOCK_LENGTH = 64;
/** At this many left, more are reserved before a caller has to wait. */
const LOW = 32;

/**
 * Identifiers for what is made often: taken from their sequence a few at a time, so that a creation does not pay for a
 * commit of its own. Those that are left when the array stops are never used.
 */
export class ReservedNames<Kind extends string> {
  readonly #store: Store;
  readonly #kind: Kind;
  readonly #ready: Name<Kind>[] = [];
  #taking: Promise<void> | undefined;

  constructor(store: Store, kind: Kind) {
    this.#store = store;
    this.#kind = kind;
  }

  async next(): Promise<Name<Kind>> {
    for (;;) {
      const name = this.#ready.shift();
      const more = this.#ready.length < LOW ? this.#more() : undefined;
      if (name !== undefined) return name;
      await more;
    }
  }

  #more(): Promise<void> {
    if (this.#taking === undefined) {
      this.#taking = this.#reserve().finally(() => (this.#taking = undefined));
      // Callers that wait get the error. Without any, the next caller tries again.
      this.#taking.catch(() => undefined);
    }
    return this.#taking;
  }

  async #reserve(): Promise<void> {
    const names = await this.#store.write((tx) => nextNames(tx, this.#kind, BLOCK_LENGTH));
    this.#ready.push(...names);
  }
}
