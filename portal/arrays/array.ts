import type { ArraySpec, Product } from '@granary/contract/cloud';
import { denialReason, type ArrayState } from '@granary/contract/portal';
import type { ArrayId, CloudId, ProviderId, UserId } from '../ids.ts';

/** What the record keeps of the specification; names, secrets and interfaces have places of their own. */
export type KeptSpec = Omit<
  ArraySpec,
  | 'product'
  | 'name'
  | 'owner'
  | 'owner_id'
  | 'provider'
  | 'initial_passcode'
  | 'internal_key'
  | 'interfaces'
  | 'public_service'
  | 'locked_down'
  | Returned
> &
  Partial<Pick<ArraySpec, Returned>>;

/** What the portal has heard of that the array gave back. */
type Returned = 'drives_returned' | 'policy_drives_returned' | 'proxies_returned';

/** An array as the portal keeps it. */
export interface ArrayRecord {
  readonly id: ArrayId;
  readonly uuid: string;
  readonly name: string;
  readonly description: string | null;
  readonly status: ArrayState;
  readonly statusMessage: string | null;
  readonly progress: number;
  readonly product: Product;
  readonly ownerId: UserId;
  readonly providerId: ProviderId;
  readonly cloudId: CloudId;
  readonly spec: KeptSpec;
  readonly initialPasscodeSealed: string;
  readonly internalKeySealed: string;
  readonly zones: readonly string[];
  /** Null until its cloud has placed it. */
  readonly numberInCloud: number | null;
  readonly storageControllers: number;
  readonly internalName: string | null;
  readonly managementUrl: string | null;
  readonly ipAddress: string | null;
  readonly ipv6Address: string | null;
  readonly publicIp: string | null;
  /** The cache in effect; null until its cloud has said. */
  readonly cacheMb: number | null;
  /** The bill accounts for all outages up to this one. */
  readonly outageSeen: string | null;
  /** An administrator allows no changes. */
  readonly isLockedDown: boolean;
  /** By the changes of encryption that the bill accounts for, up to `encryptionSeen`. */
  readonly isEncrypted: boolean;
  readonly encryptionSeen: string | null;
  readonly createdAt: number;
  readonly deletedAt: number | null;
  /** Until when a deleted array keeps what it holds; null when it does not. */
  readonly purgeAt: number | null;
  /** Since when nothing of it is left at its cloud. */
  readonly purgedAt: number | null;
}

/** With what is shown of its owner. */
export interface PortalArray extends ArrayRecord {
  readonly owner: string;
  readonly ownerUuid: string;
}

/** As what an array is counted: an order that was denied has not failed. */
export function countedStateOf({
  status,
  statusMessage: message,
}: Pick<ArrayRecord, 'status' | 'statusMessage'>): ArrayState | 'denied' {
  return denialReason({ status, message }) === undefined ? status : 'denied';
}
