import {
  PortGuards,
  servicePlaceText,
  whyUnbound,
  type HostedConfiguration,
  type Log,
  type UnboundAddress,
} from '@granary/kernel';
import { dataAddresses } from './addresses.ts';
import type { DataAddress } from './data-server.ts';

const RETRY_MS = 10_000;

interface DataPortsOptions {
  readonly configuration: () => HostedConfiguration;
  readonly log: Log;
  /** Serves at the addresses that can be had now. */
  readonly retry: () => Promise<void>;
  /** A retry changed what is served. */
  readonly onListening: () => void;
}

/** The addresses of the data path: kept from other processes, and tried again while another process has one. */
export class DataPorts {
  readonly #options: DataPortsOptions;
  readonly #guards = new PortGuards();
  #unbound: readonly UnboundAddress[] = [];
  #retry: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(options: DataPortsOptions) {
    this.#options = options;
  }

  /** Addresses that cannot be served, and why. */
  get unbound(): readonly UnboundAddress[] {
    return this.#unbound;
  }

  /** The addresses that can be served now. */
  async acquire(): Promise<DataAddress[]> {
    const { configuration } = this.#options;
    const wanted = dataAddresses(configuration());
    const refused = await this.#guards.acquire(wanted);
    this.#unbound = refused.map(({ address: { host, port }, code }) => ({
      address: nameOf({ host, port }, configuration()),
      reason: whyUnbound(code, port),
    }));
    if (refused.length > 0) this.#retryLater();
    return wanted.filter((one) => !refused.some(({ address }) => address === one));
  }

  releaseOthers(addresses: readonly DataAddress[]): void {
    this.#guards.releaseOthers(addresses);
  }

  /** Nothing is tried again. The addresses are released apart, once nothing listens there. */
  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#retry);
  }

  /** A port that another process has may be free later, and an address may come to the machine. */
  #retryLater(): void {
    const { log, retry, onListening } = this.#options;
    const before = JSON.stringify(this.#unbound);
    clearTimeout(this.#retry);
    if (this.#isStopped) return;
    this.#retry = setTimeout(() => {
      retry()
        .then(() => {
          if (JSON.stringify(this.#unbound) !== before) onListening();
        })
        .catch((error: unknown) => log.error({ error }, 'addresses could not be bound again'));
    }, RETRY_MS).unref();
  }
}

/** In reports: a public service by its place, because its address may be served at the port of the data path. */
function nameOf({ host, port }: DataAddress, { publicService, dataPort }: HostedConfiguration): string {
  const isService = publicService?.address === host && publicService.port === port && port !== dataPort;
  return isService ? servicePlaceText(publicService) : host;
}
