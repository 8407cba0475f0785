import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import { ConnectionLimits, connectionsMax, limitConnections, type CrowdingReport } from '@granary/kernel/edge';
import { serverTlsOptions } from '@granary/kernel/tls-policy';

/** Where the data path listens; all threads on the same addresses, and the system spreads connections over them. */
export interface DataAddress {
  readonly host: string;
  readonly port: number;
}

export interface DataCertificate {
  readonly key: string;
  readonly cert: string;
}

/** Connections of one thread, and the part of the files the process may open that they take at most. */
const CONNECTIONS = { most: 4_096, share: 1 / 16 };
const HEADERS_MS_MAX = 20_000;
const CHECKING_INTERVAL_MS = 5_000;
const SILENCE_MS_MAX = 120_000;
const DRAIN_MS_MAX = 2_000;

export interface DataHandler {
  handle(request: IncomingMessage, response: ServerResponse): void;
  /** The client waits for leave to send its body. */
  handleContinue(request: IncomingMessage, response: ServerResponse): void;
}

export interface DataServerOptions {
  /** Fewer connections than the process could have. */
  readonly connectionsMax?: number;
  readonly onCrowded?: (report: CrowdingReport) => void;
}

interface Opened {
  readonly address: DataAddress;
  readonly server: Server;
}

/**
 * The data path's listeners of one thread. All threads listen on the same addresses (`reusePort`), and the system
 * gives each new connection to one of them.
 */
export class DataServer {
  readonly #handler: DataHandler;
  readonly #limits: ConnectionLimits;
  #opened: Opened[] = [];
  #certificate: DataCertificate | null = null;

  constructor(handler: DataHandler, options: DataServerOptions = {}) {
    this.#handler = handler;
    const { connectionsMax: max = connectionsMax(CONNECTIONS), onCrowded } = options;
    this.#limits = new ConnectionLimits({ max, onCrowded });
  }

  /**
   * Opens what is missing and closes what is no longer wanted. Another certificate is shown from the next connection on;
   * turning TLS on or off reopens all listeners.
   */
  async serve(addresses: readonly DataAddress[], certificate: DataCertificate | null): Promise<string[]> {
    const isOther = (certificate === null) !== (this.#certificate === null);
    const isRenewed = certificate !== null && certificate.cert !== this.#certificate?.cert;
    this.#certificate = certificate;
    const kept = this.#opened.filter(({ address }) => !isOther && addresses.some((one) => isSame(one, address)));
    const closing = this.#opened.filter((opened) => !kept.includes(opened));
    this.#opened = kept;
    await Promise.all(closing.map(({ server }) => drain(server)));
    if (isRenewed && !isOther)
      for (const { server } of kept) (server as TlsServer).setSecureContext(serverTlsOptions(certificate));
    const missing = addresses.filter((address) => !kept.some((opened) => isSame(opened.address, address)));
    const problems = await Promise.all(missing.map((address) => this.#open(address)));
    return problems.filter((problem) => problem !== undefined);
  }

  get bound(): DataAddress[] {
    return this.#opened.map(({ address }) => address);
  }

  async close(): Promise<void> {
    const opened = this.#opened;
    this.#opened = [];
    await Promise.all(opened.map(({ server }) => drain(server)));
  }

  async #open(address: DataAddress): Promise<string | undefined> {
    const server = this.#newServer();
    try {
      await listen(server, address);
      this.#opened.push({ address, server });
      return undefined;
    } catch (error) {
      return `${address.host}:${address.port} could not be bound (${(error as NodeJS.ErrnoException).code}).`;
    }
  }

  #newServer(): Server {
    // A body may take as long as it takes: its size is limited, and idle sockets are closed.
    // So are those between two requests: to set another limit for them each time costs as much as a parsed request.
    const options = {
      requestTimeout: 0,
      headersTimeout: HEADERS_MS_MAX,
      handshakeTimeout: HEADERS_MS_MAX,
      connectionsCheckingInterval: CHECKING_INTERVAL_MS,
      keepAliveTimeout: 0,
    };
    const server = this.#certificate
      ? createTlsServer({ ...options, ...serverTlsOptions(this.#certificate) })
      : createServer(options);
    server.timeout = SILENCE_MS_MAX;
    server.on('request', (request: IncomingMessage, response: ServerResponse) =>
      this.#handler.handle(request, response),
    );
    server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) =>
      this.#handler.handleContinue(request, response),
    );
    // Node would answer itself, in no protocol's form.
    server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) =>
      this.#handler.handle(request, response),
    );
    limitConnections(server, this.#limits);
    return server;
  }
}

function listen(server: Server, { host, port }: DataAddress): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    // Only Linux and a few others share a port among listeners; elsewhere one thread gets it.
    server.listen({ host, port, reusePort: process.platform === 'linux' }, () => {
      server.off('error', reject);
      // A connection that could not be taken, because too many files are open for example, is no end of the others.
      server.on('error', () => undefined);
      resolve();
    });
  });
}

/** Lets requests under way finish, within limits. */
async function drain(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const timeout = setTimeout(() => server.closeAllConnections(), DRAIN_MS_MAX);
  await closed;
  clearTimeout(timeout);
}

function isSame(one: DataAddress, other: DataAddress): boolean {
  return one.host === other.host && one.port === other.port;
}
