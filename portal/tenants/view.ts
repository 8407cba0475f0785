import type { RecordOf } from '@granary/contract';
import type { Tenant as TenantRecord } from '@granary/contract/portal';
import type { Tenant } from './tenant.ts';

export type TenantView = RecordOf<typeof TenantRecord>;

export function tenantView(tenant: Tenant & { readonly username: string }): TenantView {
  return {
    id: tenant.id,
    user_id: tenant.userId,
    provider_id: tenant.providerId,
    internal_id: tenant.internalId,
    username: tenant.username,
    name: tenant.name,
  };
}
