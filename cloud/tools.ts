import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { EventLog, Locks, systemClock, type Clock, type Store, type Vault } from '@granary/kernel';
import { AddressAllocator } from './addresses/allocator.ts';
import { ConfigError, configFileOf, loadConfig } from './config/load.ts';
import { isIpv4Range, overlapOfPublic } from './config/rules.ts';
import type { Config } from './config/schema.ts';
import { openCloudVault } from './hosted-arrays/vault.ts';
import { DriveFiles } from './inventory/drive-files.ts';
import type { CloudOptions } from './options.ts';
import { recoverStore, type Recovered } from './recovery/recover.ts';

/** What every part of a cloud stands on. */
export interface Tools {
  readonly options: CloudOptions;
  readonly config: Config;
  readonly folder: string;
  readonly store: Store;
  readonly clock: Clock;
  readonly events: EventLog;
  readonly vault: Vault;
  readonly files: DriveFiles;
  readonly locks: Locks;
  readonly addresses: AddressAllocator;
  readonly recovered: Recovered;
}

export async function openTools(options: CloudOptions): Promise<Tools> {
  const { dataDir, clock = systemClock } = options;
  const config = loadConfig(options);
  const addresses = new AddressAllocator({ network: config.network, arrays: checkedRange(config, options.addresses) });
  const folder = join(dataDir, 'cloud');
  mkdirSync(join(folder, 'arrays'), { recursive: true, mode: 0o700 });
  const events = new EventLog(clock);
  const files = new DriveFiles(join(folder, 'nodes'));
  const recovered = await recoverStore({ folder, events, files, log: options.log });
  const { store } = recovered;
  return {
    options,
    config,
    folder,
    store,
    clock,
    events,
    vault: await openCloudVault(store, folder),
    files,
    recovered,
    locks: new Locks(),
    addresses,
  };
}

function checkedRange({ network }: Config, range: string | undefined): string | undefined {
  if (range === undefined) return undefined;
  if (!isIpv4Range(range))
    throw new ConfigError('--addresses', [`${range} is not an IPv4 range such as 127.64.0.0/16`]);
  const problems = overlapOfPublic(network, '--addresses', range);
  if (problems.length > 0) throw new ConfigError('--addresses', problems);
  return range;
}

/** Reported at the start: else the first order of an array would fail with it. */
export async function refuseForeignAddresses({ addresses, options, config }: Tools): Promise<void> {
  if (await addresses.isCarried()) return;
  const problem = 'this machine carries no address of it; choose a range it carries, or give it one of the addresses';
  if (options.addresses !== undefined) throw new ConfigError('--addresses', [`${options.addresses}: ${problem}`]);
  throw new ConfigError(configFileOf(options), [`network.arrays: ${config.network.arrays}: ${problem}`]);
}
