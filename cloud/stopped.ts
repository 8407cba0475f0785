import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Product } from '@granary/contract/cloud';
import { createLog, Store, type HostedConfiguration } from '@granary/kernel';
import { openCloudVault } from './hosted-arrays/vault.ts';
import { listOwned } from './addresses/repository.ts';
import { loadConfig } from './config/load.ts';
import { configurationOf } from './hosted-arrays/configuration.ts';
import { listArrays } from './hosted-arrays/repository.ts';
import { DriveFiles } from './inventory/drive-files.ts';
import { listDrivesOf } from './inventory/repository.ts';
import { migrations } from './migrations.ts';

/** Arrays of a cloud that is not running, as it would start them. One that runs keeps its database locked. */
export async function stoppedArrays(
  dataDir: string,
  product: Product = 'storage_array',
): Promise<HostedConfiguration[]> {
  const folder = join(dataDir, 'cloud');
  if (!existsSync(join(folder, 'cloud.db'))) throw new Error(`There is no cloud in ${dataDir}.`);
  const store = new Store(join(folder, 'cloud.db'), migrations);
  try {
    const sources = {
      config: loadConfig({ dataDir, log: createLog('cloud', 'silent') }),
      vault: await openCloudVault(store, folder),
      files: new DriveFiles(join(folder, 'nodes')),
      certificates: undefined,
      logLevel: 'info' as const,
    };
    return store
      .read(listArrays)
      .filter((array) => array.product === product && !array.removing)
      .map((array) => {
        const rows = store.read((db) => listDrivesOf(db, array.number));
        const owned = store.read((db) => listOwned(db, array.number));
        return configurationOf(array, { rows, owned, folder: join(folder, 'arrays', array.internalName) }, sources);
      });
  } finally {
    store.close();
  }
}
