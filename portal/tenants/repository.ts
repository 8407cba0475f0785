import { generated, plain, sqlPage, Table, type Db, type Page, type SqlParams, type Tx } from '@granary/kernel';
import type { Tenant } from './tenant.ts';

const tenants = new Table<Tenant, 'id'>('tenants', {
  id: generated('id'),
  userId: plain('user_id'),
  providerId: plain('provider_id'),
  internalId: plain('internal_id'),
  name: plain('name'),
});

/**
 * Which rows of `tenants t` a query may see: one user's, or everybody's (null). Two texts rather than one with an
 * `OR`, so that a user's own few are found by index.
 */
export function ownedBy(scope: number | null): { readonly sql: string; readonly params: SqlParams } {
  return scope === null ? { sql: 'TRUE', params: {} } : { sql: 't.user_id = :scope', params: { scope } };
}

export function listTenants(db: Db, scope: number | null, page: Page): (Tenant & { readonly username: string })[] {
  const { sql, params } = ownedBy(scope);
  return tenants.all<{ readonly username: string }>(
    db,
    `SELECT ${tenants.fields('t')}, u.username FROM tenants t JOIN users u ON u.id = t.user_id
     WHERE ${sql} ORDER BY t.id LIMIT :limit OFFSET :start`,
    { ...params, ...sqlPage(page) },
  );
}

export function countTenants(db: Db, scope: number | null): number {
  const { sql, params } = ownedBy(scope);
  return db.get<{ n: number }>(`SELECT count(*) AS n FROM tenants t WHERE ${sql}`, params)?.n ?? 0;
}

export function findTenantById(db: Db, scope: number | null, id: number): Tenant | undefined {
  const { sql, params } = ownedBy(scope);
  return tenants.get(db, `SELECT ${tenants.fields('t')} FROM tenants t WHERE ${sql} AND t.id = :id`, { ...params, id });
}

export function findTenantOf(db: Db, tenant: { userId: number; providerId: number }): Tenant | undefined {
  return tenants.get(
    db,
    `SELECT ${tenants.fields()} FROM tenants WHERE user_id = :userId AND provider_id = :providerId`,
    tenant,
  );
}

/** A provider, if whoever asks sees it: users see the open ones, administrators (null) all. */
export function findProvider(db: Db, scope: number | null, id: number): { name: string } | undefined {
  const visible = scope === null ? '' : 'AND enabled = 1 AND hidden = 0';
  return db.get<{ name: string }>(`SELECT name FROM providers WHERE id = :id ${visible}`, { id });
}

export function insertTenantsOfUser(tx: Tx, userId: number, username: string): void {
  tx.run(
    `INSERT INTO tenants (user_id, provider_id, internal_id, name)
     SELECT :userId, p.id, 1 + coalesce((SELECT max(internal_id) FROM tenants t WHERE t.provider_id = p.id), 0),
       :username || '@' || p.key
     FROM providers p
     WHERE NOT EXISTS (SELECT 1 FROM tenants t WHERE t.user_id = :userId AND t.provider_id = p.id)
     ORDER BY p.id`,
    { userId, username },
  );
}

export function insertTenantsOfProvider(tx: Tx, providerId: number): void {
  tx.run(
    `INSERT INTO tenants (user_id, provider_id, internal_id, name)
     SELECT u.id, p.id,
       row_number() OVER (ORDER BY u.id)
         + coalesce((SELECT max(internal_id) FROM tenants t WHERE t.provider_id = p.id), 0),
       u.username || '@' || p.key
     FROM users u JOIN providers p ON p.id = :providerId
     WHERE u.removed_at IS NULL AND NOT EXISTS (SELECT 1 FROM tenants t WHERE t.user_id = u.id AND t.provider_id = p.id)
     ORDER BY u.id`,
    { providerId },
  );
}
