import type { RecordOf } from '@granary/contract';
import type { Tenant } from '@granary/contract/portal';
import { fail, type Db, type Tx } from '@granary/kernel';
import { scopeOf, type PortalActor } from '../actor.ts';
import type { Page } from '../paging.ts';
import type { Tools } from '../tools.ts';
import * as repository from './repository.ts';
import type { TenantRow } from './repository.ts';

type TenantView = RecordOf<typeof Tenant>;

/** Every user is a tenant of every provider; networks belong to tenants. */
export class Tenants {
  readonly #tools: Pick<Tools, 'store'>;

  constructor(tools: Pick<Tools, 'store'>) {
    this.#tools = tools;
  }

  list(actor: PortalActor, page: Page): { tenants: TenantView[]; total: number } {
    const scope = scopeOf(actor);
    return this.#tools.store.read((db) => ({
      tenants: repository.listTenants(db, scope, page).map(viewOf),
      total: repository.countTenants(db, scope),
    }));
  }
}

/** Part of adding a user, whose event tells of it; safe to repeat. */
export function addTenantsOfUser(tx: Tx, userId: number, username: string): void {
  repository.insertTenantsOfUser(tx, userId, username);
}

/** Part of adding a provider, whose event tells of it; safe to repeat. */
export function addTenantsOfProvider(tx: Tx, providerId: number): void {
  repository.insertTenantsOfProvider(tx, providerId);
}

export function findTenant(db: Db, tenant: { userId: number; providerId: number }): TenantRow | undefined {
  return repository.findTenantOf(db, tenant);
}

/** The tenant, if it is one of the caller's and of a provider the caller sees; else it is not found. */
export function tenantOfProvider(
  db: Db,
  actor: PortalActor,
  { tenantId, providerId }: { tenantId: number; providerId: number },
): TenantRow {
  const provider = visibleProvider(db, actor, providerId);
  const tenant = repository.findTenantById(db, scopeOf(actor), tenantId);
  if (tenant?.provider_id !== providerId)
    throw fail('not_found', { kind: 'tenant', id: `${tenantId} at provider ${provider.name}` });
  return tenant;
}

export function visibleProvider(db: Db, actor: PortalActor, providerId: number): { readonly name: string } {
  const provider = repository.findProvider(db, scopeOf(actor), providerId);
  if (!provider) throw fail('not_found', { kind: 'provider', id: providerId });
  return provider;
}

function viewOf(row: TenantRow & { username: string }): TenantView {
  return {
    id: row.id,
    user_id: row.user_id,
    provider_id: row.provider_id,
    internal_id: row.internal_id,
    username: row.username,
    name: row.name,
  };
}
