import { ALL_KINDS, LOGIN_KIND } from '@granary/contract';
import { formatUtc, type Clock } from '../clock.ts';
import type { Db, Tx } from '../store/index.ts';
import {
  countEvents,
  countEventsAfter,
  insertEvent,
  lastEventId,
  listEvents,
  listEventsAfter,
  trimEvents,
  type EventOrdering,
  type RecordedEvent,
} from './repository.ts';

/** Severities on the syslog scale. */
export const severity = { error: 3, warning: 4, notice: 5, info: 6 } as const;

/** Logins come by the thousand: lists leave those without a problem out unless they are asked for. */
export const LOGIN = LOGIN_KIND;

/** The word for a severity, as far as there is one. */
export function severityWord(number: number): string {
  return Object.entries(severity).find(([, value]) => value === number)?.[0] ?? `severity ${number}`;
}

export interface NewEvent {
  readonly severity?: keyof typeof severity;
  /** One sentence, without a secret in it. */
  readonly title: string;
  /** What it happened to, such as `array:12`. */
  readonly subject: string;
  /** What it is about; the part of the subject before the colon unless given. */
  readonly kind?: string;
  /** Who did it: a username, or `system`. */
  readonly actor?: string;
}

export interface EventFilter {
  /** Events at this severity or worse. */
  readonly severityMax?: number | undefined;
  /** Events of this severity alone. */
  readonly severityIs?: number | undefined;
  readonly subject?: string | undefined;
  /** Events whose subject is of this kind: `volume` for `volume:volume-00000001`. */
  readonly subjectKind?: string | undefined;
  /** Events of this kind, or of `ALL_KINDS`; absent: all but logins without a problem, except of one subject. */
  readonly kind?: string | undefined;
  readonly oldestFirst?: boolean | undefined;
  /** What counts before the order of time, the first most. */
  readonly order?: readonly EventOrder[] | undefined;
  readonly start: number;
  readonly limit: number;
}

export interface EventOrder {
  readonly by: 'msg_id' | 'msg_title' | 'msg_severity' | 'msg_time';
  readonly direction: 'ASC' | 'DESC';
}

/** The message record of arrays and object storage. */
export interface EventMessage {
  readonly msg_id: string;
  readonly msg_title: string;
  readonly msg_severity: string;
  readonly msg_time: string;
}

const EVENTS_MAX = 100_000;
const LOGINS_MAX = 10_000;
/** Old events are deleted in batches of this size: finding the oldest that is kept takes longer than adding one. */
const TRIM_EVERY = 100;
const FIELDS = { msg_id: 'id', msg_title: 'title', msg_severity: 'severity', msg_time: 'createdAt' } as const;

export class EventLog {
  readonly #clock: Clock;
  readonly #listeners: ((event: RecordedEvent) => void)[] = [];

  readonly #wording: ((db: Db, title: string) => string) | undefined;

  /** `wording` says of a title how it is recorded, such as by the names of what it is about. */
  constructor(clock: Clock, wording?: (db: Db, title: string) => string) {
    this.#clock = clock;
    this.#wording = wording;
  }

  /** Recorded in the transaction of the change it tells of: neither is there without the other. */
  record(tx: Tx, event: NewEvent): void {
    const recorded = {
      createdAt: this.#clock.now(),
      severity: severity[event.severity ?? 'info'],
      title: this.#wording?.(tx, event.title) ?? event.title,
      subject: event.subject,
      actor: event.actor ?? 'system',
      kind: event.kind ?? kindOf(event.subject),
    };
    const id = insertEvent(tx, recorded);
    if (id % TRIM_EVERY === 0) trimEvents(tx, { othersMax: EVENTS_MAX, loginsMax: LOGINS_MAX });
    // Lists leave logins without a problem out.
    if (this.#listeners.length === 0 || (recorded.kind === LOGIN && recorded.severity >= severity.info)) return;
    tx.afterCommit(() => {
      for (const listener of this.#listeners) listener({ id, ...recorded });
    });
  }

  /** Called with each event once it is durable, those that lists leave out excepted. Must not throw. */
  onRecorded(listener: (event: RecordedEvent) => void): void {
    this.#listeners.push(listener);
  }

  list(db: Db, filter: EventFilter): { messages: EventMessage[]; count: number } {
    const condition = {
      severityMin: filter.severityIs ?? 0,
      severityMax: filter.severityIs ?? filter.severityMax ?? 7,
      subject: filter.subject ?? null,
      subjectKind: filter.subjectKind ?? null,
      kind: filter.kind === ALL_KINDS ? null : (filter.kind ?? null),
      withLogins: Number(filter.kind !== undefined || filter.subject !== undefined),
    };
    const { start, limit } = filter;
    const found = listEvents(db, condition, { order: orderOf(filter), start, limit });
    return { messages: found.map(toMessage), count: countEvents(db, condition) };
  }

  /** The number of the newest event; 0 when there is none. Numbers rise and are not used again. */
  lastId(db: Db): number {
    return lastEventId(db);
  }

  /**
   * Events after that number and at least as severe, logins without a problem excepted: oldest first, and how many there
   * are in all.
   */
  listAfter(db: Db, id: number, severityMax: number, limit: number): { events: RecordedEvent[]; count: number } {
    return {
      events: listEventsAfter(db, id, severityMax, limit),
      count: countEventsAfter(db, id, severityMax),
    };
  }
}

function orderOf({ order = [], oldestFirst }: EventFilter): EventOrdering[] {
  const asked = order.map(({ by, direction }) => ({ by: FIELDS[by], direction }));
  return [...asked, { by: 'id', direction: oldestFirst === true ? 'ASC' : 'DESC' }];
}

function kindOf(subject: string): string {
  return subject.split(':', 1)[0] ?? subject;
}

/** As lists show it. */
export function toMessage(event: RecordedEvent): EventMessage {
  return {
    msg_id: String(event.id),
    msg_title: event.title,
    msg_severity: String(event.severity),
    msg_time: formatUtc(event.createdAt),
  };
}
