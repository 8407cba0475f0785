import type { Product } from '@granary/contract/cloud';
import type { Db, Tx } from '@granary/kernel';
import type { PricedItem } from '../pricing/items.ts';
import type { Span } from './window.ts';

/** So many of an item. */
export interface Quantity extends PricedItem {
  readonly quantity: number;
}

export interface MeteredItem extends Quantity {
  readonly id: number;
  readonly startedAt: number;
  /** Null while it exists. */
  readonly endedAt: number | null;
}

export interface BilledArray {
  readonly id: number;
  readonly name: string;
  readonly username: string;
  readonly providerId: number;
  readonly providerName: string;
  readonly product: Product;
  readonly createdAt: number;
  readonly deletedAt: number | null;
}

// Rows are wanted by the hundred thousand: the query names their fields as the domain does, and nothing copies them.
const ITEMS = 'SELECT id, kind, key, quantity, started_at AS "startedAt", ended_at AS "endedAt" FROM metered_items';
const ARRAYS = `SELECT a.id, a.name, coalesce(u.former_name, u.username) AS username, a.provider_id AS "providerId",
    p.name AS "providerName", a.product, a.created_at AS "createdAt", a.deleted_at AS "deletedAt"
  FROM arrays a JOIN users u ON u.id = a.owner_id JOIN providers p ON p.id = a.provider_id`;

export function listOpenItems(db: Db, arrayId: number): MeteredItem[] {
  return db.all(`${ITEMS} WHERE array_id = :arrayId AND ended_at IS NULL`, { arrayId });
}

/** The latest time the meter of an array has noted. */
export function newestMoment(db: Db, arrayId: number): number {
  const sql =
    'SELECT max(max(started_at, coalesce(ended_at, 0))) AS newest FROM metered_items WHERE array_id = :arrayId';
  return db.get<{ newest: number | null }>(sql, { arrayId })?.newest ?? 0;
}

export function openItem(tx: Tx, arrayId: number, { kind, key, quantity }: Quantity, startedAt: number): void {
  tx.run(
    `INSERT INTO metered_items (array_id, kind, key, quantity, started_at)
     VALUES (:arrayId, :kind, :key, :quantity, :startedAt)`,
    { arrayId, kind, key, quantity, startedAt },
  );
}

export function closeItem(tx: Tx, id: number, endedAt: number): void {
  tx.run('UPDATE metered_items SET ended_at = :endedAt WHERE id = :id', { id, endedAt });
}

export function deleteItem(tx: Tx, id: number): void {
  tx.run('DELETE FROM metered_items WHERE id = :id', { id });
}

/** Arrays of which anything existed at any moment of the span: one owner's, or all (null). */
export function listArraysIn(db: Db, { from, to }: Span, ownerId: number | null): BilledArray[] {
  // Open and closed apart: each is one step into the index, however much an array has behind it.
  return db.all(
    `${ARRAYS} WHERE (:ownerId IS NULL OR a.owner_id = :ownerId) AND (
       EXISTS (SELECT 1 FROM metered_items m WHERE m.array_id = a.id AND m.ended_at IS NULL AND m.started_at < :to)
       OR EXISTS (SELECT 1 FROM metered_items m WHERE m.array_id = a.id AND m.ended_at > :from AND m.started_at < :to))
     ORDER BY a.id`,
    { from, to, ownerId },
  );
}

/** What an array had at any moment of the span. */
export function listItemsIn(db: Db, { from, to }: Span, arrayId: number): MeteredItem[] {
  return db.all(
    `${ITEMS} WHERE array_id = :arrayId AND (ended_at IS NULL OR ended_at > :from) AND started_at < :to
     ORDER BY kind, key, started_at`,
    { from, to, arrayId },
  );
}

export function userExists(db: Db, id: number): boolean {
  return db.get('SELECT 1 FROM users WHERE id = :id', { id }) !== undefined;
}
