import type { Db, Tx } from '@granary/kernel';

export interface SettingsRow {
  /** JSON: what was set, over the defaults. */
  readonly chosen: string;
  readonly created_at: number;
  readonly modified_at: number;
}

export function insertSettings(tx: Tx, now: number): void {
  tx.run(`INSERT INTO array_settings VALUES (1, '{}', :now, :now) ON CONFLICT DO NOTHING`, { now });
}

export function findSettings(db: Db): SettingsRow | undefined {
  return db.get<SettingsRow>('SELECT chosen, created_at, modified_at FROM array_settings WHERE id = 1');
}

export function updateSettings(tx: Tx, chosen: string, now: number): void {
  tx.run('UPDATE array_settings SET chosen = :chosen, modified_at = :now WHERE id = 1', { chosen, now });
}
