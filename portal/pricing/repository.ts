import type { Inventory } from '@granary/contract/cloud';
import type { PriceKind } from '@granary/contract/portal';
import type { Db, Tx } from '@granary/kernel';
import type { ItemPrice, PricedItem } from './items.ts';

/** A provider with what its prices depend on. */
export interface PricedProvider {
  readonly id: number;
  readonly name: string;
  readonly cloudName: string;
  readonly inventory: Inventory;
}

export interface StoredPrice extends ItemPrice {
  readonly effectiveFrom: number;
}

interface ProviderRow {
  readonly id: number;
  readonly name: string;
  readonly cloud_id: number;
  readonly cloud_name: string;
}

interface PriceRow {
  readonly kind: PriceKind;
  readonly key: string;
  readonly effective_from: number;
  readonly hourly_price_usd: string;
}

const PROVIDERS =
  'SELECT p.id, p.name, p.cloud_id, c.name AS cloud_name FROM providers p JOIN clouds c ON c.id = p.cloud_id';
const VISIBLE = 'WHERE p.enabled = 1 AND p.hidden = 0 AND c.enabled = 1';
const ITEM = 'provider_id = :providerId AND kind = :kind AND key = :key';

export function findProvider(db: Db, id: number): PricedProvider | undefined {
  const row = db.get<ProviderRow>(`${PROVIDERS} WHERE p.id = :id`, { id });
  return row && toProvider(row, findInventory(db, row.cloud_id));
}

/** All providers, or those that users may see. */
export function listProviders(db: Db, { visibleOnly }: { visibleOnly: boolean }): PricedProvider[] {
  const rows = db.all<ProviderRow>(`${PROVIDERS} ${visibleOnly ? VISIBLE : ''} ORDER BY p.id`);
  const cloudIds = [...new Set(rows.map((row) => row.cloud_id))];
  const inventories = new Map(cloudIds.map((id) => [id, findInventory(db, id)]));
  return rows.map((row) => toProvider(row, inventories.get(row.cloud_id) as Inventory));
}

/** The newest price of every item that has one. */
export function listCurrentPrices(db: Db, providerId: number): ItemPrice[] {
  const rows = db.all<PriceRow>(
    `SELECT kind, key, effective_from, hourly_price_usd FROM prices AS current
     WHERE provider_id = :providerId AND NOT EXISTS (
       SELECT 1 FROM prices AS later
       WHERE later.provider_id = current.provider_id AND later.kind = current.kind AND later.key = current.key
         AND later.effective_from > current.effective_from)
     ORDER BY kind, key`,
    { providerId },
  );
  return rows.map(toPrice);
}

/** Every price that took effect before a time, by item, oldest first. */
export function listPricesBefore(db: Db, providerId: number, before: number): StoredPrice[] {
  const rows = db.all<PriceRow>(
    `SELECT kind, key, effective_from, hourly_price_usd FROM prices
     WHERE provider_id = :providerId AND effective_from < :before ORDER BY kind, key, effective_from`,
    { providerId, before },
  );
  return rows.map(toPrice);
}

export function findNewestPrice(db: Db, providerId: number, { kind, key }: PricedItem): StoredPrice | undefined {
  const row = db.get<PriceRow>(
    `SELECT kind, key, effective_from, hourly_price_usd FROM prices
     WHERE ${ITEM} ORDER BY effective_from DESC LIMIT 1`,
    { providerId, kind, key },
  );
  return row && toPrice(row);
}

export function insertPrice(tx: Tx, providerId: number, { kind, key, price }: ItemPrice, effectiveFrom: number): void {
  tx.run('INSERT INTO prices VALUES (:providerId, :kind, :key, :effectiveFrom, :price)', {
    providerId,
    kind,
    key,
    effectiveFrom,
    price,
  });
}

export function deletePricesFrom(tx: Tx, providerId: number, { kind, key }: PricedItem, from: number): void {
  tx.run(`DELETE FROM prices WHERE ${ITEM} AND effective_from >= :from`, { providerId, kind, key, from });
}

function findInventory(db: Db, cloudId: number): Inventory {
  const row = db.get<{ inventory: string }>('SELECT inventory FROM clouds WHERE id = :cloudId', { cloudId });
  return JSON.parse(row?.inventory ?? 'null') as Inventory;
}

function toProvider(row: ProviderRow, inventory: Inventory): PricedProvider {
  return { id: row.id, name: row.name, cloudName: row.cloud_name, inventory };
}

function toPrice({ kind, key, effective_from, hourly_price_usd }: PriceRow): StoredPrice {
  return { kind, key, effectiveFrom: effective_from, price: hourly_price_usd };
}
