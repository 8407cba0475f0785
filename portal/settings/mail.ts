import {
  checkMailAddress,
  checkMailServer,
  mailFromNowOn,
  readRecipients,
  type Changes,
  type Db,
  type EventMail,
} from '@granary/kernel';
import type { PortalActor } from '../actor.ts';
import type { Tools } from '../tools.ts';
import { readSetting, writeSetting } from './repository.ts';

/** Who is mailed the portal's events, and how. */
export interface MailSettings {
  readonly host: string | null;
  readonly port: number;
  readonly secure: boolean;
  readonly user: string | null;
  readonly passwordSealed: string | null;
  readonly from: string | null;
  /** A comma list. */
  readonly recipients: string | null;
  readonly severity: number;
}

/** As callers send it: what is left out stays, an empty text takes it away. */
export type MailChange = Changes<
  Pick<MailSettings, 'port' | 'secure' | 'severity'> & {
    readonly host: string;
    readonly user: string;
    readonly password: string;
    readonly from: string;
    readonly recipients: string;
  }
>;

const KEY = 'mail';
const NO_MAIL: MailSettings = {
  host: null,
  port: 25,
  secure: false,
  user: null,
  passwordSealed: null,
  from: null,
  recipients: null,
  severity: 4,
};
const SENDER = 'portal@granary.invalid';

export class MailSettingService {
  readonly #tools: Pick<Tools, 'store' | 'vault' | 'events'>;

  constructor(tools: Pick<Tools, 'store' | 'vault' | 'events'>) {
    this.#tools = tools;
  }

  current(): MailSettings {
    return this.#tools.store.read(readMail);
  }

  /** Undefined while no server or no recipient is set. */
  mail(): EventMail | undefined {
    const { host, port, secure, user, passwordSealed, from, recipients, severity } = this.current();
    if (host === null || recipients === null) return undefined;
    const password = passwordSealed === null ? null : this.#tools.vault.unseal(passwordSealed);
    return { server: { host, port, secure, user, password }, from: from ?? SENDER, to: recipients, severity };
  }

  async update(change: MailChange, actor: PortalActor): Promise<MailSettings> {
    const { store, events } = this.#tools;
    const wanted = await this.#checked(change);
    return store.write((tx) => {
      const before = readMail(tx);
      const after: MailSettings = { ...before, ...wanted };
      writeSetting(tx, KEY, JSON.stringify(after));
      const wasOn = before.host !== null && before.recipients !== null;
      if (!wasOn) mailFromNowOn(tx, events);
      const title = 'Who is mailed events, and how, was changed.';
      events.record(tx, { severity: 'notice', title, subject: 'settings:mail', actor: actor.username });
      return after;
    });
  }

  async #checked(change: MailChange): Promise<Partial<MailSettings>> {
    const { host, user, password, from, recipients, ...plain } = change;
    if (host !== undefined && host !== '') await checkMailServer(host);
    if (from !== undefined && from !== '') checkMailAddress('smtp_from', from);
    const texts = {
      host,
      user,
      from,
      recipients: recipients === undefined || recipients === '' ? recipients : readRecipients(recipients),
      passwordSealed: password === undefined || password === '' ? password : this.#tools.vault.seal(password),
      // A password without its user is useless.
      ...(user === '' && { passwordSealed: '' }),
    };
    const given = Object.entries({ ...plain, ...texts }).filter(([, value]) => value !== undefined);
    return Object.fromEntries(given.map(([name, value]) => [name, value === '' ? null : value]));
  }
}

/** A release that knows more settings finds its defaults for them. */
function readMail(db: Db): MailSettings {
  const kept = readSetting(db, KEY);
  return kept === undefined ? NO_MAIL : { ...NO_MAIL, ...(JSON.parse(kept) as Partial<MailSettings>) };
}
