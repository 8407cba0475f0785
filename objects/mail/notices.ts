import { writeNotice, type Db } from '@granary/kernel';
import type { PeopleTools } from '../tools.ts';
import type { Mailbox, PostedMail } from './mailbox.ts';
import * as repository from './repository.ts';
import type { Recipient, ToldEvent } from './letter.ts';

const COLLECT_MS = 5_000;
const EVENTS_PER_ROUND = 1_000;
const EVENTS_PER_MAIL_MAX = 50;
const ADMINS_MAX = 100;
const USERS_OF_ACCOUNT_MAX = 100;
const ACCOUNT = 'account:';

/** Mails what happens to the users who asked for it: each a mail every few seconds at most, and none twice. */
export class EventNotices {
  readonly #tools: PeopleTools;
  readonly #mailbox: Mailbox;
  readonly #collectMs: number;
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> = Promise.resolve();
  #isStarted = false;

  constructor(tools: PeopleTools, mailbox: Mailbox, collectMs = COLLECT_MS) {
    this.#tools = tools;
    this.#mailbox = mailbox;
    this.#collectMs = collectMs;
  }

  start(): void {
    this.#isStarted = true;
    this.#schedule();
  }

  async stop(): Promise<void> {
    this.#isStarted = false;
    clearTimeout(this.#timer);
    await this.#round;
  }

  #schedule(): void {
    if (!this.#isStarted) return;
    this.#timer = setTimeout(() => {
      this.#round = this.#sendNews().then(() => this.#schedule());
    }, this.#collectMs).unref();
  }

  async #sendNews(): Promise<void> {
    const { store, log } = this.#tools;
    try {
      const news = store.read((db) => this.#news(db));
      if (news.until === news.since) return;
      await store.write((tx) => {
        for (const mail of news.mails) this.#mailbox.post(tx, mail);
        repository.setMailedEvent(tx, news.until);
      });
    } catch (error) {
      log.warn({ error }, 'users could not be notified of events');
    }
  }

  #news(db: Db): { mails: PostedMail[]; since: number | undefined; until: number } {
    const since = repository.mailedEvent(db);
    // Events from before the first notice are not sent.
    if (since === undefined) return { mails: [], since, until: repository.lastEventId(db) };
    const events = repository.eventsAfter(db, since, EVENTS_PER_ROUND);
    const { displayName } = this.#tools.configuration();
    const mails = recipientsOf(db, events).flatMap((recipient) => {
      const concerning = events.filter((event) => concerns(event, recipient));
      const shown = concerning.slice(0, EVENTS_PER_MAIL_MAX);
      return concerning.length === 0
        ? []
        : [{ to: recipient.email, ...writeNotice(displayName, shown, concerning.length - shown.length) }];
    });
    return { mails, since, until: events.at(-1)?.id ?? since };
  }
}

function recipientsOf(db: Db, events: readonly ToldEvent[]): Recipient[] {
  if (events.length === 0) return [];
  const accounts = new Set(
    events.filter(({ subject }) => subject.startsWith(ACCOUNT)).map(({ subject }) => subject.slice(ACCOUNT.length)),
  );
  const users = [...accounts].flatMap((account) => repository.notifiedOf(db, account, USERS_OF_ACCOUNT_MAX));
  return [...repository.notifiedAdmins(db, ADMINS_MAX), ...users];
}

function concerns({ severity, subject }: ToldEvent, recipient: Recipient): boolean {
  if (severity > recipient.severity) return false;
  return recipient.isAdmin || subject.toLowerCase() === `${ACCOUNT}${recipient.account}`.toLowerCase();
}
