/*
 * A browser has six connections to a service, however many tabs it shows, and a stream of changes keeps one for as long as
 * it is followed. All tabs therefore share the streams, one for each place, and no more than three are open at once: the
 * service's own, and those of the arrays looked at last. The other places are read anew now and then.
 */

/** What followers of a place receive. */
export type FeedMessage =
  | { readonly kind: 'changed'; readonly groups: readonly string[] }
  /** The stream is open from now on; what changed before is not sent. */
  | { readonly kind: 'open' }
  | { readonly kind: 'event' }
  | { readonly kind: 'lost' }
  | { readonly kind: 'signed_out' }
  /** The place has no stream at present: anything may have changed. */
  | { readonly kind: 'unwatched' };

export type Follower = (message: FeedMessage) => void;

/** What is used of an EventSource. */
interface Source {
  readonly readyState: number;
  addEventListener(type: string, listener: (event: { readonly data?: unknown }) => void): void;
  close(): void;
}

interface StreamsOptions {
  readonly open: (url: string) => Source;
  /** Runs the action once, later; returns what cancels it. */
  readonly schedule: (action: () => void, ms: number) => () => void;
}

export const STREAMS_MAX = 3;
export const RECONNECT_MS = 5_000;
export const UNWATCHED_MS = 15_000;
const CLOSED = 2;

interface Feed {
  readonly base: string;
  readonly followers: Set<Follower>;
  source: Source | undefined;
  isOpen: boolean;
  cancel: (() => void) | undefined;
}

export class Streams {
  readonly #options: StreamsOptions;
  /** By the place; the one looked at longest ago comes first. */
  readonly #feeds = new Map<string, Feed>();

  constructor(options: StreamsOptions) {
    this.#options = options;
  }

  /** Returns what ends it. */
  follow(base: string, follower: Follower): () => void {
    const feed = this.#feeds.get(base) ?? newFeed(base);
    this.#feeds.set(base, feed);
    feed.followers.add(follower);
    if (feed.isOpen) follower({ kind: 'open' });
    this.touch(base);
    return () => {
      feed.followers.delete(follower);
      if (feed.followers.size > 0) return;
      stop(feed);
      this.#feeds.delete(base);
      this.#arrange();
    };
  }

  /** Somebody looks at a page of the place. */
  touch(base: string): void {
    const feed = this.#feeds.get(base);
    if (!feed) return;
    this.#feeds.delete(base);
    this.#feeds.set(base, feed);
    this.#arrange();
  }

  #arrange(): void {
    const latest = [...this.#feeds.values()].toReversed();
    const ranked = [...latest.filter(({ base }) => base === ''), ...latest.filter(({ base }) => base !== '')];
    // Streams that end come first: those that begin need their connections.
    for (const feed of ranked.slice(STREAMS_MAX)) if (feed.source || !feed.cancel) this.#park(feed);
    for (const feed of ranked.slice(0, STREAMS_MAX)) if (!feed.source) this.#connect(feed);
  }

  #park(feed: Feed): void {
    stop(feed);
    feed.cancel = this.#options.schedule(() => {
      publish(feed, { kind: 'unwatched' });
      this.#park(feed);
    }, UNWATCHED_MS);
  }

  #connect(feed: Feed): void {
    stop(feed);
    const source = this.#options.open(`${feed.base}/api/changes`);
    feed.source = source;
    const on = (type: string, handle: (data: unknown) => void) =>
      source.addEventListener(type, ({ data }) => {
        if (feed.source === source) handle(data);
      });
    on('open', () => {
      feed.isOpen = true;
      publish(feed, { kind: 'open' });
    });
    on('changed', (data) => publish(feed, { kind: 'changed', groups: groupsIn(data) }));
    on('event', () => publish(feed, { kind: 'event' }));
    on('signed_out', () => publish(feed, { kind: 'signed_out' }));
    on('error', () => {
      feed.isOpen = false;
      publish(feed, { kind: 'lost' });
      // A refused stream is closed for good; a lost one the browser opens again by itself.
      if (source.readyState !== CLOSED || feed.source !== source) return;
      feed.cancel?.();
      feed.cancel = this.#options.schedule(() => this.#connect(feed), RECONNECT_MS);
    });
  }
}

function newFeed(base: string): Feed {
  return { base, followers: new Set(), source: undefined, isOpen: false, cancel: undefined };
}

function stop(feed: Feed): void {
  feed.cancel?.();
  feed.cancel = undefined;
  feed.source?.close();
  feed.source = undefined;
  feed.isOpen = false;
}

function publish({ followers }: Feed, message: FeedMessage): void {
  // A follower may end others while it runs.
  for (const follower of [...followers]) follower(message);
}

function groupsIn(data: unknown): string[] {
  const { groups } = JSON.parse(String(data)) as { groups?: unknown };
  return Array.isArray(groups) ? groups.filter((group) => typeof group === 'string') : [];
}
