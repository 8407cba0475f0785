import type { CloudId, ProviderGroupId, ProviderId } from '../ids.ts';

export interface Provider {
  readonly id: ProviderId;
  readonly name: string;
  readonly key: string;
  readonly groupId: ProviderGroupId | null;
  readonly cloudId: CloudId;
  readonly enabled: boolean;
  /** Left out of what users see. */
  readonly hidden: boolean;
  readonly createdAt: number;
}

export interface ProviderGroup {
  readonly id: ProviderGroupId;
  readonly name: string;
}
