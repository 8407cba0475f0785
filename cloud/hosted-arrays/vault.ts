import { join } from 'node:path';
import { openVault, type Store, type Vault } from '@granary/kernel';
import { anySealedSecrets } from './repository.ts';

/** The vault that the secrets of arrays are sealed with. */
export function openCloudVault(store: Store, folder: string): Promise<Vault> {
  const keyFile = join(folder, 'vault.key');
  return openVault({ store, keyFile, sealedSample: () => store.read(anySealedSecrets) });
}
