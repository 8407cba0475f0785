import type { Db, Tx } from './store.ts';

/** A named value of a database. */
export function readSetting(db: Db, key: string): string | undefined {
  return db.get<{ value: string }>('SELECT value FROM settings WHERE key = :key', { key })?.value;
}

export function writeSetting(tx: Tx, key: string, value: string): void {
  const sql = 'INSERT INTO settings VALUES (:key, :value) ON CONFLICT DO UPDATE SET value = excluded.value';
  tx.run(sql, { key, value });
}
