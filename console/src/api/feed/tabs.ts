import type { FeedMessage, Streams } from './streams.ts';

/** What a tab says to the worker that has the streams. Said again at intervals: a tab that went says nothing. */
export interface TabMessage {
  readonly follow?: readonly string[];
  /** The tab is looked at. */
  readonly isSeen?: boolean;
}

/** What the worker says to a tab. */
export interface Told {
  readonly base: string;
  readonly message: FeedMessage;
}

/** How often a tab says what it follows. Browsers let a hidden tab do so once a minute at the least. */
export const TAB_SAYS_MS = 25_000;
export const SILENT_MS_MAX = 150_000;

/** One tab, as the worker knows it. */
export class Tab {
  readonly #streams: Pick<Streams, 'follow' | 'touch'>;
  readonly #tell: (told: Told) => void;
  readonly #stops = new Map<string, () => void>();

  constructor(streams: Pick<Streams, 'follow' | 'touch'>, tell: (told: Told) => void) {
    this.#streams = streams;
    this.#tell = tell;
  }

  hear({ follow = [], isSeen = false }: TabMessage): void {
    for (const [base, stop] of [...this.#stops]) {
      if (follow.includes(base)) continue;
      this.#stops.delete(base);
      stop();
    }
    for (const base of follow) {
      if (!this.#stops.has(base))
        this.#stops.set(
          base,
          this.#streams.follow(base, (message) => this.#tell({ base, message })),
        );
      else if (isSeen) this.#streams.touch(base);
    }
  }
}
