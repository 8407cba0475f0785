import type { EventLog } from '../events/events.ts';
import type { Log } from '../log.ts';
import { readSetting, writeSetting } from '../store/settings.ts';
import type { Db, Store, Tx } from '../store/index.ts';
import { writeNotice, type Mail } from './notice.ts';
import { sendBySmtp, type MailServer } from './smtp.ts';

/** Who is mailed what, and through which server. */
export interface EventMail {
  readonly server: MailServer;
  readonly from: string;
  /** A comma list. */
  readonly to: string;
  /** Events of this severity and worse, logins without a problem excepted. */
  readonly severity: number;
}

interface EventMailerParts {
  readonly store: Store;
  readonly events: EventLog;
  readonly log: Log;
  /** As it is set now; undefined while no mail is wanted. */
  readonly mail: () => EventMail | undefined;
  /** What people call the service: it begins the subject of each mail. */
  readonly name: () => string;
}

export interface EventMailerOptions {
  readonly collectMs?: number;
  readonly retryMs?: number;
}

const COLLECT_MS = 5_000;
const RETRY_MS = 10_000;
const RETRY_MS_MAX = 15 * 60_000;
const EVENTS_PER_MAIL_MAX = 50;
const REASON_LENGTH_MAX = 200;
/** The setting that remembers how far the events have been mailed. */
const MAILED_EVENT = 'mailed_event';

/** Mail is wanted from now on: events from before are not sent. */
export function mailFromNowOn(tx: Tx, events: EventLog): void {
  writeSetting(tx, MAILED_EVENT, String(events.lastId(tx)));
}

/** Mails events to the recipients that are set: one mail every few seconds at most, tried until it is accepted. */
export class EventMailer {
  readonly #parts: EventMailerParts;
  readonly #options: EventMailerOptions;
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> = Promise.resolve();
  #failures = 0;
  readonly #stopping = new AbortController();

  constructor(parts: EventMailerParts, options: EventMailerOptions = {}) {
    this.#parts = parts;
    this.#options = options;
  }

  start(): void {
    this.#schedule(this.#options.collectMs ?? COLLECT_MS);
  }

  /** What is not mailed yet is mailed after the next start. */
  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    this.#stopping.abort();
    await this.#round;
  }

  #schedule(inMs: number): void {
    if (this.#stopping.signal.aborted) return;
    this.#timer = setTimeout(() => {
      this.#round = this.#mailWhatIsNew().then((delay) => this.#schedule(delay));
    }, inMs);
    this.#timer.unref();
  }

  /** How long to wait until the next time. */
  async #mailWhatIsNew(): Promise<number> {
    const { collectMs = COLLECT_MS, retryMs = RETRY_MS } = this.#options;
    let mail: EventMail | undefined;
    try {
      mail = this.#parts.mail();
      if (!mail) return collectMs;
      await this.#mailOnce(mail);
      this.#failures = 0;
      return collectMs;
    } catch (error) {
      if (!this.#stopping.signal.aborted) await this.#recordFailure(error, mail?.server.host ?? 'the mail server');
      this.#failures += 1;
      return Math.min(retryMs * 2 ** (this.#failures - 1), RETRY_MS_MAX);
    }
  }

  async #mailOnce(mail: EventMail): Promise<void> {
    const { store, name } = this.#parts;
    const waiting = store.read((db) => this.#waiting(db, mail.severity));
    if (waiting.count === 0) return;
    const notice = writeNotice(name(), waiting.events, waiting.count - waiting.events.length);
    await this.#send(notice, mail);
    await store.write((tx) => writeSetting(tx, MAILED_EVENT, String(waiting.until)));
  }

  #waiting(db: Db, severity: number) {
    const { events } = this.#parts;
    const mailed = Number(readSetting(db, MAILED_EVENT) ?? events.lastId(db));
    return { ...events.listAfter(db, mailed, severity, EVENTS_PER_MAIL_MAX), until: events.lastId(db) };
  }

  async #send(notice: Mail, { server, from, to }: EventMail): Promise<void> {
    await sendBySmtp(server, { ...notice, from, to }, this.#stopping.signal);
  }

  /** Once until it works again; otherwise it would fill the log. */
  async #recordFailure(error: unknown, server: string): Promise<void> {
    const { store, events, log } = this.#parts;
    const reason = (error instanceof Error ? error.message : String(error)).slice(0, REASON_LENGTH_MAX);
    log.warn({ reason, failures: this.#failures + 1 }, 'a mail could not be sent');
    if (this.#failures > 0) return;
    const title = `Mail could not be sent through ${server}: ${reason}. It is tried again.`;
    const write = store.write((tx) => events.record(tx, { severity: 'warning', title, subject: 'settings:mail' }));
    await write.catch((cause: unknown) => log.warn({ error: cause }, 'an event could not be recorded'));
  }
}
