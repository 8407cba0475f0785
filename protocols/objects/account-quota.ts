import type { ObjectStore } from '@granary/storage/object-store';
import type { AccountState } from './context.ts';

/** Under this name among an account's metadata: `X-Account-Meta-Quota-Bytes`, which only operators set. */
export const ACCOUNT_QUOTA = 'quota-bytes';

/** How many bytes more an account may store, by whichever protocol. */
export function accountRoom(store: ObjectStore, { id, metadata }: Pick<AccountState, 'id' | 'metadata'>): number {
  const quota = metadata[ACCOUNT_QUOTA];
  return quota === undefined ? Infinity : Number(quota) - store.usage(id).bytes;
}
