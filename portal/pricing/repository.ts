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

/** The newest price of every item that has one. */
export function listCurrentPrices(db: Db, providerId: ProviderId): ItemPrice[] {
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
export function listPricesBefore(db: Db, providerId: ProviderId, before: number): StoredPrice[] {
  const rows = db.all<PriceRow>(
    `SELECT kind, key, effective_from, hourly_price_usd FROM prices
     WHERE provider_id = :providerId AND effective_from < :before ORDER BY kind, key, effective_from`,
    { providerId, before },
  );
  return rows.map(toPrice);
}

export function findNewestPrice(db: Db, providerId: ProviderId, { kind, key }: PricedItem): StoredPrice | undefined {
  const row = db.get<PriceRow>(
    `SELECT kind, key, effective_from, hourly_price_usd FROM prices
     WHERE ${ITEM} ORDER BY effective_from DESC LIMIT 1`,
    { providerId, kind, key },
  );
  return row && toPrice(row);
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

export function deletePricesFrom(tx: Tx, providerId: ProviderId, { kind, key }: PricedItem, from: number): void {
  tx.run(`DELETE FROM prices WHERE ${ITEM} AND effective_from >= :from`, { providerId, kind, key, from });
}

function toPrice({ kind, key, effective_from, hourly_price_usd }: PriceRow): StoredPrice {
  return { kind, key, effectiveFrom: effective_from, price: hourly_price_usd };
}
