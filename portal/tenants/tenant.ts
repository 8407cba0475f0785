import type { ProviderId, TenantId, UserId } from '../ids.ts';

export interface Tenant {
  readonly id: TenantId;
  readonly userId: UserId;
  readonly providerId: ProviderId;
  /** Counts the tenants of the provider. */
  readonly internalId: number;
  readonly name: string;
}
