import { systemClock, type Clock } from '../clock.ts';
import { fail } from '../errors.ts';
import { toMessage, type EventLog } from '../events/events.ts';
import type { RecordedEvent } from '../events/repository.ts';
import type { Jobs } from '../jobs/jobs.ts';
import { ChangeStream } from './change-stream.ts';
import { personOf, type Actor, type Context, type StreamedFile } from './types.ts';

/** What belongs together in one service: names on both sides are groups of its contract. */
export interface Concerns<K extends string = string, G extends string = string> {
  /** The groups whose records an event or a job is about, by its kind. */
  readonly kinds: Readonly<Record<K, readonly G[]>>;
  /** Groups that show part of another's records: they change with it. */
  readonly related: Readonly<Partial<Record<G, readonly G[]>>>;
  /** The group that lists events. */
  readonly events: G;
}

export interface ChangeFeedOptions {
  readonly events: EventLog;
  readonly jobs: Jobs;
  readonly concerns: Concerns;
  /** Who may list events. */
  readonly mayListEvents: (actor: Actor) => boolean;
  readonly clock?: Clock;
  /** Stands in for a timer; returns what cancels it. */
  readonly schedule?: (action: () => void, ms: number) => () => void;
  readonly limits?: { readonly streams?: number; readonly perUser?: number; readonly unreadBytes?: number };
}

const EVERY_MS = 1_000;
const STREAMS_MAX = 1_000;
/** Each tab of a browser has one. */
const STREAMS_PER_USER_MAX = 24;
/** Of more in a second, lists have the rest: the group that lists events is named, too. */
const EVENTS_PER_SECOND_MAX = 50;

/**
 * Says to those who follow which groups' records have changed: by name only, at most once a second, so that a client asks
 * again for what it shows and no rule of who may see what is repeated here. While nobody follows, nothing is kept.
 */
export class ChangeFeed {
  readonly #options: ChangeFeedOptions;
  readonly #clock: Clock;
  readonly #streams = new Set<ChangeStream>();
  readonly #pending = new Set<string>();
  #cancel: (() => void) | undefined;
  #sentAt = -Infinity;
  #eventsSent = 0;
  #isClosed = false;

  constructor(options: ChangeFeedOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    options.events.onRecorded((event) => this.#publishEvent(event));
    options.jobs.onProgress((subject) => this.publish(...this.#groupsOf(kindOf(subject))));
  }

  /** Whether anybody follows: what costs something to find out is found out only then. */
  get isWatched(): boolean {
    return this.#streams.size > 0;
  }

  /** Called when the change is durable. */
  publish(...groups: readonly string[]): void {
    if (!this.isWatched) return;
    for (const group of groups) {
      this.#pending.add(group);
      for (const other of this.#options.concerns.related[group] ?? []) this.#pending.add(other);
    }
    if (this.#pending.size > 0) this.#schedule();
  }

  open({ actor, isSignedIn }: Pick<Context<Actor>, 'actor' | 'isSignedIn'>, seconds?: number): StreamedFile {
    const { streams = STREAMS_MAX, perUser = STREAMS_PER_USER_MAX, unreadBytes } = this.#options.limits ?? {};
    if (this.#isClosed) throw fail('stopping');
    const own = [...this.#streams].filter((stream) => personOf(stream.actor) === personOf(actor)).length;
    if (own >= perUser) throw fail('too_many_streams', { max: perUser, whose: 'a user may have' });
    if (this.#streams.size >= streams) throw fail('too_many_streams', { max: streams, whose: 'this service takes' });
    const stream = new ChangeStream({ actor, isSignedIn, seconds, unreadBytesMax: unreadBytes });
    this.#streams.add(stream);
    stream.once('close', () => this.#streams.delete(stream));
    return { filename: 'changes', stream };
  }

  /** The session was signed out, revoked or has expired. */
  endSession(sessionId: number): void {
    for (const stream of this.#streams) if (stream.actor.sessionId === sessionId) stream.signOut();
  }

  /** The rights of the user changed: clients that follow again are authorised anew, but the session named goes on. */
  endUser(user: string, exceptSession?: number): void {
    for (const stream of this.#streams) {
      const { id, sessionId } = stream.actor;
      if (id === user && (sessionId === undefined || sessionId !== exceptSession)) stream.end();
    }
  }

  /** Before the server stops: it waits for replies that are under way. */
  close(): void {
    this.#isClosed = true;
    this.#cancel?.();
    for (const stream of this.#streams) stream.end();
  }

  #groupsOf(kind: string): readonly string[] {
    const { kinds } = this.#options.concerns;
    return Object.hasOwn(kinds, kind) ? (kinds[kind] ?? []) : [];
  }

  #publishEvent(event: RecordedEvent): void {
    if (!this.isWatched) return;
    const { concerns, mayListEvents } = this.#options;
    this.publish(concerns.events, ...this.#groupsOf(event.kind), ...this.#groupsOf(kindOf(event.subject)));
    this.#eventsSent += 1;
    if (this.#eventsSent > EVENTS_PER_SECOND_MAX) return;
    const message = toMessage(event);
    for (const stream of this.#streams) if (mayListEvents(stream.actor)) stream.send('event', message);
  }

  #schedule(): void {
    if (this.#cancel || this.#isClosed) return;
    const wait = this.#sentAt + EVERY_MS - this.#clock.now();
    // A clock that was set back must not keep anybody waiting.
    const ms = Math.min(Math.max(wait, 0), EVERY_MS);
    this.#cancel = (this.#options.schedule ?? timer)(() => this.#send(), ms);
  }

  #send(): void {
    this.#cancel = undefined;
    this.#sentAt = this.#clock.now();
    this.#eventsSent = 0;
    const groups = [...this.#pending].sort();
    this.#pending.clear();
    for (const stream of this.#streams) stream.send('changed', { groups });
  }
}

/** The handlers of the group `changes`. */
export function changeRoutes(feed: ChangeFeed) {
  return {
    watch: ({ seconds }: { readonly seconds?: number | undefined }, context: Context<Actor>) =>
      feed.open(context, seconds),
  };
}

function kindOf(subject: string): string {
  return subject.split(':', 1)[0] ?? subject;
}

function timer(action: () => void, ms: number): () => void {
  const handle = setTimeout(action, ms).unref();
  return () => clearTimeout(handle);
}
