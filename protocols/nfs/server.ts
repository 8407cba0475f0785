import { createServer, type Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { ConnectionLimits } from '@granary/kernel/edge';
import { LockTable } from '../locks/index.ts';
import type { NfsEvent } from './events.ts';
import type { Awaitable } from './filesystem.ts';
import { DEFAULT_LIMITS, recordBytesMax, type Limits } from './limits.ts';
import { MountProgram } from './mount/mount.ts';
import type { NfsExport } from './namespace/export.ts';
import { Exports } from './namespace/exports.ts';
import { Namespace } from './namespace/namespace.ts';
import { NfsProgram } from './nfs-program.ts';
import { RpcCallbacks, type HostCallbacks } from './nlm/callbacks.ts';
import { LockClients } from './nlm/lock-clients.ts';
import { LockManager } from './nlm/lock-manager.ts';
import { NlmProgram, StatusMonitorProgram } from './nlm/program.ts';
import { PortmapProgram } from './portmap/portmap.ts';
import { GracePeriod } from './recovery/grace-period.ts';
import { MemoryRecorder, type ClientRecorder } from './recovery/recorder.ts';
import { BufferPool } from './rpc/buffer-pool.ts';
import { RpcConnection, type ConnectionHost } from './rpc/connection.ts';
import { Dispatcher } from './rpc/dispatcher.ts';
import type { RpcProgram } from './rpc/program.ts';
import { ReplayCache } from './rpc/replay-cache.ts';
import { RequestBudget } from './rpc/request-budget.ts';
import type { Identities } from './v4/attributes/identities.ts';
import type { Version4 } from './v4/compound.ts';
import { AclProgram } from './v3/acl-program.ts';
import { version4 } from './v4/server-state.ts';

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
  /** Names of users and groups for version 4; without it they are numbers. */
  readonly identities?: Identities;
  /** Keeps who may hold locks over a restart; without it locks cannot be reclaimed. */
  readonly recorder?: ClientRecorder;
  /**
   * The same after a restart and after a failover, and no other server's: clients of 4.1 take two servers of one name for
   * one. Hosts that lock by version 3 should know the server by it.
   */
  readonly serverName: string;
  /** What the portmapper answers, where clients reach the server at another port than it listens at. */
  readonly advertisedPort?: number;
  /** How hosts that lock by version 3 are reached. */
  readonly callbacks?: HostCallbacks;
  onEvent?(event: NfsEvent): void;
  /** Milliseconds, never going back. */
  now?(): number;
}

/** NFS over TCP: versions 3, 4.0 and 4.1, MOUNT and the lock manager, all at one port. */
export class NfsServer implements ConnectionHost {
  readonly limits: Limits;
  readonly dispatcher: Dispatcher;
  readonly budget: RequestBudget;
  readonly buffers: BufferPool;
  readonly locks: LockTable;
  readonly #options: NfsServerOptions;
  readonly #exports = new Exports(Date.now);
  readonly #listeners = new Map<string, Server>();
  readonly #connections = new Set<RpcConnection>();
  readonly #connectionLimits: ConnectionLimits;
  readonly #grace: GracePeriod;
  readonly #version4: Version4;
  readonly #lockClients: LockClients;
  readonly #callbacks: HostCallbacks;
  #recovered: Promise<void> | undefined;
  /** Of the first listener. */
  #port = 0;
  #watch: NodeJS.Timeout | undefined;

