import type { Store } from '@granary/kernel';
import { nextName } from './repository.ts';

const BLOCK_LENGTH = 16;

/**
 * Identifiers for what is made often: taken from their sequence a few at a time, so that a creation does not pay for a
 * commit of its own. Those that are left when the array stops are never used.
 */
export class Names {
  readonly #store: Store;
  readonly #kind: string;
  readonly #ready: string[] = [];
  #taking: Promise<void> | undefined;

  constructor(store: Store, kind: string) {
    this.#store = store;
    this.#kind = kind;
  }

  async next(): Promise<string> {
    for (;;) {
      const name = this.#ready.shift();
      if (name !== undefined) return name;
      this.#taking ??= this.#take().finally(() => (this.#taking = undefined));
      await this.#taking;
    }
  }

  async #take(): Promise<void> {
    const names = await this.#store.write((tx) => Array.from({ length: BLOCK_LENGTH }, () => nextName(tx, this.#kind)));
    this.#ready.push(...names);
  }
}
