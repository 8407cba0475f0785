import type { Db, Tx } from '@granary/kernel';

export interface JoinCodeRow {
  readonly id: number;
  readonly name: string;
  readonly created_by: string;
  /** The cloud is moved here although it belongs to another portal. */
  readonly adopts: number;
  readonly expires_at: number;
  readonly used_at: number | null;
}

interface NewJoinCode {
  readonly codeHash: string;
  readonly name: string;
  readonly createdBy: string;
  readonly adopts: boolean;
  readonly expiresAt: number;
}

export function insertJoinCode(tx: Tx, code: NewJoinCode): void {
  tx.run(
    `INSERT INTO join_codes (code_hash, name, created_by, adopts, expires_at)
     VALUES (:codeHash, :name, :createdBy, :adopts, :expiresAt)`,
    { ...code, adopts: Number(code.adopts) },
  );
}

export function findJoinCode(db: Db, codeHash: string): JoinCodeRow | undefined {
  const sql = 'SELECT id, name, created_by, adopts, expires_at, used_at FROM join_codes WHERE code_hash = :codeHash';
  return db.get<JoinCodeRow>(sql, { codeHash });
}

/** True when it could still be used, and now is. */
export function useJoinCode(tx: Tx, id: number, now: number): boolean {
  const sql = 'UPDATE join_codes SET used_at = :now WHERE id = :id AND used_at IS NULL AND expires_at > :now';
  return tx.run(sql, { id, now }).changes === 1;
}

/** A new code for a name takes the place of one that was not used. */
export function deleteUnused(tx: Tx, name: string): void {
  tx.run('DELETE FROM join_codes WHERE name = :name AND used_at IS NULL', { name });
}

export function deleteExpiredBefore(tx: Tx, time: number): void {
  tx.run('DELETE FROM join_codes WHERE expires_at < :time', { time });
}

export function countUsable(db: Db, now: number): number {
  const sql = 'SELECT count(*) AS n FROM join_codes WHERE used_at IS NULL AND expires_at > :now';
  return db.get<{ n: number }>(sql, { now })?.n ?? 0;
}
