import type { Db, Tx } from '@granary/kernel';

export type DestinationType = 'EXT_S3' | 'OBJS_S3';

export interface DestinationRow {
  readonly id: number;
  readonly display_name: string;
  readonly type: DestinationType;
  /** As it was given. */
  readonly endpoint: string;
  /** Where it answered: `https://host:port`. */
  readonly url: string;
  readonly region: string;
  readonly access_key: string;
  /** Sealed. */
  readonly secret: string;
  readonly connect_via: 'fe' | 'outnet';
  /** Why nothing gets through since it last did. */
  readonly problem: string | null;
  /** 0: known before there were grants, until the accounts that use it got theirs. */
  readonly has_grants: number;
  readonly created_at: number;
  readonly modified_at: number;
}

export type NewDestination = Omit<DestinationRow, 'id' | 'problem' | 'has_grants'>;

export function listDestinations(db: Db): DestinationRow[] {
  return db.all<DestinationRow>('SELECT * FROM destinations ORDER BY id');
}

export function findDestination(db: Db, id: number): DestinationRow | undefined {
  return db.get<DestinationRow>('SELECT * FROM destinations WHERE id = :id', { id });
}

export function findDestinationNamed(db: Db, displayName: string): DestinationRow | undefined {
  return db.get<DestinationRow>('SELECT * FROM destinations WHERE display_name = :displayName', { displayName });
}

export function countDestinations(db: Db): number {
  return db.get<{ n: number }>('SELECT count(*) AS n FROM destinations')?.n ?? 0;
}

export function insertDestination(tx: Tx, row: NewDestination): number {
  const { insertedId } = tx.run(
    `INSERT INTO destinations (display_name, type, endpoint, url, region, access_key, secret, connect_via,
       has_grants, created_at, modified_at)
     VALUES (:display_name, :type, :endpoint, :url, :region, :access_key, :secret, :connect_via,
       1, :created_at, :modified_at)`,
    { ...row },
  );
  return insertedId;
}

export function updateDestination(tx: Tx, row: DestinationRow): void {
  tx.run(
    `UPDATE destinations SET display_name = :display_name, type = :type, endpoint = :endpoint, url = :url,
       region = :region, access_key = :access_key, secret = :secret, connect_via = :connect_via, problem = :problem,
       has_grants = :has_grants,
       created_at = :created_at, modified_at = :modified_at WHERE id = :id`,
    { ...row },
  );
}

export function setProblem(tx: Tx, id: number, problem: string | null): void {
  tx.run('UPDATE destinations SET problem = :problem WHERE id = :id', { id, problem });
}

export function deleteDestination(tx: Tx, id: number): void {
  tx.run('DELETE FROM destinations WHERE id = :id', { id });
}
