import { fail, WHOLE, type Db, type Page, type Tx } from '@granary/kernel';
import type { ProviderId, TenantId, UserId } from '../ids.ts';
import { isAdmin, scopeOf, type PortalActor } from '../actor.ts';
import { findProvider, listProviders } from '../providers/repository.ts';
import type { Tools } from '../tools.ts';
import { listNames } from '../users/repository.ts';
import * as repository from './repository.ts';
import type { Tenant } from './tenant.ts';
import { tenantView, type TenantView } from './view.ts';

/** Every user is a tenant of every provider; networks belong to tenants. */
export class TenantService {
  readonly #tools: Pick<Tools, 'store'>;

  constructor(tools: Pick<Tools, 'store'>) {
    this.#tools = tools;
  }

  list(actor: PortalActor, page: Page): { tenants: TenantView[]; total: number } {
    const scope = scopeOf(actor);
    return this.#tools.store.read((db) => ({
      tenants: repository.listTenants(db, scope, page).map(tenantView),
      total: repository.countTenants(db, scope),
    }));
  }
}

/** Part of adding a user, whose event tells of it; safe to repeat. */
export function addTenantsOfUser(tx: Tx, userId: UserId, username: string): void {
  for (const { id: providerId, key } of listProviders(tx, true, WHOLE))
    repository.insertTenant(tx, { userId, providerId, name: `${username}@${key}` });
}

/** Part of adding a provider, whose event tells of it; safe to repeat. */
export function addTenantsOfProvider(tx: Tx, providerId: ProviderId): void {
  const provider = findProvider(tx, providerId);
  if (!provider) return;
  for (const { id: userId, username } of listNames(tx))
    repository.insertTenant(tx, { userId, providerId, name: `${username}@${provider.key}` });
}

export function findTenant(db: Db, tenant: { userId: UserId; providerId: ProviderId }): Tenant | undefined {
  return repository.findTenantOf(db, tenant);
}

/** The tenant, if it is one of the caller's and of a provider the caller sees; else it is not found. */
export function tenantOfProvider(
  db: Db,
  actor: PortalActor,
  { tenantId, providerId }: { tenantId: TenantId; providerId: ProviderId },
): Tenant {
  const provider = visibleProvider(db, actor, providerId);
  const tenant = repository.findTenantById(db, scopeOf(actor), tenantId);
  if (tenant?.providerId !== providerId)
    throw fail('not_found', { kind: 'tenant', id: `${tenantId} at provider ${provider.name}` });
  return tenant;
}

export function visibleProvider(db: Db, actor: PortalActor, providerId: ProviderId): { readonly name: string } {
  const provider = findProvider(db, providerId);
  const isVisible = isAdmin(actor) || (provider?.enabled === true && !provider.hidden);
  if (!provider || !isVisible) throw fail('not_found', { kind: 'provider', id: providerId });
  return provider;
}
