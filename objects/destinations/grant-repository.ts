import type { Db, Tx } from '@granary/kernel';

export interface GrantRow {
  readonly destination: number;
  readonly account: string;
  /** Before the name of each object of the account at the remote endpoint. */
  readonly key_prefix: string;
  readonly created_at: number;
}

const COLUMNS = 'destination, account, key_prefix, created_at';

export function listGrants(db: Db, destination: number): GrantRow[] {
  const sql = `SELECT ${COLUMNS} FROM destination_grants WHERE destination = :destination AND revoked = 0 ORDER BY account`;
  return db.all<GrantRow>(sql, { destination });
}

export function listAllGrants(db: Db): GrantRow[] {
  return db.all<GrantRow>(`SELECT ${COLUMNS} FROM destination_grants WHERE revoked = 0`);
}

export function findGrant(db: Db, destination: number, account: string): GrantRow | undefined {
  return db.get<GrantRow>(
    `SELECT ${COLUMNS} FROM destination_grants WHERE destination = :destination AND account = :account AND revoked = 0`,
    { destination, account },
  );
}

/** The account, with a grant or after one, whose prefix a name at the endpoint begins with. */
export function findOwnerOfKey(db: Db, destination: number, key: string): string | undefined {
  const sql = `SELECT account FROM destination_grants WHERE destination = :destination AND key_prefix <> ''
    AND substr(:key, 1, length(key_prefix)) = key_prefix`;
  return db.get<{ account: string }>(sql, { destination, key })?.account;
}

/** The account, with a grant or after one, whose objects have no prefix at the endpoint. */
export function findUnprefixed(db: Db, destination: number): string | undefined {
  const sql = "SELECT account FROM destination_grants WHERE destination = :destination AND key_prefix = ''";
  return db.get<{ account: string }>(sql, { destination })?.account;
}

/** Of a grant that was revoked, too. */
export function findPrefix(db: Db, destination: number, account: string): string | undefined {
  const sql = 'SELECT key_prefix FROM destination_grants WHERE destination = :destination AND account = :account';
  return db.get<{ key_prefix: string }>(sql, { destination, account })?.key_prefix;
}

export function countGrants(db: Db, destination: number): number {
  const sql = 'SELECT count(*) AS n FROM destination_grants WHERE destination = :destination AND revoked = 0';
  return db.get<{ n: number }>(sql, { destination })?.n ?? 0;
}

export function putGrant(tx: Tx, row: GrantRow): void {
  tx.run(
    `INSERT INTO destination_grants (destination, account, key_prefix, created_at)
     VALUES (:destination, :account, :key_prefix, :created_at)
     ON CONFLICT (destination, account) DO UPDATE SET revoked = 0, key_prefix = :key_prefix`,
    { ...row },
  );
}

export function revokeGrant(tx: Tx, destination: number, account: string): void {
  const sql = 'UPDATE destination_grants SET revoked = 1 WHERE destination = :destination AND account = :account';
  tx.run(sql, { destination, account });
}

/** Of an account that is gone. */
export function deleteGrantsOf(tx: Tx, account: string): void {
  tx.run('DELETE FROM destination_grants WHERE account = :account', { account });
}

export function markGranted(tx: Tx, destination: number): void {
  tx.run('UPDATE destinations SET has_grants = 1 WHERE id = :destination', { destination });
}
