import type { Db, Tx } from '@granary/kernel';

export type InventoryKind = 'drive' | 'controller' | 'policy';

export interface Times {
  readonly created_at: number;
  readonly modified_at: number;
}

export function listTimes(db: Db, kind: InventoryKind): Map<string, Times> {
  const rows = db.all<Times & { name: string }>(
    'SELECT name, created_at, modified_at FROM inventory WHERE kind = :kind',
    { kind },
  );
  return new Map(rows.map((row) => [row.name, row]));
}

/** Keeps the first time something was seen. */
export function recordSeen(tx: Tx, kind: InventoryKind, name: string, now: number): void {
  tx.run('INSERT INTO inventory VALUES (:kind, :name, :now, :now) ON CONFLICT DO NOTHING', { kind, name, now });
}

export function recordChanged(tx: Tx, kind: InventoryKind, name: string, now: number): void {
  tx.run(
    `INSERT INTO inventory VALUES (:kind, :name, :now, :now)
     ON CONFLICT (kind, name) DO UPDATE SET modified_at = :now`,
    { kind, name, now },
  );
}
