import { flag, generated, plain, Table, type Db, type Tx } from '@granary/kernel';
import type { JoinCode } from './join-code.ts';

const codes = new Table<JoinCode, 'id'>('join_codes', {
  id: generated('id'),
  codeHash: plain('code_hash'),
  name: plain('name'),
  createdBy: plain('created_by'),
  adopts: flag('adopts'),
  expiresAt: plain('expires_at'),
  usedAt: plain('used_at'),
});

export function insertJoinCode(tx: Tx, code: Omit<JoinCode, 'id' | 'usedAt'>): void {
  codes.insert(tx, { ...code, usedAt: null });
}

export function findJoinCode(db: Db, codeHash: string): JoinCode | undefined {
  return codes.get(db, `SELECT ${codes.fields()} FROM join_codes WHERE code_hash = :codeHash`, { codeHash });
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
