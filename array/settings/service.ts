import { checkMailAddress, checkMailServer, mailFromNowOn, readRecipients, type Db } from '@granary/kernel';
import { Deliveries } from '../deliveries.ts';
import { partOf } from '../engine/parts.ts';
import type { ArrayTools } from '../tools.ts';
import { readSetting, writeSetting } from './repository.ts';
import { defaultSettings, isMailed, type ArraySettings } from './values.ts';

/** As callers send it: what is left out stays, an empty text takes it away. */
export type SettingsChange = { readonly [K in keyof ArraySettings]?: NonNullable<ArraySettings[K]> | undefined };

const KEY = 'array';
/** What the engine does not keep. */
const READ_MODE = 'raid_read_mode';

export class SettingsService {
  readonly #tools: ArrayTools;
  readonly #deliveries: Deliveries;
  #current: ArraySettings | undefined;

  constructor(tools: ArrayTools) {
    this.#tools = tools;
    this.#deliveries = new Deliveries(tools, { send: () => this.#sendReadMode(), what: 'how mirrors are read' });
    tools.readings.onReading(() => this.#deliveries.catchUp());
  }

  /** At the start: the engine reads mirrors in turns until it gets the setting. */
  async reconcile(): Promise<void> {
    if (this.current().raidReadMode !== defaultSettings.raidReadMode) await this.#deliveries.pushAll([READ_MODE]);
  }

  /** As they are this moment; costs nothing. */
  current(): ArraySettings {
    return (this.#current ??= this.#tools.store.read(readSettings));
  }

  /** Whether deleted volumes are kept for a while, and how long. */
  recycleBin(): { readonly isOn: boolean; readonly hours: number } {
    const { recycleBin, recycleBinHours } = this.current();
    return { isOn: recycleBin, hours: recycleBinHours };
  }

  /** To sign in to the mail server. */
  smtpPassword(): string | null {
    const { smtpPassword } = this.current();
    return smtpPassword === null ? null : this.#tools.vault.unseal(smtpPassword);
  }

  async update(wanted: SettingsChange, actor: string): Promise<ArraySettings> {
    const { store, events, vault, engine } = this.#tools;
    const change = await checked(wanted);
    if (change.raidReadMode !== undefined) partOf(engine, 'hardware');
    if (typeof change.smtpPassword === 'string') change.smtpPassword = vault.seal(change.smtpPassword);
    const changed = await store.write((tx) => {
      const before = readSettings(tx);
      const after: ArraySettings = { ...before, ...change };
      writeSetting(tx, KEY, JSON.stringify(after));
      if (isMailed(after) && !isMailed(before)) mailFromNowOn(tx, events);
      const names = Object.keys(change).map((name) => words[name as keyof ArraySettings]);
      const title =
        names.length === 0 ? 'Settings were left as they are.' : `Settings were changed: ${names.join(', ')}.`;
      events.record(tx, { severity: 'notice', title, subject: 'settings:array', actor });
      tx.afterCommit(() => {
        this.#current = after;
      });
      return after;
    });
    if (change.raidReadMode !== undefined) await this.#deliveries.push(READ_MODE);
    return changed;
  }

  async #sendReadMode(): Promise<void> {
    await partOf(this.#tools.engine, 'hardware').setReadMode(this.current().raidReadMode);
  }
}

const words: Readonly<Record<keyof ArraySettings, string>> = {
  recycleBin: 'recycle bin',
  recycleBinHours: 'hours deleted volumes are kept',
  suspendSeconds: 'seconds a snapshot set may hold writes back',
  cpuUsageAlert: 'processor alert',
  memUsageAlert: 'memory alert',
  raidReadMode: 'which drive of a mirror is read',
  migrationsMax: 'how many volumes are moved at a time',
  smtpHost: 'mail server',
  smtpPort: 'port of the mail server',
  smtpSecure: 'TLS to the mail server',
  smtpUser: 'user at the mail server',
  smtpPassword: 'password at the mail server',
  smtpFrom: 'sender of mails',
  noticeTo: 'who is mailed',
  noticeSeverity: 'what is mailed',
};

/** A release that knows more settings finds its defaults for them. */
function readSettings(db: Db): ArraySettings {
  const kept = readSetting(db, KEY);
  return kept === undefined ? defaultSettings : { ...defaultSettings, ...(JSON.parse(kept) as Partial<ArraySettings>) };
}

async function checked(wanted: SettingsChange): Promise<{ -readonly [K in keyof ArraySettings]?: ArraySettings[K] }> {
  const given = Object.entries(wanted).filter(([, value]) => value !== undefined);
  const change = Object.fromEntries(given.map(([name, value]) => [name, value === '' ? null : value])) as {
    -readonly [K in keyof ArraySettings]?: ArraySettings[K];
  };
  if (typeof change.smtpHost === 'string') await checkMailServer(change.smtpHost);
  if (typeof change.smtpFrom === 'string') checkMailAddress('smtp_from', change.smtpFrom);
  if (typeof change.noticeTo === 'string') change.noticeTo = readRecipients(change.noticeTo);
  // A password without its user is useless.
  return change.smtpUser === null ? { ...change, smtpPassword: null } : change;
}
