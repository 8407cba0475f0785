import type { Inventory } from '@granary/contract/cloud';
import type { Bytes } from '@granary/kernel';
import type { CloudId } from '../ids.ts';

/** A cloud that can host arrays, as last read from it. */
export interface Cloud {
  readonly id: CloudId;
  readonly name: string;
  readonly uuid: string;
  readonly enabled: boolean;
  /** `host:port` of its process. */
  readonly address: string;
  readonly adminUser: string;
  readonly adminKeySealed: string;
  readonly inventory: Inventory;
  readonly syncedAt: number;
  /** The certificate it is known by; null: it serves in the clear. */
  readonly trusted: string | null;
  /** When the portal last saw what its arrays do. */
  readonly seenAt: number | null;
}

/** How the operator offers a drive type; null where it is as the cloud says. */
export interface DriveTypeOffer {
  readonly cloudId: CloudId;
  readonly driveTypeId: number;
  readonly name: string | null;
  readonly displayCapacity: Bytes | null;
  readonly enabled: boolean | null;
}
