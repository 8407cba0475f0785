import { sendBySmtp, writeNotice, type Mail } from '@granary/kernel';
import { readSetting, writeSetting } from '../settings/repository.ts';
import type { SettingsService } from '../settings/service.ts';
import { isMailed, MAILED_EVENT, type ArraySettings } from '../settings/values.ts';
import type { ArrayTools } from '../tools.ts';

interface MailerOptions {
  readonly collectMs?: number;
  readonly retryMs?: number;
}

const COLLECT_MS = 5_000;
const RETRY_MS = 10_000;
const RETRY_MS_MAX = 15 * 60_000;
const EVENTS_PER_MAIL_MAX = 50;
const REASON_LENGTH_MAX = 200;

/** Mails what happens to those who asked for it: a mail every few seconds at most, tried until it is taken. */
export class Mailer {
  readonly #tools: ArrayTools;
  readonly #settings: SettingsService;
  readonly #options: MailerOptions;
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> = Promise.resolve();
  #failures = 0;
  readonly #stopping = new AbortController();

  constructor(tools: ArrayTools, settings: SettingsService, options: MailerOptions = {}) {
    this.#tools = tools;
    this.#settings = settings;
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
    const settings = this.#settings.current();
    const { collectMs = COLLECT_MS, retryMs = RETRY_MS } = this.#options;
    if (!isMailed(settings)) return collectMs;
    try {
      await this.#mailOnce(settings);
      this.#failures = 0;
      return collectMs;
    } catch (error) {
      if (!this.#stopping.signal.aborted) await this.#recordFailure(error);
      this.#failures += 1;
      return Math.min(retryMs * 2 ** (this.#failures - 1), RETRY_MS_MAX);
    }
  }

  async #mailOnce(settings: ArraySettings): Promise<void> {
    const { store, events, configuration } = this.#tools;
    const { noticeSeverity } = settings;
    const waiting = store.read((db) => {
      const mailed = Number(readSetting(db, MAILED_EVENT) ?? events.lastId(db));
      return { ...events.listAfter(db, mailed, noticeSeverity, EVENTS_PER_MAIL_MAX), until: events.lastId(db) };
    });
    if (waiting.count === 0) return;
    const more = waiting.count - waiting.events.length;
    await this.#send(writeNotice(configuration().displayName, waiting.events, more), settings);
    await store.write((tx) => writeSetting(tx, MAILED_EVENT, String(waiting.until)));
  }

  async #send(mail: Mail, settings: ArraySettings): Promise<void> {
    const { smtpHost, smtpPort: port, smtpSecure: secure, smtpUser: user, smtpFrom, noticeTo } = settings;
    const { internalName } = this.#tools.configuration();
    await sendBySmtp(
      { host: smtpHost ?? '', port, secure, user, password: this.#settings.smtpPassword() },
      { ...mail, from: smtpFrom ?? `${internalName}@granary.invalid`, to: noticeTo ?? '' },
      this.#stopping.signal,
    );
  }

  /** Once until it works again; otherwise it would fill the log. */
  async #recordFailure(error: unknown): Promise<void> {
    const { store, events, log } = this.#tools;
    const reason = (error instanceof Error ? error.message : String(error)).slice(0, REASON_LENGTH_MAX);
    log.warn({ reason, failures: this.#failures + 1 }, 'a mail could not be sent');
    if (this.#failures > 0) return;
    const { smtpHost } = this.#settings.current();
    const title = `Mail could not be sent through ${smtpHost ?? 'no server'}: ${reason}. It is tried again.`;
    const write = store.write((tx) => events.record(tx, { severity: 'warning', title, subject: 'settings:array' }));
    await write.catch((cause: unknown) => log.warn({ error: cause }, 'an event could not be recorded'));
  }
}
