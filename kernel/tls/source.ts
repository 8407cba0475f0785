import type { ServerTls } from './policy.ts';

/** The certificate a server shows at the moment. Servers subscribe: a new one is shown from the next connection on. */
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

  /** Returns what ends the subscription. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
