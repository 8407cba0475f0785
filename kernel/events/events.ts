import { formatUtc, type Clock } from '../clock.ts';
import type { Db, Tx } from '../store/index.ts';

/** Severities on the syslog scale. */
export const severity = { error: 3, warning: 4, notice: 5, info: 6 } as const;

export interface NewEvent {
  readonly severity?: keyof typeof severity;
  /** One sentence, without a secret in it. */
  readonly title: string;
  /** What it happened to, such as `array:12`. */
  readonly subject: string;
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

interface EventRow {
  readonly id: number;
  readonly created_at: number;
  readonly severity: number;
  readonly title: string;
}

const EVENTS_MAX = 100_000;
const WHERE = `WHERE severity BETWEEN :severityMin AND :severityMax AND (:subject IS NULL OR subject = :subject)
  AND (:subjectKind IS NULL OR substr(subject, 1, length(:subjectKind) + 1) = :subjectKind || ':')`;

const COLUMNS = { msg_id: 'id', msg_title: 'title', msg_severity: 'severity', msg_time: 'created_at' } as const;

export class EventLog {
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Recorded in the transaction of the change it tells of: neither is there without the other. */
  record(tx: Tx, event: NewEvent): void {
    const { insertedId } = tx.run(
      `INSERT INTO events (created_at, severity, title, subject, actor)
       VALUES (:createdAt, :severity, :title, :subject, :actor)`,
      {
        createdAt: this.#clock.now(),
        severity: severity[event.severity ?? 'info'],
        title: event.title,
        subject: event.subject,
        actor: event.actor ?? 'system',
      },
    );
    const oldest = insertedId - EVENTS_MAX;
    if (oldest > 0) tx.run('DELETE FROM events WHERE id <= :oldest', { oldest });
  }

  list(db: Db, filter: EventFilter): { messages: EventMessage[]; count: number } {
    const params = {
      severityMin: filter.severityIs ?? 0,
      severityMax: filter.severityIs ?? filter.severityMax ?? 7,
      subject: filter.subject ?? null,
      subjectKind: filter.subjectKind ?? null,
    };
    const order = orderOf(filter);
    const rows = db.all<EventRow>(`SELECT * FROM events ${WHERE} ORDER BY ${order} LIMIT :limit OFFSET :start`, {
      ...params,
      limit: filter.limit === 0 ? -1 : filter.limit,
      start: filter.start,
    });
    const count = db.get<{ n: number }>(`SELECT count(*) AS n FROM events ${WHERE}`, params)?.n ?? 0;
    return { messages: rows.map(toMessage), count };
  }
}

function orderOf({ order = [], oldestFirst }: EventFilter): string {
  const first = order.map(({ by, direction }) => `${COLUMNS[by]} ${direction === 'ASC' ? 'ASC' : 'DESC'}`);
  return [...first, `id ${oldestFirst === true ? 'ASC' : 'DESC'}`].join(', ');
}

function toMessage(row: EventRow): EventMessage {
  return {
    msg_id: String(row.id),
    msg_title: row.title,
    msg_severity: String(row.severity),
    msg_time: formatUtc(row.created_at),
  };
}
