import type { ArrayHandlers } from '../handlers.ts';
import type { VolumeEncryption } from './encryption.ts';

export function encryptionRoutes(encryption: VolumeEncryption): ArrayHandlers<'settings'> {
  return {
    setEncryptionPassword: async ({ encryption_pwd, old_encryption_pwd }, { actor, ip }) => {
      await encryption.setPassword(encryption_pwd, old_encryption_pwd, { actor: actor.username, ip });
      return {};
    },
    restoreEncryption: async ({ encryption_pwd }, { actor, ip }) => {
      await encryption.restore(encryption_pwd, { actor: actor.username, ip });
      return {};
    },
  };
}
