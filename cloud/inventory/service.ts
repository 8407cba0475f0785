import type { Inventory } from '@granary/contract/cloud';
import type { Store } from '@granary/kernel';
import type { Config } from '../config/schema.ts';
import type { Stock } from './allocation.ts';
import { countAll, countFree } from './repository.ts';

interface CloudInventoryOptions {
  readonly store: Store;
  readonly config: Config;
  readonly uuid: string;
  readonly version: string;
  readonly check: () => Promise<string[]>;
  /** Addresses that virtual networks must leave alone. */
  readonly reservedRanges: () => string[];
}

/** What a config from before these had prices says. */
const FREE_OF_CHARGE: NonNullable<Config['object_storage']> = {
  proxy_hourly_price_usd: '0',
  public_objs_hourly_price_usd: '0',
};

/** What a cloud offers, and how much of it is left. */
export class CloudInventory {
  readonly #options: CloudInventoryOptions;

  constructor(options: CloudInventoryOptions) {
    this.#options = options;
  }

  get(): Inventory {
    const { config, uuid, version, reservedRanges } = this.#options;
    const { features, flash_cache, network } = config;
    const { encryption_hourly_price_usd: encryptionPrice = '0', ...prices } = config.object_storage ?? FREE_OF_CHARGE;
    return {
      uuid,
      version,
      drive_types: this.#driveTypes(),
      // Sizes are for the machine that runs the arrays; people read `specs`.
      engine_types: config.engine_types.map(({ vcpus: _, memory_mb: __, ...type }) => type),
      app_engines: config.app_engines,
      fibre_channel: features.fibre_channel,
      file_lifecycle: features.file_lifecycle,
      iscsi_dual_target: features.iscsi_dual_target,
      object_storage: features.object_storage,
      flash_cache: {
        enabled: flash_cache.enabled,
        increment_gb: flash_cache.increment_gb,
        partition_gb: flash_cache.partition_gb,
      },
      minimum_drives: config.minimum_drives,
      zones: config.zones,
      policy_types: config.policy_types,
      vlans: network.vlans,
      cache_gb_hourly_price_usd: flash_cache.gb_hourly_price_usd,
      public_ip_hourly_price_usd: network.public_ip_hourly_price_usd,
      ...prices,
      objs_encryption_hourly_price_usd: encryptionPrice,
      reserved_ranges: reservedRanges(),
    };
  }

  check(): Promise<string[]> {
    return this.#options.check();
  }

  #driveTypes(): Inventory['drive_types'] {
    const { store, config } = this.#options;
    const free = store.read(countFree);
    const totals = new Map(store.read(countAll).map(({ type, count }) => [type, count]));
    return config.drive_types.map((type, order) => {
      const ofType = free.filter((stock) => stock.type === type.key);
      return {
        ...type,
        order,
        total: totals.get(type.key) ?? 0,
        free: sum(ofType),
        free_by_zone: Object.fromEntries(
          config.zones.map(({ name }) => [name, sum(ofType.filter(({ zone }) => zone === name))]),
        ),
      };
    });
  }
}

function sum(stock: readonly Stock[]): number {
  return stock.reduce((total, { count }) => total + count, 0);
}
