import type { ChangeFeed } from './change-feed.ts';

/** What is shown of the records of each group, as plain data. */
type Shown = Readonly<Record<string, unknown>>;

/** Publishes groups whose records changed without a request or an event, by comparing them with the time before. */
export class ChangeDetector {
  readonly #feed: Pick<ChangeFeed, 'isWatched' | 'publish'>;
  #last: ReadonlyMap<string, string> | undefined;

  constructor(feed: Pick<ChangeFeed, 'isWatched' | 'publish'>) {
    this.#feed = feed;
  }

  /** Called as often as the records may have changed; they are read only while somebody follows. */
  compare(read: () => Shown): void {
    if (!this.#feed.isWatched) {
      this.#last = undefined;
      return;
    }
    const now = new Map(Object.entries(read()).map(([group, shown]) => [group, JSON.stringify(shown)]));
    const before = this.#last;
    this.#last = now;
    if (!before) return;
    this.#feed.publish(...[...now].filter(([group, shown]) => before.get(group) !== shown).map(([group]) => group));
  }
}
