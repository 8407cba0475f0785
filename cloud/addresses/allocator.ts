import { createServer } from 'node:net';
import { fail, type ListenAddress } from '@granary/kernel';
import type { Config } from '../config/schema.ts';
import { AddressRange, isInRange } from '../config/range.ts';

/** Tells whether an array could listen there now: undefined when it could, else the system's word for why not. */
export type ProbeAddress = (address: ListenAddress) => Promise<string | undefined>;

const PROBES_MAX = 256;
const ANY_PORT = 0;

interface AllocatorOptions {
  readonly network: Config['network'];
  /** A range that takes the place of the config's. */
  readonly arrays?: string | undefined;
  readonly probe?: ProbeAddress;
}

/** Finds addresses for arrays: none that an array has, none that another program listens on. */
export class AddressAllocator {
  readonly #arrays: AddressRange;
  readonly #public: AddressRange | undefined;
  readonly #network: Config['network'];
  readonly #probe: ProbeAddress;

  constructor({ network, arrays, probe = probeAddress }: AllocatorOptions) {
    this.#network = network;
    this.#arrays = new AddressRange(arrays ?? network.arrays);
    this.#public = network.public === undefined ? undefined : new AddressRange(network.public);
    this.#probe = probe;
  }

  /** `seed` spreads arrays over the range, so that a new array does not get the address of one just deleted. */
  async forArray(seed: number, isTaken: (address: ListenAddress) => boolean): Promise<ListenAddress> {
    const { management_port: port, shared_ports: ports } = this.#network;
    if (this.#arrays.size > 1) {
      const at = (index: number) => ({ host: this.#arrays.at(index), port });
      return this.#firstFree(this.#arrays.text, this.#arrays.size, seed, at, isTaken);
    }
    const host = this.#arrays.at(0);
    const count = ports.last - ports.first + 1;
    const at = (index: number) => ({ host, port: ports.first + (index % count) });
    return this.#firstFree(`${host}:${ports.first}-${ports.last}`, count, seed, at, isTaken);
  }

  /** The range of ours that an address is in. */
  rangeOf(address: string): string | undefined {
    return this.ranges.find((range) => isInRange(address, range));
  }

  /** Where arrays get their own and their public addresses. */
  get ranges(): string[] {
    return [this.#arrays.text, ...(this.#public ? [this.#public.text] : [])];
  }

  /** Whether this machine carries any of the addresses arrays would get. */
  async isCarried(): Promise<boolean> {
    for (let n = 0; n < Math.min(this.#arrays.size, PROBES_MAX); n += 1)
      if ((await this.#probe({ host: this.#arrays.at(n), port: ANY_PORT })) !== 'EADDRNOTAVAIL') return true;
    return false;
  }

  async publicFor(seed: number, port: number, isTaken: (host: string) => boolean): Promise<string> {
    const range = this.#public;
    if (!range) throw fail('no_address', { range: 'the public range: this cloud has none' });
    const at = (index: number) => ({ host: range.at(index), port });
    const { host } = await this.#firstFree(range.text, range.size, seed, at, ({ host }) => isTaken(host));
    return host;
  }

  async #firstFree(
    range: string,
    count: number,
    seed: number,
    at: (index: number) => ListenAddress,
    isTaken: (address: ListenAddress) => boolean,
  ): Promise<ListenAddress> {
    let refused: string | undefined;
    let probes = 0;
    for (let n = 0; n < count && probes < PROBES_MAX; n += 1) {
      const address = at(seed + n);
      if (isTaken(address)) continue;
      probes += 1;
      const problem = await this.#probe(address);
      if (problem === undefined) return address;
      refused = `${address.host}:${address.port} ${problem}`;
    }
    throw fail('no_address', { range: refused === undefined ? range : `${range} (last tried: ${refused})` });
  }
}

/** Listens for a moment: the only way to know that needs no rights. */
function probeAddress({ host, port }: ListenAddress): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}
