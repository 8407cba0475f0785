import type { Db, Tx } from '@granary/kernel';

export interface ChapRow {
  readonly array_user: string;
  /** Sealed. */
  readonly array_secret: string;
}

export function findChap(db: Db): ChapRow | undefined {
  return db.get<ChapRow>('SELECT array_user, array_secret FROM chap WHERE id = 1');
}

export function insertChap(tx: Tx, { array_user, array_secret }: ChapRow): void {
  tx.run('INSERT INTO chap VALUES (1, :array_user, :array_secret) ON CONFLICT DO NOTHING', {
    array_user,
    array_secret,
  });
}

/** Fibre Channel ports of all servers. */
export function countWwpns(db: Db): number {
  return db.get<{ count: number }>('SELECT count(*) AS count FROM server_wwpns')?.count ?? 0;
}
