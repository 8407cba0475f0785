import type { Inventory } from '@granary/contract/cloud';
import {
  flag,
  GB,
  generated,
  inUnits,
  json,
  plain,
  sqlPage,
  Table,
  type Db,
  type Page,
  type Tx,
} from '@granary/kernel';
import type { CloudId } from '../ids.ts';
import type { Cloud, DriveTypeOffer } from './cloud.ts';

const clouds = new Table<Cloud, 'id'>('clouds', {
  id: generated('id'),
  name: plain('name'),
  uuid: plain('uuid'),
  enabled: flag('enabled'),
  address: plain('address'),
  adminUser: plain('admin_user'),
  adminKeySealed: plain('admin_key_sealed'),
  inventory: json('inventory'),
  syncedAt: plain('synced_at'),
  trusted: plain('trusted'),
  seenAt: plain('seen_at'),
});
const offers = new Table<DriveTypeOffer>('drive_type_offers', {
  cloudId: plain('cloud_id'),
  driveTypeId: plain('drive_type_id'),
  name: plain('name'),
  displayCapacity: inUnits('display_capacity_gb', GB),
  enabled: {
    name: 'enabled',
    convert: {
      write: (enabled) => (enabled === null ? null : Number(enabled)),
      read: (value) => (value === null ? null : value === 1),
    },
  },
});

const SELECT = `SELECT ${clouds.fields()} FROM clouds`;

/** For queries of what clouds have, by the column that has the cloud's id. */
export function isOpenCloud(column: string): string {
  return `EXISTS (SELECT 1 FROM clouds WHERE clouds.id = ${column} AND clouds.enabled = 1)`;
}

/** `visibleOnly` leaves out the clouds an operator has closed: users never see them. */
export function listClouds(db: Db, visibleOnly: boolean, page: Page): Cloud[] {
  const sql = `${SELECT} WHERE enabled >= :enabled ORDER BY id LIMIT :limit OFFSET :start`;
  return clouds.all(db, sql, { enabled: Number(visibleOnly), ...sqlPage(page) });
}

export function countClouds(db: Db, visibleOnly: boolean): number {
  const sql = 'SELECT count(*) AS n FROM clouds WHERE enabled >= :enabled';
  return db.get<{ n: number }>(sql, { enabled: Number(visibleOnly) })?.n ?? 0;
}

export function findCloud(db: Db, id: CloudId, visibleOnly = false): Cloud | undefined {
  const sql = `${SELECT} WHERE id = :id AND enabled >= :enabled`;
  return clouds.get(db, sql, { id, enabled: Number(visibleOnly) });
}

export function findCloudByName(db: Db, name: string): Cloud | undefined {
  return clouds.get(db, `${SELECT} WHERE name = :name`, { name });
}

export function findCloudByUuid(db: Db, uuid: string): Cloud | undefined {
  return clouds.get(db, `${SELECT} WHERE uuid = :uuid`, { uuid });
}

/** A cloud as it is registered; its uuid is that of the inventory. */
export type CloudValues = Omit<Cloud, 'id' | 'uuid' | 'seenAt'>;

export function insertCloud(tx: Tx, values: CloudValues): CloudId {
  return clouds.insert(tx, { ...values, uuid: values.inventory.uuid, seenAt: null });
}

export function updateCloud(tx: Tx, id: CloudId, values: CloudValues): void {
  clouds.update(tx, { id }, { ...values, uuid: values.inventory.uuid });
}

export function updateInventory(tx: Tx, id: CloudId, inventory: Inventory, now: number): void {
  clouds.update(tx, { id }, { inventory, syncedAt: now });
}

/** Nothing if another request changed it meanwhile. */
export function updateTrusted(tx: Tx, id: CloudId, before: string | null, trusted: string): void {
  clouds.update(tx, { id, trusted: before }, { trusted });
}

export function setSeenAt(tx: Tx, id: CloudId, seenAt: number): void {
  clouds.update(tx, { id }, { seenAt });
}

export function deleteCloud(tx: Tx, id: CloudId): void {
  tx.run('DELETE FROM clouds WHERE id = :id', { id });
}

export function listOffers(db: Db, cloudId: CloudId): DriveTypeOffer[] {
  const sql = `SELECT ${offers.fields()} FROM drive_type_offers WHERE cloud_id = :cloudId`;
  return offers.all(db, sql, { cloudId });
}

export function saveOffer(tx: Tx, offer: DriveTypeOffer): void {
  const { cloudId, driveTypeId } = offer;
  tx.run('DELETE FROM drive_type_offers WHERE cloud_id = :cloudId AND drive_type_id = :driveTypeId', {
    cloudId,
    driveTypeId,
  });
  offers.insert(tx, offer);
}
