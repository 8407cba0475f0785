import type { Db, Tx } from '@granary/kernel';

export function readSetting(db: Db, key: string): string | undefined {
  return db.get<{ value: string }>('SELECT value FROM settings WHERE key = :key', { key })?.value;
}

export function writeSetting(tx: Tx, key: string, value: string): void {
  tx.run('INSERT INTO settings VALUES (:key, :value) ON CONFLICT DO UPDATE SET value = excluded.value', { key, value });
}
