import { join } from 'node:path';
import { sendBySmtp, type Mail, type MailServer, type Tx } from '@granary/kernel';
import type { PeopleTools } from '../tools.ts';
import { writeToOutbox } from './outbox.ts';
import type { Letter } from './letter.ts';
import { countLetters, deleteLetter, insertLetter, nextLetter, putOffLetter } from './repository.ts';

export interface PostedMail extends Mail {
  readonly to: string;
}

interface MailboxOptions {
  /** Null: mails are written to the outbox folder. */
  readonly server: () => (MailServer & { readonly from: string | null }) | null;
  readonly retryMs?: number;
}

const WAITING_MAX = 10_000;
const LOOK_EVERY_MS = 5_000;
const RETRY_MS = 10_000;
const RETRY_MS_MAX = 15 * 60_000;
/** A code in it is worth nothing any more. */
const GIVE_UP_MS = 24 * 3600 * 1000;
const REASON_LENGTH_MAX = 200;

/** Mails wait in the database, written with the change they report, until a server accepts them or the outbox has them. */
export class Mailbox {
  readonly #tools: PeopleTools;
  readonly #options: MailboxOptions;
  readonly #stopping = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> | undefined;
  #isStarted = false;
  #isFailing = false;

  constructor(tools: PeopleTools, options: MailboxOptions) {
    this.#tools = tools;
    this.#options = options;
  }

  /** Part of the caller's transaction: there is a mail exactly if there is the change. */
  post(tx: Tx, { to, subject, text }: PostedMail): void {
    const { vault, clock, log } = this.#tools;
    if (countLetters(tx) >= WAITING_MAX) {
      log.warn({ waiting: WAITING_MAX }, 'a mail was dropped: too many wait to be sent');
      return;
    }
    insertLetter(tx, { recipient: to, sealed: vault.seal(JSON.stringify({ subject, text })) }, clock.now());
    tx.afterCommit(() => this.#wake(0));
  }

  start(): void {
    this.#isStarted = true;
    this.#wake(0);
  }

  /** What is not sent yet is sent after the next start. */
  async stop(): Promise<void> {
    this.#isStarted = false;
    clearTimeout(this.#timer);
    this.#stopping.abort();
    await this.#round;
  }

  #wake(inMs: number): void {
    if (!this.#isStarted || this.#round) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#round = this.#sendDue().finally(() => {
        this.#round = undefined;
        this.#wake(LOOK_EVERY_MS);
      });
    }, inMs).unref();
  }

  async #sendDue(): Promise<void> {
    const { store, clock, log } = this.#tools;
    try {
      while (this.#isStarted) {
        const letter = store.read((db) => nextLetter(db, clock.now()));
        if (!letter) return;
        await this.#send(letter);
      }
    } catch (error) {
      log.error({ error }, 'mails could not be looked through');
    }
  }

  async #send(letter: Letter): Promise<void> {
    const { store, vault } = this.#tools;
    try {
      await this.#deliver(letter, JSON.parse(vault.unseal(letter.sealed)) as Mail);
    } catch (error) {
      if (this.#isStarted) await this.#putOff(letter, error);
      return;
    }
    this.#isFailing = false;
    await store.write((tx) => deleteLetter(tx, letter.id));
  }

  async #deliver({ id, recipient }: Letter, mail: Mail): Promise<void> {
    const { internalName, folder } = this.#tools.configuration();
    const server = this.#options.server();
    const from = server?.from ?? `${internalName}@granary.invalid`;
    const addressed = { ...mail, from, to: recipient };
    if (server) await sendBySmtp(server, addressed, this.#stopping.signal);
    else await writeToOutbox(join(folder, 'outbox'), id, addressed);
  }

  async #putOff({ id, attempts, createdAt }: Letter, error: unknown): Promise<void> {
    const { store, events, clock, log } = this.#tools;
    const reason = (error instanceof Error ? error.message : String(error)).slice(0, REASON_LENGTH_MAX);
    log.warn({ reason, attempts: attempts + 1 }, 'a mail could not be sent');
    const { retryMs = RETRY_MS } = this.#options;
    const now = clock.now();
    const isOver = now - createdAt > GIVE_UP_MS;
    // Logged once until it works again; otherwise it would fill the log.
    const isNews = !this.#isFailing;
    this.#isFailing = true;
    await store.write((tx) => {
      if (isOver) deleteLetter(tx, id);
      else putOffLetter(tx, id, now + Math.min(retryMs * 2 ** Math.min(attempts, 20), RETRY_MS_MAX));
      const title = `Mail could not be sent: ${reason}. It is tried again for a day.`;
      if (isNews) events.record(tx, { severity: 'warning', title, subject: 'settings:array' });
    });
  }
}
