import { setTimeout as sleep } from 'node:timers/promises';
import type { Portal } from '@granary/protocols/iscsi';

const BIND_MS_MAX = 5_000;
const BIND_RETRY_MS = 50;
const RETRY_MS = 10_000;

/** Where servers reach an array: its own address first, then those this machine happens to carry. */
export type Portals = readonly [Portal, ...Portal[]];

interface Listener {
  /** Where it listens in fact. */
  listen(portal: Portal): Promise<Portal>;
  stopListening(portal: Portal): void;
}

interface OpenPortalsOptions {
  readonly protocol: 'iSCSI' | 'NFS';
  readonly server: Listener;
  readonly onProblem: (problem: string, error: unknown) => void;
}

/**
 * The portals that are open, brought in line with those that are wanted. One that cannot be opened is tried until it
 * can: a port that another program holds for now, or an address the machine gets later, must not keep the array down.
 */
export class OpenPortals {
  readonly #protocol: OpenPortalsOptions['protocol'];
  readonly #server: Listener;
  readonly #onProblem: OpenPortalsOptions['onProblem'];
  readonly #open = new Map<string, Portal>();
  readonly #reported = new Set<string>();
  #wanted: ReadonlySet<string> = new Set();
  #retry: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor({ protocol, server, onProblem }: OpenPortalsOptions) {
    this.#protocol = protocol;
    this.#server = server;
    this.#onProblem = onProblem;
  }

  async follow([own, ...others]: Portals): Promise<void> {
    clearTimeout(this.#retry);
    this.#wanted = new Set([own, ...others].map(keyOf));
    for (const [key, bound] of this.#open) {
      if (this.#wanted.has(key)) continue;
      this.#open.delete(key);
      this.#server.stopListening(bound);
    }
    await this.#keepTrying([own], others, BIND_MS_MAX);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#retry);
  }

  /** The first ones may be waited for; whatever could not be opened is tried again later. */
  async #keepTrying(first: readonly Portal[], others: readonly Portal[], forMs: number): Promise<void> {
    const failed: Portal[] = [];
    for (const portal of first) if (!(await this.#listen(portal, forMs))) failed.push(portal);
    for (const portal of others) if (!(await this.#listen(portal, 0))) failed.push(portal);
    if (failed.length === 0 || this.#isClosed) return;
    this.#retry = setTimeout(() => void this.#keepTrying([], failed, 0), RETRY_MS);
  }

  /** The controller that served before may still be on its way out: its address is tried again for a while. */
  async #listen(portal: Portal, forMs: number): Promise<boolean> {
    const until = performance.now() + forMs;
    while (!this.#open.has(keyOf(portal)) && this.#wanted.has(keyOf(portal)) && !this.#isClosed) {
      try {
        this.#opened(keyOf(portal), await this.#server.listen(portal));
      } catch (error) {
        const isTaken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
        if (!isTaken || performance.now() >= until) {
          this.#report(portal, error);
          return false;
        }
        await sleep(BIND_RETRY_MS);
      }
    }
    return true;
  }

  /** Once, not at every attempt. */
  #report(portal: Portal, error: unknown): void {
    if (this.#reported.has(keyOf(portal))) return;
    this.#reported.add(keyOf(portal));
    this.#onProblem(`${this.#protocol} cannot be served at ${portal.host}:${portal.port}`, error);
  }

  /** It may be wanted no longer by the time it is open. */
  #opened(key: string, bound: Portal): void {
    this.#reported.delete(key);
    this.#open.set(key, bound);
    if (this.#isClosed || !this.#wanted.has(key)) this.#server.stopListening(bound);
    if (!this.#wanted.has(key)) this.#open.delete(key);
  }
}

function keyOf({ host, port }: Portal): string {
  return `${host} ${port}`;
}
