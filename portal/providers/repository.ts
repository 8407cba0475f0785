import type { Db, Tx } from '@granary/kernel';
import { sqlPage, type Page } from '../paging.ts';

export interface ProviderRow {
  readonly id: number;
  readonly name: string;
  readonly key: string;
  readonly provider_group_id: number | null;
  readonly cloud_id: number;
  readonly enabled: number;
  readonly hidden: number;
}

export interface GroupRow {
  readonly id: number;
  readonly name: string;
}

/** Users see the providers that are open, not hidden, and whose cloud is open. */
const SEEN = `(:all = 1 OR (providers.enabled = 1 AND hidden = 0
  AND EXISTS (SELECT 1 FROM clouds WHERE clouds.id = cloud_id AND clouds.enabled = 1)))`;

export function listProviders(db: Db, all: boolean, page: Page): ProviderRow[] {
  const sql = `SELECT * FROM providers WHERE ${SEEN} ORDER BY id LIMIT :limit OFFSET :start`;
  return db.all<ProviderRow>(sql, { all: Number(all), ...sqlPage(page) });
}

export function countProviders(db: Db, all: boolean): number {
  return db.get<{ n: number }>(`SELECT count(*) AS n FROM providers WHERE ${SEEN}`, { all: Number(all) })?.n ?? 0;
}

export function findProvider(db: Db, id: number, all = true): ProviderRow | undefined {
  return db.get<ProviderRow>(`SELECT * FROM providers WHERE id = :id AND ${SEEN}`, { id, all: Number(all) });
}

export function findProviderByKey(db: Db, key: string, all: boolean): ProviderRow | undefined {
  return db.get<ProviderRow>(`SELECT * FROM providers WHERE key = :key AND ${SEEN}`, { key, all: Number(all) });
}

/** A name or a key that another provider has. */
export function findClash(db: Db, name: string, key: string, self: number): ProviderRow | undefined {
  const sql = 'SELECT * FROM providers WHERE (name = :name OR key = :key) AND id <> :self';
  return db.get<ProviderRow>(sql, { name, key, self });
}

interface NewProvider {
  readonly name: string;
  readonly key: string;
  readonly cloudId: number;
  readonly enabled: boolean;
  readonly now: number;
}

export function insertProvider(tx: Tx, { enabled, ...provider }: NewProvider): number {
  return tx.run(
    `INSERT INTO providers (name, key, cloud_id, enabled, created_at) VALUES (:name, :key, :cloudId, :enabled, :now)`,
    { ...provider, enabled: Number(enabled) },
  ).insertedId;
}

export function updateProvider(tx: Tx, id: number, name: string, enabled: boolean): void {
  tx.run('UPDATE providers SET name = :name, enabled = :enabled WHERE id = :id', {
    id,
    name,
    enabled: Number(enabled),
  });
}

export function deleteProvider(tx: Tx, id: number): void {
  tx.run('DELETE FROM providers WHERE id = :id', { id });
}

export interface ProviderUse {
  readonly arrays: number;
  readonly billed: number;
  readonly networks: number;
  readonly vlans: number;
}

export function useOfProvider(db: Db, id: number): ProviderUse {
  const sql = `SELECT
      (SELECT count(*) FROM arrays WHERE provider_id = :id AND purged_at IS NULL) AS arrays,
      (SELECT count(*) FROM arrays WHERE provider_id = :id AND purged_at IS NOT NULL) AS billed,
      (SELECT count(*) FROM virtual_networks WHERE provider_id = :id) AS networks,
      (SELECT count(*) FROM vlans WHERE provider_id = :id) AS vlans`;
  return db.get<ProviderUse>(sql, { id }) as ProviderUse;
}

export function listGroups(db: Db, page: Page): GroupRow[] {
  return db.all<GroupRow>('SELECT * FROM provider_groups ORDER BY id LIMIT :limit OFFSET :start', sqlPage(page));
}

export function findGroup(db: Db, id: number): GroupRow | undefined {
  return db.get<GroupRow>('SELECT * FROM provider_groups WHERE id = :id', { id });
}

export function findGroupByName(db: Db, name: string): GroupRow | undefined {
  return db.get<GroupRow>('SELECT * FROM provider_groups WHERE name = :name', { name });
}

export function insertGroup(tx: Tx, name: string): number {
  return tx.run('INSERT INTO provider_groups (name) VALUES (:name)', { name }).insertedId;
}

export function renameGroup(tx: Tx, id: number, name: string): void {
  tx.run('UPDATE provider_groups SET name = :name WHERE id = :id', { id, name });
}

export function deleteGroup(tx: Tx, id: number): void {
  tx.run('DELETE FROM provider_groups WHERE id = :id', { id });
}

export function countProvidersOfGroup(db: Db, id: number): number {
  return db.get<{ n: number }>('SELECT count(*) AS n FROM providers WHERE provider_group_id = :id', { id })?.n ?? 0;
}
