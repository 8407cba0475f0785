import type { Clock, EventLog, HostedConfiguration, MailServer, Store, Vault } from '@granary/kernel';
import { recordPrice } from '../prices/repository.ts';
import { findSettings, insertSettings, updateSettings } from './repository.ts';

/** As it is kept: the password sealed. */
interface KeptMailServer extends MailServer {
  /** Null: the array's own name. */
  readonly from: string | null;
}

const SECONDS_A_DAY = 24 * 3600;

/** What an administrator can set, as it is until they do. */
const defaults = {
  billingUnit: 'usd' as 'usd' | 'gbp' | 'eur' | 'aud' | 'krw' | 'jpy' | 'cny',
  uploadRatePerGb: 0,
  downloadRatePerGb: 0,
  apiIp: null as string | null,
  apiHostname: null as string | null,
  publicApiHostname: null as string | null,
  /** As the management interface is served, unless it was set. */
  sslTermination: false,
  region: 'us-east-1',
  /** Share of new drives that joins a policy in one step, %. */
  expansionPercent: 100,
  errorAlerts: false,
  errorThreshold: 100,
  nameServers: [] as readonly string[],
  nameServersDomain: null as string | null,
  rateLimitEnabled: false,
  rateLimit: 0,
  /** Hosts that notifications of buckets may be posted to. */
  notificationHosts: [] as readonly string[],
  virtualHostedStyle: false,
  adminAccess: false,
  tenantNameInUrl: false,
  tokenMinutes: 24 * 60,
  expirePassword: false,
  expirePasswordAfterSeconds: 90 * SECONDS_A_DAY,
  passwordHistory: 0,
  mailServer: null as KeptMailServer | null,
};

export type Settings = Readonly<typeof defaults>;

export interface CurrentSettings {
  readonly settings: Settings;
  readonly createdAt: number;
  readonly modifiedAt: number;
  readonly configuration: HostedConfiguration;
}

interface ArraySettingsOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly vault: Vault;
  readonly events: EventLog;
  /** Called after a change: cached settings and callers are dropped. */
  readonly changed: () => void;
  readonly configuration: () => HostedConfiguration;
}

export class ArraySettings {
  readonly #options: ArraySettingsOptions;
  readonly #listeners: (() => Promise<void>)[] = [];

  constructor(options: ArraySettingsOptions) {
    this.#options = options;
  }

  /** At the first start. */
  async create(): Promise<void> {
    const { store, clock } = this.#options;
    await store.write((tx) => insertSettings(tx, clock.now()));
  }

  /** The server that mails go through, ready to sign in to. */
  mailServer(): KeptMailServer | null {
    const { mailServer: kept } = this.current().settings;
    if (!kept) return null;
    return { ...kept, password: kept.password === null ? null : this.#options.vault.unseal(kept.password) };
  }

  async setMailServer(server: KeptMailServer | null, actor: string): Promise<void> {
    const { vault } = this.#options;
    const sealed = server && { ...server, password: server.password === null ? null : vault.seal(server.password) };
    const title = server ? `Mails go through ${server.host}.` : 'Mails are written to the outbox folder.';
    await this.change({ mailServer: sealed }, title, actor);
  }

  /** Called before a change is answered, so that the next request meets it. */
  onChange(listener: () => Promise<void>): void {
    this.#listeners.push(listener);
  }

  /** Holds from the next thing that asks; `title` is what the event says. */
  async change(changes: Partial<Settings>, title: string, actor: string): Promise<void> {
    const { store, clock, events, changed } = this.#options;
    await store.write((tx) => {
      const chosen = JSON.parse(findSettings(tx)?.chosen ?? '{}') as Partial<Settings>;
      updateSettings(tx, JSON.stringify({ ...chosen, ...changes }), clock.now());
      const { uploadRatePerGb: upload, downloadRatePerGb: download } = changes;
      if (upload !== undefined) recordPrice(tx, 'upload', upload, clock.now());
      if (download !== undefined) recordPrice(tx, 'download', download, clock.now());
      events.record(tx, { severity: 'notice', title, subject: 'settings:array', actor });
      tx.afterCommit(changed);
    });
    await this.apply();
  }

  /** Something that goes with the settings changed. */
  async apply(): Promise<object> {
    for (const listener of this.#listeners) await listener();
    return {};
  }

  current(): CurrentSettings {
    const { store, configuration } = this.#options;
    const row = store.read(findSettings);
    return {
      settings: {
        ...defaults,
        sslTermination: configuration().tls !== null,
        ...(JSON.parse(row?.chosen ?? '{}') as Partial<Settings>),
      },
      createdAt: row?.createdAt ?? 0,
      modifiedAt: row?.modifiedAt ?? 0,
      configuration: configuration(),
    };
  }
}
