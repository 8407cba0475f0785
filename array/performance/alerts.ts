import type { ArrayTools } from '../tools.ts';

type Resource = 'processors' | 'memory';

export interface Use {
  readonly controller: string;
  readonly resource: Resource;
  /** Percent, averaged over a minute. */
  readonly used: number;
  /** 0 is never. */
  readonly limit: number;
}

/** Records when the use of a controller rises above its limit, and when it falls below again. */
export class UsageAlerts {
  readonly #tools: Pick<ArrayTools, 'store' | 'events'>;
  readonly #raised = new Set<string>();

  constructor(tools: Pick<ArrayTools, 'store' | 'events'>) {
    this.#tools = tools;
  }

  async evaluate(uses: readonly Use[]): Promise<void> {
    const { store, events } = this.#tools;
    const changed = uses.filter((use) => isOver(use) !== this.#raised.has(keyOf(use)));
    if (changed.length === 0) return;
    await store.write((tx) => {
      for (const use of changed) {
        events.record(tx, {
          severity: isOver(use) ? 'warning' : 'info',
          title: titleOf(use),
          subject: `controller:${use.controller}`,
        });
      }
    });
    for (const use of changed) {
      if (isOver(use)) this.#raised.add(keyOf(use));
      else this.#raised.delete(keyOf(use));
    }
  }
}

function keyOf({ controller, resource }: Use): string {
  return `${controller} ${resource}`;
}

function isOver({ used, limit }: Use): boolean {
  return limit > 0 && used > limit;
}

function titleOf(use: Use): string {
  const { controller, resource, used, limit } = use;
  const what = `Controller ${controller} used ${Math.round(used)}% of the ${resource} over the last minute`;
  if (isOver(use)) return `${what}: more than the ${limit}% that alerts are set to.`;
  return limit > 0 ? `${what}: no longer more than ${limit}%.` : `${what}; alerts are off now.`;
}
