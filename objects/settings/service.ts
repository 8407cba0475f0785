import type { Clock, HostedConfiguration, Store } from '@granary/kernel';
import { findSettings, insertSettings } from './repository.ts';

const SECONDS_A_DAY = 24 * 3600;

/** What an administrator can set, as it is until they do. */
const defaults = {
  billingUnit: 'usd' as 'usd' | 'gbp' | 'eur' | 'aud' | 'krw' | 'jpy' | 'cny',
  uploadRatePerGb: 0,
  downloadRatePerGb: 0,
  apiIp: null as string | null,
  apiHostname: null as string | null,
  rateLimitEnabled: false,
  rateLimit: 0,
  virtualHostedStyle: false,
  adminAccess: false,
  tenantNameInUrl: false,
  tokenMinutes: 24 * 60,
  expirePassword: false,
  expirePasswordAfterSeconds: 90 * SECONDS_A_DAY,
  passwordHistory: 0,
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
  readonly configuration: () => HostedConfiguration;
}

export class ArraySettings {
  readonly #options: ArraySettingsOptions;

  constructor(options: ArraySettingsOptions) {
    this.#options = options;
  }

  /** At the first start. */
  async create(): Promise<void> {
    const { store, clock } = this.#options;
    await store.write((tx) => insertSettings(tx, clock.now()));
  }

  current(): CurrentSettings {
    const { store, configuration } = this.#options;
    const row = store.read(findSettings);
    return {
      settings: { ...defaults, ...(JSON.parse(row?.chosen ?? '{}') as Partial<Settings>) },
      createdAt: row?.created_at ?? 0,
      modifiedAt: row?.modified_at ?? 0,
      configuration: configuration(),
    };
  }
}
