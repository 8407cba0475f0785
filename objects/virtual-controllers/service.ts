import { fail, type EventLog, type Store } from '@granary/kernel';
import type { ControllerState } from '../engine/controller-spec.ts';
import type { ObjectEngine } from '../engine/engine.ts';
import { partOf } from '../engine/parts.ts';

interface VirtualControllersOptions {
  readonly engine: ObjectEngine;
  readonly store: Store;
  readonly events: EventLog;
  readonly returnProxies: (kept: number) => Promise<void>;
}

export class VirtualControllerService {
  readonly #options: VirtualControllersOptions;

  constructor(options: VirtualControllersOptions) {
    this.#options = options;
  }

  list(): ControllerState[] {
    return (this.#options.engine.controllers?.list() ?? []).toSorted((a, b) => a.index - b.index);
  }

  /** By its index or its name. */
  get(id: string): ControllerState {
    const found = this.list().find(({ index, name }) => String(index) === id || name === id);
    if (!found) throw fail('objs_controller_not_found', { id });
    return found;
  }

  /** Those that came last go first; requests under way are finished before. */
  async removeProxies(quantity: number, regionId: number | undefined, actor: string): Promise<void> {
    const { engine, store, events, returnProxies } = this.#options;
    partOf(engine, 'controllers');
    const proxies = this.list().filter(({ role }) => role === 'proxy').length;
    if (regionId !== undefined && regionId !== 1) throw fail('one_region');
    if (quantity > proxies) {
      throw fail('too_many_proxies', { count: proxies });
    }
    // The cloud counts them, and sends the count to this array and to the portal.
    await returnProxies(proxies - quantity).catch((error: unknown) => {
      throw fail('proxies_not_taken', { reason: error instanceof Error ? error.message : String(error) });
    });
    const title = `${quantity} proxy controllers were removed; ${proxies - quantity} are left.`;
    await store.write((tx) =>
      events.record(tx, { severity: 'notice', title, kind: 'controller', subject: 'controllers', actor }),
    );
  }
}
