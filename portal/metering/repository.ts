import type { Db, Tx } from '@granary/kernel';
import type { ArrayId } from '../ids.ts';
import type { PricedItem } from '../pricing/items.ts';

/** From `from` up to, and without, `to`. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

export interface Quantity extends PricedItem {
  readonly quantity: number;
}

export interface MeteredItem extends Quantity {
  readonly id: number;
  readonly startedAt: number;
  /** Null while it exists. */
  readonly endedAt: number | null;
}

// Rows are wanted by the hundred thousand: the query names their fields as the domain does, and nothing copies them.
const ITEMS = 'SELECT id, kind, key, quantity, started_at AS "startedAt", ended_at AS "endedAt" FROM metered_items';
export function listOpenItems(db: Db, arrayId: ArrayId): MeteredItem[] {
  return db.all(`${ITEMS} WHERE array_id = :arrayId AND ended_at IS NULL`, { arrayId });
}

/** The latest time the meter of an array has noted, of each kind of item. */
export function newestMoments(db: Db, arrayId: ArrayId): ReadonlyMap<string, number> {
  const sql = `SELECT kind, max(max(started_at, coalesce(ended_at, 0))) AS newest FROM metered_items
    WHERE array_id = :arrayId GROUP BY kind`;
  const rows = db.all<{ kind: string; newest: number }>(sql, { arrayId });
  return new Map(rows.map(({ kind, newest }) => [kind, newest]));
}

export function openItem(tx: Tx, arrayId: ArrayId, { kind, key, quantity }: Quantity, startedAt: number): void {
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

/** What an array had at any moment of the span. */
export function listItemsIn(db: Db, { from, to }: Span, arrayId: ArrayId): MeteredItem[] {
  return db.all(
    `${ITEMS} WHERE array_id = :arrayId AND (ended_at IS NULL OR ended_at > :from) AND started_at < :to
     ORDER BY kind, key, started_at`,
    { from, to, arrayId },
  );
}

/** For queries of arrays: anything of the array whose id is in `column` existed between :from and :to. */
export function existedIn(column: string): string {
  // Open and closed apart: each is one step into the index, however much an array has behind it.
  const item = `SELECT 1 FROM metered_items m WHERE m.array_id = ${column} AND m.started_at < :to`;
  return `(EXISTS (${item} AND m.ended_at IS NULL) OR EXISTS (${item} AND m.ended_at > :from))`;
}
