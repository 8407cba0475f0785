import type { IoTotals } from '../../report.ts';
import { IoCounter } from './io-counter.ts';

const CLIENTS_MAX = 4096;

interface Use {
  readonly server: string;
  readonly io: IoCounter;
}

interface ClientUse {
  readonly address: string;
  readonly server: string;
  readonly io: IoTotals;
}

/** What each client does with a share. */
export class ClientUses {
  readonly #uses = new Map<string, Use>();
  readonly #servers = new Map<string, IoCounter>();

  /** The client has sent a request. */
  of(address: string, server: string): Use {
    const known = this.#uses.get(address);
    if (known?.server === server) return known;
    if (this.#uses.size >= CLIENTS_MAX) this.#uses.delete(this.#uses.keys().next().value as string);
    const use = { server, io: new IoCounter() };
    this.#uses.set(address, use);
    return use;
  }

  add(address: string, server: string, kind: 'reads' | 'writes', bytes: number, milliseconds: number): void {
    this.of(address, server).io.add(kind, bytes, milliseconds);
    const all = this.#servers.get(server) ?? new IoCounter();
    this.#servers.set(server, all);
    all.add(kind, bytes, milliseconds);
  }

  /** Those that are still there. */
  clients(isThere: (address: string) => boolean): ClientUse[] {
    for (const address of this.#uses.keys()) if (!isThere(address)) this.#uses.delete(address);
    return Array.from(this.#uses, ([address, { server, io }]) => ({ address, server, io: io.totals() }));
  }

  servers(): { readonly id: string; readonly io: IoTotals }[] {
    return Array.from(this.#servers, ([id, io]) => ({ id, io: io.totals() }));
  }
}
