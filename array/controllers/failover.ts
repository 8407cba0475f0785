import { fail } from '@granary/kernel';
import { partOf } from '../engine/parts.ts';
import type { GroupReport } from '../engine/report.ts';
import type { ArrayTools } from '../tools.ts';

/** Hands over from the active controller to the standby. */
export class Failover {
  readonly #tools: ArrayTools;
  #isRunning = false;

  constructor(tools: ArrayTools) {
    this.#tools = tools;
  }

  /** With force it is tried even during a rebuild; operations under way start again at the other controller. */
  async run(isForced: boolean, actor: string): Promise<void> {
    const { engine, readings } = this.#tools;
    const controllers = partOf(engine, 'controllers');
    if (this.#isRunning) throw fail('failover_running');
    this.#isRunning = true;
    try {
      await readings.refresh();
      if (!isForced) this.#check();
      const from = this.#activeName();
      await controllers.failover();
      await readings.refresh();
      await this.#record(from, this.#activeName(), actor);
    } finally {
      this.#isRunning = false;
    }
  }

  #check(): void {
    const { readings } = this.#tools;
    const standby = readings.controllers.find(({ state }) => state === 'standby');
    if (!standby) throw fail('no_standby');
    const busy = [...readings.groups].find(({ state }) => state === 'failed' || state === 'recovering');
    if (busy) throw fail('group_not_settled', { group: busy.id, state: stateOf(busy) });
  }

  #activeName(): string | undefined {
    return this.#tools.readings.controllers.find(({ state }) => state === 'active')?.name;
  }

  async #record(from: string | undefined, to: string | undefined, actor: string): Promise<void> {
    const { store, events, configuration } = this.#tools;
    const title = `Controller ${to ?? 'none'} took over from ${from ?? 'none'}, as asked.`;
    const subject = to === undefined ? `array:${configuration().internalName}` : `controller:${to}`;
    await store.write((tx) => events.record(tx, { severity: 'notice', title, subject, actor }));
  }
}

function stateOf({ state }: GroupReport): string {
  return state === 'failed' ? 'has failed' : 'is recovering';
}
