import { setTimeout as sleep } from 'node:timers/promises';
import type { IscsiServer, Portal } from '@granary/protocols/iscsi';

const BIND_MS_MAX = 5_000;
const BIND_RETRY_MS = 50;
const RETRY_MS = 10_000;

/** Where servers reach an array: its own address first, then those this machine happens to carry. */
export type Portals = readonly [Portal, ...Portal[]];

interface OpenPortalsOptions {
  readonly server: IscsiServer;
  readonly onProblem: (problem: string, error: unknown) => void;
}

/**
 * The portals that are open, brought in line with those that are wanted. The array's own is tried until it opens: a
 * port that another program holds for now must not keep the array down.
 */
export class OpenPortals {
  readonly #server: IscsiServer;
  readonly #onProblem: OpenPortalsOptions['onProblem'];
  readonly #open = new Map<string, Portal>();
  #retry: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor({ server, onProblem }: OpenPortalsOptions) {
    this.#server = server;
    this.#onProblem = onProblem;
  }

  async follow([own, ...others]: Portals): Promise<void> {
    clearTimeout(this.#retry);
    const wanted = new Set([own, ...others].map(keyOf));
    for (const [key, bound] of this.#open) {
      if (wanted.has(key)) continue;
      this.#open.delete(key);
      this.#server.stopListening(bound);
    }
    await this.#keepTrying(own, BIND_MS_MAX);
    for (const portal of others) await this.#listen(portal, 0);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#retry);
  }

  async #keepTrying(portal: Portal, forMs: number): Promise<void> {
    if ((await this.#listen(portal, forMs)) || this.#isClosed) return;
    this.#retry = setTimeout(() => void this.#keepTrying(portal, 0), RETRY_MS);
  }

  /** The controller that served before may still be on its way out: its address is tried again for a while. */
  async #listen(portal: Portal, forMs: number): Promise<boolean> {
    const until = performance.now() + forMs;
    while (!this.#open.has(keyOf(portal)) && !this.#isClosed) {
      try {
        this.#opened(keyOf(portal), await this.#server.listen(portal));
      } catch (error) {
        const isTaken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
        if (!isTaken || performance.now() >= until) {
          this.#onProblem(`iSCSI cannot be served at ${portal.host}:${portal.port}`, error);
          return false;
        }
        await sleep(BIND_RETRY_MS);
      }
    }
    return true;
  }

  #opened(key: string, bound: Portal): void {
    this.#open.set(key, bound);
    if (this.#isClosed) this.#server.stopListening(bound);
  }
}

function keyOf({ host, port }: Portal): string {
  return `${host} ${port}`;
}
