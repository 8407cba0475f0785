import { generated, plain, sqlPage, Table, type Db, type Page, type SqlParams, type Tx } from '@granary/kernel';
import type { ProviderId, TenantId, UserId } from '../ids.ts';
import { usernameOf } from '../users/repository.ts';
import type { Tenant } from './tenant.ts';

const tenants = new Table<Tenant, 'id'>('tenants', {
  id: generated('id'),
  userId: plain('user_id'),
  providerId: plain('provider_id'),
  internalId: plain('internal_id'),
  name: plain('name'),
});

/** Tenants are numbered within their provider. */
const NEXT_INTERNAL_ID = '1 + coalesce((SELECT max(internal_id) FROM tenants WHERE provider_id = :providerId), 0)';

/** For queries of what belongs to tenants, by the column that has the tenant's id: the tenant is `t`. */
export function tenantJoin(column: string): string {
  return `JOIN tenants t ON t.id = ${column}`;
}

/**
 * Which rows of `tenants t` a query may see: one user's, or all (null). Two texts rather than one with an
 * `OR`, so that a user's own few are found by index.
 */
export function ownedBy(scope: UserId | null): { readonly sql: string; readonly params: SqlParams } {
  return scope === null ? { sql: 'TRUE', params: {} } : { sql: 't.user_id = :scope', params: { scope } };
}

export function listTenants(db: Db, scope: UserId | null, page: Page): (Tenant & { readonly username: string })[] {
  const { sql, params } = ownedBy(scope);
  return tenants.all<{ readonly username: string }>(
    db,
    `SELECT ${tenants.fields('t')}, ${usernameOf('t.user_id')} AS username FROM tenants t
     WHERE ${sql} ORDER BY t.id LIMIT :limit OFFSET :start`,
    { ...params, ...sqlPage(page) },
  );
}

export function countTenants(db: Db, scope: UserId | null): number {
  const { sql, params } = ownedBy(scope);
  return db.get<{ n: number }>(`SELECT count(*) AS n FROM tenants t WHERE ${sql}`, params)?.n ?? 0;
}

export function findTenantById(db: Db, scope: UserId | null, id: TenantId): Tenant | undefined {
  const { sql, params } = ownedBy(scope);
  return tenants.get(db, `SELECT ${tenants.fields('t')} FROM tenants t WHERE ${sql} AND t.id = :id`, { ...params, id });
}

export function findTenantOf(db: Db, tenant: { userId: UserId; providerId: ProviderId }): Tenant | undefined {
  return tenants.get(
    db,
    `SELECT ${tenants.fields()} FROM tenants WHERE user_id = :userId AND provider_id = :providerId`,
    tenant,
  );
}

/** Nothing if the user is a tenant of the provider already. */
export function insertTenant(tx: Tx, { userId, providerId, name }: Omit<Tenant, 'id' | 'internalId'>): void {
  tx.run(
    `INSERT INTO tenants (user_id, provider_id, internal_id, name)
     VALUES (:userId, :providerId, ${NEXT_INTERNAL_ID}, :name) ON CONFLICT (user_id, provider_id) DO NOTHING`,
    { userId, providerId, name },
  );
}

export function deleteTenantsOfProvider(tx: Tx, providerId: ProviderId): void {
  tx.run('DELETE FROM tenants WHERE provider_id = :providerId', { providerId });
}

export function deleteTenantsOfUser(tx: Tx, userId: UserId): void {
  tx.run('DELETE FROM tenants WHERE user_id = :userId', { userId });
}
