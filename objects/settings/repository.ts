import type { Db, Tx } from '@granary/kernel';

/** What was set, over the defaults. */
interface ChosenSettings {
  /** JSON. */
  readonly chosen: string;
  readonly createdAt: number;
  readonly modifiedAt: number;
}

export function insertSettings(tx: Tx, now: number): void {
  tx.run(`INSERT INTO array_settings VALUES (1, '{}', :now, :now) ON CONFLICT DO NOTHING`, { now });
}

export function findSettings(db: Db): ChosenSettings | undefined {
  const sql = 'SELECT chosen, created_at AS createdAt, modified_at AS modifiedAt FROM array_settings WHERE id = 1';
  return db.get<ChosenSettings>(sql);
}

export function updateSettings(tx: Tx, chosen: string, now: number): void {
  tx.run('UPDATE array_settings SET chosen = :chosen, modified_at = :now WHERE id = 1', { chosen, now });
}
