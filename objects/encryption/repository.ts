import type { Db, Tx } from '@granary/kernel';

interface EncryptionRow {
  readonly verifier: string;
  readonly is_active: number;
}

interface KeyRow {
  readonly number: number;
  /** Wrapped by the password, and sealed; that of the service is only sealed. */
  readonly wrapped: string;
}

export function findEncryption(db: Db): EncryptionRow | undefined {
  return db.get<EncryptionRow>('SELECT verifier, is_active FROM encryption WHERE id = 1');
}

export function saveVerifier(tx: Tx, verifier: string): void {
  tx.run(
    `INSERT INTO encryption (id, verifier) VALUES (1, :verifier)
     ON CONFLICT (id) DO UPDATE SET verifier = :verifier`,
    { verifier },
  );
}

export function setActive(tx: Tx, active: boolean): void {
  tx.run('UPDATE encryption SET is_active = :active WHERE id = 1', { active: active ? 1 : 0 });
}

export function listKeys(db: Db): KeyRow[] {
  return db.all<KeyRow>('SELECT number, wrapped FROM encryption_keys WHERE is_service = 0 ORDER BY number');
}

export function findServiceKey(db: Db): KeyRow | undefined {
  return db.get<KeyRow>('SELECT number, wrapped FROM encryption_keys WHERE is_service = 1');
}

export function insertKey(tx: Tx, wrapped: string, now: number): void {
  tx.run('INSERT INTO encryption_keys (wrapped, made_at) VALUES (:wrapped, :now)', { wrapped, now });
}

export function insertServiceKey(tx: Tx, wrapped: string, now: number): void {
  tx.run('INSERT INTO encryption_keys (wrapped, made_at, is_service) VALUES (:wrapped, :now, 1)', { wrapped, now });
}

export function updateKey(tx: Tx, { number, wrapped }: KeyRow): void {
  tx.run('UPDATE encryption_keys SET wrapped = :wrapped WHERE number = :number', { number, wrapped });
}
