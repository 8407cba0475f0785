import { setTimeout as sleep } from 'node:timers/promises';
import { fail, type EventLog, type Log, type Store } from '@granary/kernel';
import type { ControllerState } from '../engine/controller-spec.ts';
import type { ObjectEngine } from '../engine/engine.ts';
import { partOf } from '../engine/parts.ts';

interface VirtualControllersOptions {
  readonly engine: ObjectEngine;
  readonly store: Store;
  readonly events: EventLog;
  readonly log: Log;
  readonly returnProxies: (kept: number) => Promise<void>;
}

interface ProxyRemoval {
  readonly quantity: number;
  readonly regionId: number | undefined;
  /** Negative: waits until it is done. */
  readonly timeoutSeconds: number;
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

  /**
   * Those that came last go first; requests under way are finished before. False: the time is up, the removal goes on, and
   * the event log says how it ends.
   */
  async removeProxies({ quantity, regionId, timeoutSeconds }: ProxyRemoval, actor: string): Promise<boolean> {
    partOf(this.#options.engine, 'controllers');
    const proxies = this.list().filter(({ role }) => role === 'proxy').length;
    if (regionId !== undefined && regionId !== 1) throw fail('one_region');
    if (quantity > proxies) throw fail('too_many_proxies', { count: proxies });
    const removal = this.#returnProxies(quantity, proxies - quantity, actor).then(() => true);
    if (timeoutSeconds < 0) return removal;
    const answered = new AbortController();
    const timeUp = sleep(timeoutSeconds * 1000, false, { signal: answered.signal });
    const isDone = await Promise.race([removal, timeUp]).finally(() => answered.abort());
    if (!isDone) removal.catch((error: unknown) => this.#recordFailure(error, actor));
    return isDone;
  }

  /** The cloud counts them, and sends the count to this array and to the portal. */
  async #returnProxies(quantity: number, kept: number, actor: string): Promise<void> {
    await this.#options.returnProxies(kept).catch((error: unknown) => {
      throw fail('proxies_not_taken', { reason: error instanceof Error ? error.message : String(error) });
    });
    await this.#record('notice', `${quantity} proxy controllers were removed; ${kept} are left.`, actor);
  }

  async #recordFailure(error: unknown, actor: string): Promise<void> {
    const reason = error instanceof Error ? error.message : String(error);
    await this.#record('error', `Proxy controllers were not removed: ${reason}`, actor).catch((problem: unknown) =>
      this.#options.log.error({ error: problem, reason }, 'an event could not be recorded'),
    );
  }

  #record(severity: 'notice' | 'error', title: string, actor: string): Promise<void> {
    const { store, events } = this.#options;
    return store.write((tx) =>
      events.record(tx, { severity, title, kind: 'controller', subject: 'controllers', actor }),
    );
  }
}
