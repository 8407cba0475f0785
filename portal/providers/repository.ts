import { flag, generated, plain, sqlPage, Table, type Changes, type Db, type Page, type Tx } from '@granary/kernel';
import type { CloudId, ProviderGroupId, ProviderId } from '../ids.ts';
import { isOpenCloud } from '../clouds/repository.ts';
import type { Provider, ProviderGroup } from './provider.ts';

const providers = new Table<Provider, 'id'>('providers', {
  id: generated('id'),
  name: plain('name'),
  key: plain('key'),
  groupId: plain('provider_group_id'),
  cloudId: plain('cloud_id'),
  enabled: flag('enabled'),
  hidden: flag('hidden'),
  createdAt: plain('created_at'),
});
const groups = new Table<ProviderGroup, 'id'>('provider_groups', { id: generated('id'), name: plain('name') });

const SELECT = `SELECT ${providers.fields()} FROM providers`;
const SELECT_GROUP = `SELECT ${groups.fields()} FROM provider_groups`;

/** Users see the providers that are open, not hidden, and whose cloud is open. */
const SEEN = `removed_at IS NULL AND (:all = 1 OR (providers.enabled = 1 AND hidden = 0
  AND ${isOpenCloud('cloud_id')}))`;

/** For queries of what providers sell, by the column that has the provider's id. A removed one keeps the former name. */
export function nameOfProvider(column: string): string {
  return `(SELECT coalesce(former_name, name) FROM providers WHERE providers.id = ${column})`;
}

/** What records of its arrays show of a provider, also of a removed one. */
export function findSeller(db: Db, id: ProviderId): Pick<Provider, 'name' | 'key'> | undefined {
  const sql =
    'SELECT coalesce(former_name, name) AS name, coalesce(former_key, key) AS key FROM providers WHERE id = :id';
  return db.get<Pick<Provider, 'name' | 'key'>>(sql, { id });
}

export function listProviders(db: Db, all: boolean, page: Page): Provider[] {
  const sql = `${SELECT} WHERE ${SEEN} ORDER BY id LIMIT :limit OFFSET :start`;
  return providers.all(db, sql, { all: Number(all), ...sqlPage(page) });
}

export function countProviders(db: Db, all: boolean): number {
  return db.get<{ n: number }>(`SELECT count(*) AS n FROM providers WHERE ${SEEN}`, { all: Number(all) })?.n ?? 0;
}

export function findProvider(db: Db, id: ProviderId, all = true): Provider | undefined {
  return providers.get(db, `${SELECT} WHERE id = :id AND ${SEEN}`, { id, all: Number(all) });
}

export function findProviderByKey(db: Db, key: string, all: boolean): Provider | undefined {
  return providers.get(db, `${SELECT} WHERE key = :key AND ${SEEN}`, { key, all: Number(all) });
}

export function listProvidersOfCloud(db: Db, cloudId: CloudId): Provider[] {
  return providers.all(db, `${SELECT} WHERE cloud_id = :cloudId AND removed_at IS NULL ORDER BY id`, { cloudId });
}

/** A name or a key that another provider has. */
export function findClash(db: Db, name: string, key: string, self: number): Provider | undefined {
  const sql = `${SELECT} WHERE (name = :name OR key = :key) AND id <> :self`;
  return providers.get(db, sql, { name, key, self });
}

type NewProvider = Omit<Provider, 'id'>;

export function insertProvider(tx: Tx, provider: NewProvider): ProviderId {
  return providers.insert(tx, provider);
}

export function updateProvider(
  tx: Tx,
  id: ProviderId,
  changes: Changes<Pick<Provider, 'name' | 'enabled' | 'hidden' | 'groupId'>>,
): void {
  providers.update(tx, { id }, changes);
}

/** Keeps what bills name. No name or key has a control character or a space, so the new ones are free. */
export function removeProvider(tx: Tx, id: ProviderId, now: number): void {
  tx.run(
    `UPDATE providers SET former_name = name, former_key = key, name = 'removed' || char(31) || id,
       key = 'removed ' || id, provider_group_id = NULL, enabled = 0, removed_at = :now WHERE id = :id`,
    { id, now },
  );
}

export function deleteProvider(tx: Tx, id: ProviderId): void {
  tx.run('DELETE FROM providers WHERE id = :id', { id });
}

export function listGroups(db: Db, page: Page): ProviderGroup[] {
  return groups.all(db, `${SELECT_GROUP} ORDER BY id LIMIT :limit OFFSET :start`, sqlPage(page));
}

export function countGroups(db: Db): number {
  return db.get<{ n: number }>('SELECT count(*) AS n FROM provider_groups')?.n ?? 0;
}

export function findGroup(db: Db, id: ProviderGroupId): ProviderGroup | undefined {
  return groups.get(db, `${SELECT_GROUP} WHERE id = :id`, { id });
}

export function findGroupByName(db: Db, name: string): ProviderGroup | undefined {
  return groups.get(db, `${SELECT_GROUP} WHERE name = :name`, { name });
}

export function insertGroup(tx: Tx, name: string): ProviderGroupId {
  return groups.insert(tx, { name });
}

export function renameGroup(tx: Tx, id: ProviderGroupId, name: string): void {
  groups.update(tx, { id }, { name });
}

export function deleteGroup(tx: Tx, id: ProviderGroupId): void {
  tx.run('DELETE FROM provider_groups WHERE id = :id', { id });
}

export function countProvidersOfGroup(db: Db, id: ProviderGroupId): number {
  return db.get<{ n: number }>('SELECT count(*) AS n FROM providers WHERE provider_group_id = :id', { id })?.n ?? 0;
}
