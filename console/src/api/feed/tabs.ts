import type { FeedMessage, Streams } from './streams.ts';

/** What a tab announces to the worker that has the streams. Repeated at intervals: a closed tab does not say so. */
export interface TabMessage {
  readonly follow?: readonly string[];
  /** The tab is looked at. */
  readonly isSeen?: boolean;
}

/** What the worker sends to a tab. */
export interface Delivery {
  readonly base: string;
  readonly message: FeedMessage;
}

/** How often a tab announces what it follows. Browsers let a hidden tab do so once a minute at the least. */
export const ANNOUNCE_MS = 25_000;
export const SILENT_MS_MAX = 150_000;

/** One tab, as the worker knows it. */
export class Tab {
  readonly #streams: Pick<Streams, 'follow' | 'touch'>;
  readonly #deliver: (delivery: Delivery) => void;
  readonly #stops = new Map<string, () => void>();

  constructor(streams: Pick<Streams, 'follow' | 'touch'>, deliver: (delivery: Delivery) => void) {
    this.#streams = streams;
    this.#deliver = deliver;
  }

  update({ follow = [], isSeen = false }: TabMessage): void {
    for (const [base, stop] of [...this.#stops]) {
      if (follow.includes(base)) continue;
      this.#stops.delete(base);
      stop();
    }
    for (const base of follow) {
      if (!this.#stops.has(base))
        this.#stops.set(
          base,
          this.#streams.follow(base, (message) => this.#deliver({ base, message })),
        );
      else if (isSeen) this.#streams.touch(base);
    }
  }
}
