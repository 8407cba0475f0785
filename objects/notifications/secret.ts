import type { Vault } from '@granary/kernel';

/** Signs what is posted by the rules of a bucket: made anew each time, so that it is stored nowhere. */
export function notificationSecret(vault: Vault, seed: string): string {
  return vault.mark(`notifications of a bucket: ${seed}`);
}
