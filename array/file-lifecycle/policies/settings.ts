import type { Tx } from '@granary/kernel';
import { readSetting, writeSetting } from '../../settings/repository.ts';
import type { ArrayTools } from '../../tools.ts';
import { DEFAULT_TIMES, type RunTimes } from './times.ts';

interface Neighbours {
  /** In the transaction that sets other times: those that would have been due had they always been so are not made up for. */
  readonly timesChanged: (tx: Tx) => void;
  /** Something may be due earlier than it was. */
  readonly wake: () => void;
}

const TIMES = 'lifecycle_times';
const RETENTION = 'lifecycle_retention_seconds';
const RETENTION_SECONDS_DEFAULT = 7 * 86_400;

/** What is set for all shares: when policies run, and how long recycle bins keep files. */
export class LifecycleSettings {
  readonly #tools: ArrayTools;
  readonly #neighbours: Neighbours;

  constructor(tools: ArrayTools, neighbours: Neighbours) {
    this.#tools = tools;
    this.#neighbours = neighbours;
  }

  times(): RunTimes {
    const text = this.#tools.store.read((db) => readSetting(db, TIMES));
    return text === undefined ? DEFAULT_TIMES : (JSON.parse(text) as RunTimes);
  }

  async setTimes(
    change: { readonly [K in keyof RunTimes]?: RunTimes[K] | undefined },
    actor: string,
  ): Promise<RunTimes> {
    const { store, events } = this.#tools;
    const times = await store.write((tx) => {
      const present = this.times();
      const next = {
        startSeconds: change.startSeconds ?? present.startSeconds,
        intervalSeconds: change.intervalSeconds ?? present.intervalSeconds,
      };
      writeSetting(tx, TIMES, JSON.stringify(next));
      this.#neighbours.timesChanged(tx);
      const at = new Date(next.startSeconds * 1_000).toISOString().slice(11, 19);
      const title = `File lifecycle policies run at ${at} UTC and every ${next.intervalSeconds} seconds from then on.`;
      events.record(tx, { title, kind: 'lifecycle_policy', subject: 'lifecycle_policies', actor });
      return next;
    });
    this.#neighbours.wake();
    return times;
  }

  /** How long the recycle bins of shares keep files. */
  retentionSeconds(): number {
    return Number(this.#tools.store.read((db) => readSetting(db, RETENTION)) ?? RETENTION_SECONDS_DEFAULT);
  }

  async setRetention(seconds: number, actor: string): Promise<void> {
    const { store, events } = this.#tools;
    await store.write((tx) => {
      writeSetting(tx, RETENTION, String(seconds));
      const title = `The recycle bins of shares keep files for ${seconds} seconds.`;
      events.record(tx, { title, kind: 'lifecycle_policy', subject: 'lifecycle_policies', actor });
    });
    this.#neighbours.wake();
  }
}
