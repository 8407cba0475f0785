import type { OutputOf } from '@granary/contract';
import type { peerApi } from '@granary/contract/array';
import type { HostedConfiguration } from '@granary/kernel';
import manifest from '../package.json' with { type: 'json' };

/** How arrays name themselves to each other. */
export type Identity = OutputOf<typeof peerApi.groups.peers.hello>['array'];

const PROVIDER = 'Granary';

export function identityOf(
  { uuid, internalName, displayName }: HostedConfiguration,
  encryption: { readonly isActive: boolean },
): Identity {
  return {
    uuid,
    name: internalName,
    display_name: displayName,
    provider: PROVIDER,
    software_version: manifest.version,
    is_encryption_active: encryption.isActive,
  };
}
