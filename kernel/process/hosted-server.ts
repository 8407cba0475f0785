import type { FastifyInstance } from 'fastify';
import { Listeners, type ListenAddress } from '../http/listeners.ts';
import type { Log } from '../log.ts';
import type { HostedConfiguration } from './configuration.ts';

/**
 * The addresses of one array: its own, which it cannot be without, and the public and network ones, which it
 * serves where this machine carries them.
 */
export class HostedServer {
  readonly #app: FastifyInstance;
  readonly #listeners: Listeners;
  readonly #log: Log;

  constructor(app: FastifyInstance, configuration: HostedConfiguration, log: Log) {
    this.#app = app;
    this.#listeners = new Listeners({ app, tls: configuration.tls ?? undefined, log });
    this.#log = log;
  }

  get bound(): string[] {
    return this.#listeners.addresses.map(({ host }) => host);
  }

  /** Opens what is missing and closes what is no longer wanted. */
  async serve(configuration: HostedConfiguration): Promise<void> {
    const { management } = configuration;
    const wanted = new Set([management.host, ...extraHosts(configuration)]);
    const surplus = this.#listeners.addresses.filter(({ host }) => !wanted.has(host));
    await Promise.all(surplus.map((address) => this.#listeners.close(address)));
    const missing = [...wanted].map((host) => ({ host, port: management.port }));
    await Promise.all(
      missing
        .filter((address) => !this.#listeners.isOpen(address))
        .map((address) => this.#open(address, address.host === management.host)),
    );
  }

  async stop(): Promise<void> {
    await this.#listeners.closeAll();
    await this.#app.close();
  }

  async #open(address: ListenAddress, required: boolean): Promise<void> {
    try {
      await this.#listeners.open(address);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (required) throw new Error(`Cannot listen on ${address.host}:${address.port} (${code}).`, { cause: error });
      this.#log.warn({ address: address.host, port: address.port, code }, 'an address could not be bound');
    }
  }
}

function extraHosts({ publicAddress, interfaces }: HostedConfiguration): string[] {
  const hosts = interfaces.map(({ address }) => address);
  return publicAddress === null ? hosts : [publicAddress, ...hosts];
}
