import type { OutputOf } from '@granary/contract';
import type { peerApi } from '@granary/contract/array';
import type { HostedConfiguration } from '@granary/kernel';
import manifest from '../package.json' with { type: 'json' };

/** How arrays name themselves to each other. */
export type Identity = OutputOf<typeof peerApi.groups.peers.hello>['array'];

/** Of arrays whose portal has not named one. */
const PROVIDER = 'Granary';

export function identityOf(
  { uuid, internalName, displayName, provider = PROVIDER }: HostedConfiguration,
  encryption: { readonly isActive: boolean },
): Identity {
  return {
    uuid,
    name: internalName,
    display_name: displayName,
    provider,
    software_version: manifest.version,
    is_encryption_active: encryption.isActive,
  };
}
