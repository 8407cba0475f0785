import { flag, plain, Table, type Db, type Tx } from '@granary/kernel';
import type { Grant } from './destination.ts';

const grants = new Table<Grant>('destination_grants', {
  destination: plain('destination'),
  account: plain('account'),
  prefix: plain('key_prefix'),
  revoked: flag('revoked'),
  createdAt: plain('created_at'),
});

const SELECT = `SELECT ${grants.fields()} FROM destination_grants`;

export function listGrants(db: Db, destination: number): Grant[] {
  const sql = `${SELECT} WHERE destination = :destination AND revoked = 0 ORDER BY account`;
  return grants.all(db, sql, { destination });
}

export function listGrantsOf(db: Db, account: string): Grant[] {
  return grants.all(db, `${SELECT} WHERE account = :account AND revoked = 0`, { account });
}

export function listAllGrants(db: Db): Grant[] {
  return grants.all(db, `${SELECT} WHERE revoked = 0`);
}

export function findGrant(db: Db, destination: number, account: string): Grant | undefined {
  return grants.get(db, `${SELECT} WHERE destination = :destination AND account = :account AND revoked = 0`, {
    destination,
    account,
  });
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

/** One that was revoked holds again, with this prefix. */
export function putGrant(tx: Tx, grant: Omit<Grant, 'revoked'>): void {
  const { destination, account, prefix } = grant;
  if (grants.update(tx, { destination, account }, { revoked: false, prefix }) === 0)
    grants.insert(tx, { ...grant, revoked: false });
}

export function revokeGrant(tx: Tx, destination: number, account: string): void {
  grants.update(tx, { destination, account }, { revoked: true });
}

/** Of an account that is gone. */
export function deleteGrantsOf(tx: Tx, account: string): void {
  tx.run('DELETE FROM destination_grants WHERE account = :account', { account });
}
