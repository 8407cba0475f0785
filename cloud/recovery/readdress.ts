import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLog, Store } from '@granary/kernel';
import { AddressAllocator } from '../addresses/allocator.ts';
import { configFileOf, ConfigError, loadConfig } from '../config/load.ts';
import { isIpv4Range } from '../config/rules.ts';
import { isAddressTaken, isPublicAddressTaken, listArrays } from '../hosted-arrays/repository.ts';
import { migrations } from '../migrations.ts';
import { clearOwner, setAddresses } from './repository.ts';

interface Decision {
  /** New addresses for every array, from this range. */
  readonly addresses?: string | undefined;
}

/**
 * Puts a copy of a cloud in charge of its own folder while it is not running: it drops where it came from and which portal
 * it belonged to. With a range, every array gets a new address of it, so that the copy can run beside the original.
 * Returns how many arrays have new addresses.
 */
export async function adoptFolder(dataDir: string, { addresses: range }: Decision): Promise<number> {
  if (range !== undefined && !isIpv4Range(range))
    throw new ConfigError('--addresses', [`${range} is not an IPv4 range such as 127.64.0.0/16`]);
  const store = new Store(join(dataDir, 'cloud', 'cloud.db'), migrations);
  try {
    const count = range === undefined ? 0 : await readdress(store, dataDir, range);
    await store.write((tx) => clearOwner(tx));
    return count;
  } finally {
    store.close();
  }
}

async function readdress(store: Store, dataDir: string, range: string): Promise<number> {
  const config = loadConfig({ dataDir, log: createLog('cloud', 'silent') });
  const allocator = new AddressAllocator({ network: config.network, arrays: range });
  if (!(await allocator.isCarried()))
    throw new ConfigError('--addresses', [`${range}: this machine carries none of it`]);
  const arrays = store.read(listArrays);
  for (const { number, publicAddress } of arrays) {
    const { host, port } = await allocator.forArray(number, (address) =>
      store.read((db) => isAddressTaken(db, address)),
    );
    const isTaken = (address: string) => store.read((db) => isPublicAddressTaken(db, address));
    const open = publicAddress === null ? null : await allocator.publicFor(number, port, isTaken);
    await store.write((tx) => setAddresses(tx, number, { host, port, publicAddress: open }));
  }
  const changed = { ...config, network: { ...config.network, arrays: range } };
  writeFileSync(configFileOf({ dataDir }), `${JSON.stringify(changed, null, 2)}\n`, { flush: true });
  return arrays.length;
}
