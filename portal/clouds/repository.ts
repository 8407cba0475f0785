import type { Inventory } from '@granary/contract/cloud';
import type { Db, Tx } from '@granary/kernel';
import { sqlPage, type Page } from '../paging.ts';

interface StoredCloud {
  readonly id: number;
  readonly name: string;
  readonly uuid: string;
  readonly enabled: number;
  readonly address: string;
  readonly admin_user: string;
  readonly admin_key_sealed: string;
  readonly inventory: string;
  readonly synced_at: number;
  readonly trusted: string | null;
}

export interface CloudRow extends Omit<StoredCloud, 'inventory' | 'enabled'> {
  readonly enabled: boolean;
  readonly inventory: Inventory;
}

export interface DriveTypeOffer {
  readonly drive_type_id: number;
  readonly name: string | null;
  readonly display_capacity_gb: number | null;
  readonly enabled: number | null;
}

/** `visibleOnly` leaves out the clouds an operator has closed: users never see them. */
export function listClouds(db: Db, visibleOnly: boolean, page: Page): CloudRow[] {
  const sql = 'SELECT * FROM clouds WHERE enabled >= :enabled ORDER BY id LIMIT :limit OFFSET :start';
  return db.all<StoredCloud>(sql, { enabled: Number(visibleOnly), ...sqlPage(page) }).map(fromStored);
}

export function countClouds(db: Db, visibleOnly: boolean): number {
  const sql = 'SELECT count(*) AS n FROM clouds WHERE enabled >= :enabled';
  return db.get<{ n: number }>(sql, { enabled: Number(visibleOnly) })?.n ?? 0;
}

export function findCloud(db: Db, id: number, visibleOnly = false): CloudRow | undefined {
  const sql = 'SELECT * FROM clouds WHERE id = :id AND enabled >= :enabled';
  const row = db.get<StoredCloud>(sql, { id, enabled: Number(visibleOnly) });
  return row && fromStored(row);
}

export function findCloudByName(db: Db, name: string): CloudRow | undefined {
  const row = db.get<StoredCloud>('SELECT * FROM clouds WHERE name = :name', { name });
  return row && fromStored(row);
}

export function findCloudByUuid(db: Db, uuid: string): CloudRow | undefined {
  const row = db.get<StoredCloud>('SELECT * FROM clouds WHERE uuid = :uuid', { uuid });
  return row && fromStored(row);
}

export function findCloudOfProvider(db: Db, providerId: number): number | undefined {
  const sql = 'SELECT cloud_id FROM providers WHERE id = :providerId';
  return db.get<{ cloud_id: number }>(sql, { providerId })?.cloud_id;
}

export interface CloudValues {
  readonly name: string;
  readonly enabled: boolean;
  readonly address: string;
  readonly adminUser: string;
  readonly adminKeySealed: string;
  readonly inventory: Inventory;
  readonly trusted: string | null;
  readonly now: number;
}

export function insertCloud(tx: Tx, values: CloudValues): number {
  return tx.run(
    `INSERT INTO clouds (name, uuid, enabled, address, admin_user, admin_key_sealed, inventory, synced_at, trusted)
     VALUES (:name, :uuid, :enabled, :address, :adminUser, :adminKeySealed, :inventory, :now, :trusted)`,
    toStored(values),
  ).insertedId;
}

export function updateCloud(tx: Tx, id: number, values: CloudValues): void {
  tx.run(
    `UPDATE clouds SET name = :name, uuid = :uuid, enabled = :enabled, address = :address, admin_user = :adminUser,
       admin_key_sealed = :adminKeySealed, inventory = :inventory, synced_at = :now, trusted = :trusted
     WHERE id = :id`,
    { id, ...toStored(values) },
  );
}

export function updateInventory(tx: Tx, id: number, inventory: Inventory, now: number): void {
  const sql = 'UPDATE clouds SET inventory = :inventory, synced_at = :now WHERE id = :id';
  tx.run(sql, { id, inventory: JSON.stringify(inventory), now });
}

/** Nothing when somebody else changed it meanwhile. */
export function updateTrusted(tx: Tx, id: number, before: string | null, trusted: string): void {
  tx.run('UPDATE clouds SET trusted = :trusted WHERE id = :id AND trusted = :before', { id, before, trusted });
}

/** When the portal last saw what its arrays do. */
export function seenAt(db: Db, id: number): number | null {
  return db.get<{ seen_at: number | null }>('SELECT seen_at FROM clouds WHERE id = :id', { id })?.seen_at ?? null;
}

export function setSeenAt(tx: Tx, id: number, seenAt: number): void {
  tx.run('UPDATE clouds SET seen_at = :seenAt WHERE id = :id', { id, seenAt });
}

export function deleteCloud(tx: Tx, id: number): void {
  tx.run('DELETE FROM clouds WHERE id = :id', { id });
}

export function namesOfProviders(db: Db, cloudId: number): { id: number; name: string }[] {
  return db.all('SELECT id, name FROM providers WHERE cloud_id = :cloudId ORDER BY id', { cloudId });
}

/** Arrays it hosts, or is about to. */
export function countArrays(db: Db, cloudId: number): number {
  const sql = `SELECT count(*) AS n FROM arrays WHERE cloud_id = :cloudId AND purged_at IS NULL`;
  return db.get<{ n: number }>(sql, { cloudId })?.n ?? 0;
}

export function listOffers(db: Db, cloudId: number): DriveTypeOffer[] {
  return db.all<DriveTypeOffer>('SELECT * FROM drive_type_offers WHERE cloud_id = :cloudId', { cloudId });
}

export function saveOffer(tx: Tx, cloudId: number, offer: DriveTypeOffer): void {
  tx.run(
    `INSERT INTO drive_type_offers VALUES (:cloudId, :drive_type_id, :name, :display_capacity_gb, :enabled)
     ON CONFLICT DO UPDATE SET name = excluded.name, display_capacity_gb = excluded.display_capacity_gb,
       enabled = excluded.enabled`,
    { cloudId, ...offer },
  );
}

function fromStored(row: StoredCloud): CloudRow {
  return { ...row, enabled: row.enabled === 1, inventory: JSON.parse(row.inventory) as Inventory };
}

function toStored({ inventory, enabled, ...values }: CloudValues) {
  return { ...values, uuid: inventory.uuid, enabled: Number(enabled), inventory: JSON.stringify(inventory) };
}