  constructor(options: NfsServerOptions) {
    this.#options = options;
    this.limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.locks = options.locks ?? new LockTable();
    this.budget = new RequestBudget(this.limits.requestBytesMax);
    this.buffers = new BufferPool(recordBytesMax(this.limits));
    const report = (event: NfsEvent) => this.report(event);
    const namespace = new Namespace({ exports: this.#exports, groupsOf: (uid) => options.groupsOf?.(uid) });
    const { limits, locks } = this;
    const now = () => this.now();
    const recorder = options.recorder ?? new MemoryRecorder();
    this.#grace = new GracePeriod({ recorder, graceMs: limits.graceMs, now, report });
    const { identities = {}, serverName } = options;
    const shared = { namespace, limits, locks, recorder, grace: this.#grace, identities, serverName, now, report };
    this.#version4 = version4(shared);
    const version3 = { namespace, limits, locks };
    this.#callbacks = options.callbacks ?? new RpcCallbacks();
    this.#lockClients = new LockClients(shared);
    const manager = new LockManager({ ...shared, clients: this.#lockClients, callbacks: this.#callbacks });
    const served: RpcProgram[] = [
      new MountProgram(namespace, limits, report),
      new NfsProgram({ version3, version4: this.#version4, report }),
      new AclProgram(version3, report),
      new NlmProgram(manager),
      new StatusMonitorProgram(manager),
    ];
    const programs = [...served, new PortmapProgram(served, () => options.advertisedPort ?? this.#port)];
    const replays = new ReplayCache(limits.replayEntriesMax, limits.replayBytesMax, this.buffers);
    this.dispatcher = new Dispatcher(programs, replays, this.buffers, report);
    this.#connectionLimits = new ConnectionLimits({
      max: this.limits.connectionsMax,
      onCrowded: ({ address, dropped, refused }) => this.report({ type: 'crowded', address, dropped, refused }),
      now: () => this.now(),
    });
  }

  /** Begins with the grace period, if clients held anything when the server ended. */
  async listen({ host, port }: Endpoint): Promise<Endpoint> {
    await (this.#recovered ??= this.#recover());
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
    this.#watch ??= setInterval(() => this.watch(), WATCH_INTERVAL_MS).unref();
    const address = listener.address();
    if (address === null || typeof address === 'string') throw new Error('an NFS server listens on TCP only');
    const endpoint = { host: address.address, port: address.port };
    this.#listeners.set(keyOf(endpoint), listener);
    this.#port ||= address.port;
    return endpoint;
  }

  /** Closes the listener at that address; connections stay. */
  stopListening(endpoint: Endpoint): void {
    this.#listeners.get(keyOf(endpoint))?.close();
    this.#listeners.delete(keyOf(endpoint));
  }

  /** Hosts that lock by version 3 do not notice a restart by themselves; those of version 4 do. */
  async #recover(): Promise<void> {
    const clients = await this.#grace.begin();
    // The status monitor's own count: odd while a host is up, and larger after each start.
    const state = (Math.floor(Date.now() / 1000) & 0x7fff_ffff) | 1;
    const name = this.#options.serverName;
    for (const { kind, address } of clients) {
      if (kind === 'lock-manager') void this.#callbacks.restarted(address, name, state);
    }
  }

  addExport(added: NfsExport): void {
    this.#exports.add(added);
  }

  /** The filesystem is exported already; its handles, opens and locks stay as they are. */
  replaceExport(replacement: NfsExport): void {
    const before = this.#exports.remove(replacement.filesystem.id);
    try {
      this.#exports.add(replacement);
    } catch (error) {
      if (before !== undefined) this.#exports.add(before);
      throw error;
    }
  }

  /** Resolves when no request, open or lock uses the filesystem any more. */
  async removeExport(filesystemId: bigint): Promise<void> {
    this.#exports.remove(filesystemId);
    await this.dispatcher.whenAnswered();
    this.#version4.states.releaseFilesystem(this.#version4.clients.all(), filesystemId);
    this.#lockClients.releaseFilesystem(filesystemId);
  }

  get isInGrace(): boolean {
    return this.#grace.isActive;
  }

  get connectionCount(): number {
    return this.#connections.size;
  }

  /** How many connections each client has. */
  connectionsByAddress(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const { address } of this.#connections) counts.set(address, (counts.get(address) ?? 0) + 1);
    return counts;
  }

  /** How many connections were closed. Clients come back by themselves for as long as they mount something. */
  dropConnections(address: string): number {
    const dropped = [...this.#connections].filter((connection) => connection.address === address);
    for (const connection of dropped) connection.destroy('it was closed by the administrator');
    return dropped.length;
  }

  /** Requests under way get so long to end and be answered; what comes in meanwhile is not heard. */
  async close(drainMs = 0): Promise<void> {
    clearInterval(this.#watch);
    const closed = Promise.all([...this.#listeners.values()].map((listener) => closing(listener)));
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
    const connection = new RpcConnection(socket, this, place);
    this.#connections.add(connection);
  }

  /** What time brings: done once a second by itself. */
  watch(): void {
    for (const connection of this.#connections) connection.watch();
    const work = [this.#grace.watch(), this.#version4.clients.expire(), this.#lockClients.watch()];
    Promise.all(work).catch((error: unknown) => this.report({ type: 'internal-error', address: '', error }));
  }

  isKnown(address: string): boolean {
    return this.#exports.isKnown(address);
  }

  closed(connection: RpcConnection): void {
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

function keyOf({ host, port }: Endpoint): string {
  return `${host} ${port}`;
}

function closing(listener: Server): Promise<void> {
  return new Promise((resolve) => listener.close(() => resolve()));
}
