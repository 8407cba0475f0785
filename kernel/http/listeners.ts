import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { ConnectionLimits, connectionsMax, dropUnread, limitConnections } from '../edge/index.ts';
import type { Log } from '../log.ts';
import type { TlsSource } from '../tls/source.ts';
import { createHttpServer } from './http-server.ts';

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

const BIND_MS_MAX = 5_000;
const BIND_RETRY_MS = 100;
const DRAIN_MS_MAX = 2_000;
/** Connections of all addresses together, and the share of the open-file limit that they may use. */
const CONNECTIONS = { most: 4_096, share: 1 / 8 };
/** The time a client has for the head of a request, and for a TLS handshake. */
const HEADERS_MS_MAX = 15_000;
const CHECKING_INTERVAL_MS = 5_000;
/** The time a client has to read the next part of its response. */
export const UNREAD_MS_MAX = 60_000;

export const HTTP_DEADLINES = {
  headersTimeout: HEADERS_MS_MAX,
  handshakeTimeout: HEADERS_MS_MAX,
  connectionsCheckingInterval: CHECKING_INTERVAL_MS,
};

export function httpConnectionLimits(options: {
  readonly connectionsMax?: number;
  readonly log?: Log | undefined;
}): ConnectionLimits {
  return new ConnectionLimits({
    max: options.connectionsMax ?? connectionsMax(CONNECTIONS),
    onCrowded: (report) => options.log?.warn(report, 'connections were dropped to make room for others'),
  });
}

interface ListenersOptions {
  readonly app: FastifyInstance;
  readonly tls?: TlsSource | undefined;
  /** How long an address may be in use by another process before this fails. */
  readonly bindMsMax?: number;
  /** Fewer connections than the process could have. */
  readonly connectionsMax?: number;
  /** Less time than clients have by default. */
  readonly unreadMsMax?: number;
  readonly log?: Log;
}

/** One application on any number of addresses, which are opened and closed while it runs. */
export class Listeners {
  readonly #options: ListenersOptions;
  readonly #limits: ConnectionLimits;
  readonly #servers = new Map<string, Server>();

  constructor(options: ListenersOptions) {
    this.#options = options;
    this.#limits = httpConnectionLimits(options);
  }

  /** Port 0 lets the system choose; the result has the chosen port. */
  async open(address: ListenAddress, bindMsMax?: number): Promise<ListenAddress> {
    await this.#options.app.ready();
    const server = await this.#bind(address, bindMsMax ?? this.#options.bindMsMax ?? BIND_MS_MAX);
    const { port } = server.address() as AddressInfo;
    const opened = { host: address.host, port };
    this.#servers.set(keyOf(opened), server);
    return opened;
  }

  isOpen(address: ListenAddress): boolean {
    return this.#servers.has(keyOf(address));
  }

  get addresses(): ListenAddress[] {
    return [...this.#servers.keys()].map(addressOf);
  }

  /** Connections of all addresses. */
  get connectionCount(): number {
    return this.#limits.size;
  }

  async close(address: ListenAddress): Promise<void> {
    const server = this.#servers.get(keyOf(address));
    if (!server) return;
    this.#servers.delete(keyOf(address));
    await drain(server);
  }

  async closeAll(): Promise<void> {
    await Promise.all(this.addresses.map((address) => this.close(address)));
  }

  /** A process that was just killed may still be exiting: binding its address is retried for a while. */
  async #bind(address: ListenAddress, bindMsMax: number): Promise<Server> {
    const until = performance.now() + bindMsMax;
    for (;;) {
      try {
        return await listen(this.#newServer(), address);
      } catch (error) {
        const taken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
        if (!taken || performance.now() >= until) throw error;
      }
      await sleep(BIND_RETRY_MS);
    }
  }

  #newServer(): Server {
    const { app, tls, log } = this.#options;
    const { requestTimeout, keepAliveTimeout } = app.server;
    const options = { requestTimeout, keepAliveTimeout, ...HTTP_DEADLINES };
    const server = createHttpServer(tls, options, (request, response) => {
      app.routing(request, response);
    });
    limitConnections(server, this.#limits);
    dropUnread(server, this.#options.unreadMsMax ?? UNREAD_MS_MAX);
    // A connection that could not be accepted does not affect the others.
    server.on('error', (error) => log?.warn({ error }, 'a connection could not be accepted'));
    return server;
  }
}

function listen(server: Server, { host, port }: ListenAddress): Promise<Server> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port, exclusive: true }, () => {
      server.off('error', reject);
      resolve(server);
    });
  });
}

/** Lets requests in progress finish, within limits. */
async function drain(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const impatience = setTimeout(() => {
    server.closeAllConnections();
  }, DRAIN_MS_MAX);
  await closed;
  clearTimeout(impatience);
}

function keyOf({ host, port }: ListenAddress): string {
  return `${host}|${port}`;
}

function addressOf(key: string): ListenAddress {
  const [host = '', port = '0'] = key.split('|');
  return { host, port: Number(port) };
}
