import type { FastifyInstance } from 'fastify';
import { Listeners, type ListenAddress } from '../http/listeners.ts';
import type { Log } from '../log.ts';
import { TlsSource } from '../tls/source.ts';
import { otherAddresses } from './addresses.ts';
import type { HostedConfiguration } from './configuration.ts';
import type { UnboundAddress } from './messages.ts';

/** The machine may get an address later: binding is retried. */
const RETRY_MS = 10_000;

interface HostedServerOptions {
  readonly log: Log;
  /** An unbound address is bound now, or the reason has changed. */
  readonly onListening?: () => void;
  readonly retryMs?: number;
}

/**
 * The addresses of one array: its own, which is required, and the public and network ones, which it serves where this
 * machine has them.
 */
export class HostedServer {
  readonly #app: FastifyInstance;
  readonly #listeners: Listeners;
  readonly #tls: TlsSource | undefined;
  readonly #options: HostedServerOptions;
  readonly #unbound = new Map<string, string>();
  #configuration: HostedConfiguration;
  #work: Promise<void> = Promise.resolve();
  #retry: NodeJS.Timeout | undefined;

  constructor(app: FastifyInstance, configuration: HostedConfiguration, options: HostedServerOptions) {
    this.#app = app;
    this.#tls = configuration.tls ? new TlsSource(configuration.tls) : undefined;
    this.#configuration = configuration;
    this.#listeners = new Listeners({ app, tls: this.#tls, log: options.log });
    this.#options = options;
  }

  get bound(): string[] {
    return this.#listeners.addresses.map(({ host }) => host);
  }

  get unbound(): UnboundAddress[] {
    return [...this.#unbound].map(([address, reason]) => ({ address, reason }));
  }

  /** Opens missing addresses and closes unwanted ones. */
  serve(configuration: HostedConfiguration): Promise<void> {
    this.#configuration = configuration;
    return this.#inTurn();
  }

  async stop(): Promise<void> {
    clearTimeout(this.#retry);
    await this.#work.catch(() => undefined);
    clearTimeout(this.#retry);
    await this.#listeners.closeAll();
    await this.#app.close();
  }

  /** Serialized: a retry must not overlap a change. */
  #inTurn(): Promise<void> {
    clearTimeout(this.#retry);
    this.#work = this.#work.catch(() => undefined).then(() => this.#follow());
    return this.#work;
  }

  async #follow(): Promise<void> {
    const { management, tls } = this.#configuration;
    if (tls) this.#tls?.replace(tls);
    const wanted = new Set([management.host, ...otherAddresses(this.#configuration)]);
    for (const host of this.#unbound.keys()) if (!wanted.has(host)) this.#unbound.delete(host);
    const surplus = this.#listeners.addresses.filter(({ host }) => !wanted.has(host));
    await Promise.all(surplus.map((address) => this.#listeners.close(address)));
    const missing = [...wanted].map((host) => ({ host, port: management.port }));
    await Promise.all(
      missing
        .filter((address) => !this.#listeners.isOpen(address))
        .map((address) => this.#open(address, address.host === management.host)),
    );
    if (this.#unbound.size > 0) this.#retryLater();
  }

  #retryLater(): void {
    const before = JSON.stringify(this.unbound);
    this.#retry = setTimeout(() => {
      void this.#inTurn()
        .then(() => {
          if (JSON.stringify(this.unbound) !== before) this.#options.onListening?.();
        })
        .catch((error: unknown) => this.#options.log.error({ error }, 'addresses could not be bound again'));
    }, this.#options.retryMs ?? RETRY_MS).unref();
  }

  async #open(address: ListenAddress, required: boolean): Promise<void> {
    const { host, port } = address;
    try {
      // An address that was in use before is not waited for: it is retried later.
      await this.#listeners.open(address, this.#unbound.has(host) ? 0 : undefined);
      this.#unbound.delete(host);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (required) throw new Error(`Cannot listen on ${host}:${port} (${code}).`, { cause: error });
      const reason = whyUnbound(code, port);
      if (this.#unbound.get(host) !== reason)
        this.#options.log.warn({ address: host, port, code }, 'an address could not be bound');
      this.#unbound.set(host, reason);
    }
  }
}

/** For the operator, who can fix it. */
export function whyUnbound(code: string | undefined, port: number): string {
  if (code === 'EADDRNOTAVAIL') return 'this machine does not have the address; give it to a network interface.';
  if (code === 'EAFNOSUPPORT') return 'this machine has no IPv6; switch it on, or use a network with IPv4 addresses.';
  if (code === 'EADDRINUSE') return `another program listens on port ${port} of the address.`;
  return `port ${port} could not be bound (${code ?? 'unknown error'}).`;
}
