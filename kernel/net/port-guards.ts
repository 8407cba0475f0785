import { createServer, type ListenOptions, type Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ListenAddress } from '../http/listeners.ts';

const ACQUIRE_MS_MAX = 5_000;
const RETRY_MS = 100;

export interface Unguarded {
  readonly address: ListenAddress;
  /** The system's error code. */
  readonly code: string | undefined;
}

interface PortGuardsOptions {
  /** How long another process may have the port before this fails. */
  readonly acquireMsMax?: number;
}

/**
 * Keeps ports that several threads of this process share (`SO_REUSEPORT`) from other processes. The system lets every
 * process of the same user join such a port, and then gives it a part of the connections. So before the first thread
 * listens, the process takes two things:
 *
 * - a lock, which is an abstract Unix socket named after the port: it belongs to one process, ends with it however it
 *   ends, and exists once per network namespace, as the port does. Every Granary process takes it first.
 * - proof that no process listens there: one listener without `SO_REUSEPORT`, briefly. It fails if anyone else has the
 *   port, shared or not.
 *
 * A program of another user cannot join later: the system refuses that. One of the same user that is not Granary's could,
 * but it could as well read this process's memory.
 */
export class PortGuards {
  readonly #locks = new Map<string, Server>();
  readonly #options: PortGuardsOptions;

  constructor(options: PortGuardsOptions = {}) {
    this.#options = options;
  }

  /** Acquires the ports that are not held yet; returns those that cannot be acquired. */
  async acquire(addresses: readonly ListenAddress[]): Promise<Unguarded[]> {
    // On other platforms ports are not shared.
    if (process.platform !== 'linux') return [];
    const missing = addresses.filter((address) => !this.#locks.has(keyOf(address)));
    const results = await Promise.all(missing.map((address) => this.#acquire(address)));
    return results.filter((result) => result !== undefined);
  }

  /** Releases all other ports; to be called when no thread listens there any more. */
  releaseOthers(kept: readonly ListenAddress[]): void {
    const keys = new Set(kept.map(keyOf));
    for (const [key, lock] of this.#locks) {
      if (keys.has(key)) continue;
      this.#locks.delete(key);
      lock.close();
    }
  }

  async #acquire(address: ListenAddress): Promise<Unguarded | undefined> {
    const until = performance.now() + (this.#options.acquireMsMax ?? ACQUIRE_MS_MAX);
    for (;;) {
      const code = await this.#try(address);
      if (code === undefined) return undefined;
      if (code !== 'EADDRINUSE' || performance.now() >= until) return { address, code };
      await sleep(RETRY_MS);
    }
  }

  async #try(address: ListenAddress): Promise<string | undefined> {
    const lock = createServer((socket) => socket.destroy());
    const locked = await listen(lock, { path: `\0granary-port ${keyOf(address)}` });
    if (locked !== undefined) return locked;
    const probe = createServer((socket) => socket.destroy());
    const free = await listen(probe, { ...address, exclusive: true });
    if (free === undefined) await close(probe);
    else await close(lock);
    if (free === undefined) this.#locks.set(keyOf(address), lock.unref());
    return free;
  }
}

/** Undefined when it listens. */
function listen(server: Server, options: ListenOptions): Promise<string | undefined> {
  return new Promise((resolve) => {
    server.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen(options, () => resolve(undefined));
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}

function keyOf({ host, port }: ListenAddress): string {
  return `${host} ${port}`;
}
