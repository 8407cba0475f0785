import type { PriceKind } from '@granary/contract/portal';
import type { Db, Tx } from '@granary/kernel';
import type { ProviderId } from '../ids.ts';
import type { ItemPrice, PricedItem } from './items.ts';

export interface StoredPrice extends ItemPrice {
  readonly effectiveFrom: number;
}

interface PriceRow {
  readonly kind: PriceKind;
  readonly key: string;
  readonly effective_from: number;
  readonly hourly_price_usd: string;
}

const ITEM = 'provider_id = :providerId AND kind = :kind AND key = :key';

/** What every item that has a price costs at a time. */
export function listPricesAt(db: Db, providerId: ProviderId, time: number): ItemPrice[] {
  const rows = db.all<PriceRow>(
    `SELECT kind, key, effective_from, hourly_price_usd FROM prices AS current
     WHERE provider_id = :providerId AND effective_from <= :time AND NOT EXISTS (
       SELECT 1 FROM prices AS later
       WHERE later.provider_id = current.provider_id AND later.kind = current.kind AND later.key = current.key
         AND later.effective_from > current.effective_from AND later.effective_from <= :time)
     ORDER BY kind, key`,
    { providerId, time },
  );
  return rows.map(toPrice);
}

/** Every price that took effect before a time, by item, oldest first. */
export function listPricesBefore(db: Db, providerId: ProviderId, before: number): StoredPrice[] {
  const rows = db.all<PriceRow>(
    `SELECT kind, key, effective_from, hourly_price_usd FROM prices
     WHERE provider_id = :providerId AND effective_from < :before ORDER BY kind, key, effective_from`,
    { providerId, before },
  );
  return rows.map(toPrice);
}

/** By item, oldest first; planned ones, too. */
export function listAllPrices(db: Db, providerId: ProviderId): StoredPrice[] {
  return listPricesBefore(db, providerId, Number.MAX_SAFE_INTEGER);
}

/** The newest price that took effect up to and including a time. */
export function findPriceAt(
  db: Db,
  providerId: ProviderId,
  { kind, key }: PricedItem,
  time: number,
): StoredPrice | undefined {
  const row = db.get<PriceRow>(
    `SELECT kind, key, effective_from, hourly_price_usd FROM prices
     WHERE ${ITEM} AND effective_from <= :time ORDER BY effective_from DESC LIMIT 1`,
    { providerId, kind, key, time },
  );
  return row && toPrice(row);
}

/** When the next price of an item takes effect that was planned; undefined without one. */
export function nextPriceTime(
  db: Db,
  providerId: ProviderId,
  { kind, key }: PricedItem,
  after: number,
): number | undefined {
  const row = db.get<{ readonly time: number | null }>(
    `SELECT min(effective_from) AS time FROM prices WHERE ${ITEM} AND effective_from > :after`,
    { providerId, kind, key, after },
  );
  return row?.time ?? undefined;
}

export function insertPrice(
  tx: Tx,
  providerId: ProviderId,
  { kind, key, price }: ItemPrice,
  effectiveFrom: number,
): void {
  tx.run('INSERT INTO prices VALUES (:providerId, :kind, :key, :effectiveFrom, :price)', {
    providerId,
    kind,
    key,
    effectiveFrom,
    price,
  });
}

/** How many there were. */
export function deletePricesFrom(tx: Tx, providerId: ProviderId, { kind, key }: PricedItem, from: number): number {
  return tx.run(`DELETE FROM prices WHERE ${ITEM} AND effective_from >= :from`, { providerId, kind, key, from })
    .changes;
}

function toPrice({ kind, key, effective_from, hourly_price_usd }: PriceRow): StoredPrice {
  return { kind, key, effectiveFrom: effective_from, price: hourly_price_usd };
}
