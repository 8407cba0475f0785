import { createServer, type Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { ConnectionLimits } from '@granary/kernel/edge';
import { LockTable } from '../locks/index.ts';
import type { NfsEvent } from './events.ts';
import type { Awaitable } from './filesystem.ts';
import { DEFAULT_LIMITS, type Limits } from './limits.ts';
import { MountProgram } from './mount/mount.ts';
import type { NfsExport } from './namespace/export.ts';
import { Exports } from './namespace/exports.ts';
import { Namespace } from './namespace/namespace.ts';
import { NfsProgram } from './nfs-program.ts';
import { Connection, type ConnectionHost } from './rpc/connection.ts';
import { Dispatcher } from './rpc/dispatcher.ts';
import { ReplayCache } from './rpc/replay-cache.ts';
import { RequestBudget } from './rpc/request-budget.ts';

const WATCH_INTERVAL_MS = 1_000;

export interface Endpoint {
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
}

export interface NfsServerOptions {
  readonly limits?: Partial<Limits>;
  /** Shared with other protocols that serve the same filesystems. */
  readonly locks?: LockTable;
  /** All groups of a user; without it those of the request count, sixteen at most. */
  groupsOf?(uid: number): Awaitable<readonly number[] | undefined>;
  onEvent?(event: NfsEvent): void;
  /** Milliseconds, never going back. */
  now?(): number;
}

/** NFS over TCP: versions 3, 4.0 and 4.1, MOUNT and the lock manager, all at one port. */
export class NfsServer implements ConnectionHost {
  readonly limits: Limits;
  readonly dispatcher: Dispatcher;
  readonly budget: RequestBudget;
  readonly locks: LockTable;
  readonly #options: NfsServerOptions;
  readonly #exports = new Exports(Date.now);
  readonly #listeners = new Set<Server>();
  readonly #connections = new Set<Connection>();
  readonly #connectionLimits: ConnectionLimits;
  #watch: NodeJS.Timeout | undefined;

  constructor(options: NfsServerOptions) {
    this.#options = options;
    this.limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.locks = options.locks ?? new LockTable();
    this.budget = new RequestBudget(this.limits.requestBytesMax);
    const report = (event: NfsEvent) => this.report(event);
    const namespace = new Namespace({ exports: this.#exports, groupsOf: (uid) => options.groupsOf?.(uid) });
    const programs = [
      new MountProgram(namespace, this.limits, report),
      new NfsProgram({ namespace, limits: this.limits, locks: this.locks, report }),
    ];
    const replays = new ReplayCache(this.limits.replayEntriesMax, this.limits.replayBytesMax);
    this.dispatcher = new Dispatcher(programs, replays, report);
    this.#connectionLimits = new ConnectionLimits({
      max: this.limits.connectionsMax,
      onCrowded: ({ address, dropped, refused }) => this.report({ type: 'crowded', address, dropped, refused }),
      now: () => this.now(),
    });
  }

  async listen({ host, port }: Endpoint): Promise<Endpoint> {
    const listener = createServer({ noDelay: true, pauseOnConnect: true }, (socket) => this.#accept(socket));
    await new Promise<void>((resolve, reject) => {
      listener.once('error', reject);
      // Exclusive: in a cluster, too, it is this process that listens.
      listener.listen({ host, port, exclusive: true }, () => {
        listener.off('error', reject);
        resolve();
      });
    });
    listener.on('error', (error) => this.report({ type: 'internal-error', address: '', error }));
    this.#watch ??= setInterval(() => this.#watchConnections(), WATCH_INTERVAL_MS).unref();
    const address = listener.address();
    if (address === null || typeof address === 'string') throw new Error('an NFS server listens on TCP only');
    this.#listeners.add(listener);
    return { host: address.address, port: address.port };
  }

  addExport(added: NfsExport): void {
    this.#exports.add(added);
  }

  removeExport(filesystemId: bigint): void {
    this.#exports.remove(filesystemId);
  }

  get connectionCount(): number {
    return this.#connections.size;
  }

  /** Requests under way get so long to end and be answered; what comes in meanwhile is not heard. */
  async close(drainMs = 0): Promise<void> {
    clearInterval(this.#watch);
    const closed = Promise.all([...this.#listeners].map((listener) => closing(listener)));
    this.#listeners.clear();
    if (drainMs > 0) await this.#drain(drainMs);
    for (const connection of this.#connections) connection.end('the server closes');
    await closed;
  }

  async #drain(ms: number): Promise<void> {
    const late = new AbortController();
    const drained = Promise.all([...this.#connections].map((connection) => connection.drain()));
    await Promise.race([drained, delay(ms, undefined, late).catch(() => undefined)]);
    late.abort();
  }

  #accept(socket: Socket): void {
    // Until the connection takes the socket over.
    socket.on('error', () => undefined);
    const place = this.#connectionLimits.admit(socket.remoteAddress ?? '', () => {
      connection.destroy('others needed its place');
    });
    if (place === undefined) {
      socket.destroy();
      return;
    }
    const connection = new Connection(socket, this, place);
    this.#connections.add(connection);
  }

  #watchConnections(): void {
    for (const connection of this.#connections) connection.watch();
  }

  isKnown(address: string): boolean {
    return this.#exports.isKnown(address);
  }

  closed(connection: Connection): void {
    this.#connections.delete(connection);
    const { address, endingReason: reason } = connection;
    this.report({ type: 'connection-dropped', address, reason });
  }

  report(event: NfsEvent): void {
    this.#options.onEvent?.(event);
  }

  now(): number {
    return this.#options.now?.() ?? performance.now();
  }
}

function closing(listener: Server): Promise<void> {
  return new Promise((resolve) => listener.close(() => resolve()));
}
