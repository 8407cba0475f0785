export interface Tenant {
  readonly id: number;
  readonly userId: number;
  readonly providerId: number;
  /** Counts the tenants of the provider. */
  readonly internalId: number;
  readonly name: string;
}
