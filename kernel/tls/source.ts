import type { ServerTls } from './policy.ts';

/** The current certificate of a server. Servers subscribe: a new one is used from the next connection on. */
export class TlsSource {
  #current: ServerTls;
  readonly #listeners = new Set<() => void>();

  constructor(current: ServerTls) {
    this.#current = current;
  }

  get current(): ServerTls {
    return this.#current;
  }

  replace(next: ServerTls): void {
    if (next.cert === this.#current.cert && next.key === this.#current.key) return;
    this.#current = next;
    for (const listener of this.#listeners) listener();
  }

  /** Returns a function that ends the subscription. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
