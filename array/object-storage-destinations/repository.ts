import type { Db, Tx } from '@granary/kernel';

export interface DestinationRow {
  readonly name: string;
  readonly display_name: string;
  readonly type: string;
  readonly bucket: string;
  readonly endpoint: string;
  readonly username: string;
  readonly password: string;
  readonly connect_via: 'fe' | 'public';
  readonly allow_lifecycle_policies: number;
  readonly proxy: string | null;
  readonly proxy_host: string | null;
  readonly proxy_port: number | null;
  readonly created_at: number;
  readonly modified_at: number;
}

export function insertDestination(tx: Tx, row: DestinationRow): void {
  tx.run(
    `INSERT INTO object_storage_destinations (name, display_name, type, bucket, endpoint, username, password,
       connect_via, allow_lifecycle_policies, proxy, proxy_host, proxy_port, created_at, modified_at)
     VALUES (:name, :display_name, :type, :bucket, :endpoint, :username, :password,
       :connect_via, :allow_lifecycle_policies, :proxy, :proxy_host, :proxy_port, :created_at, :modified_at)`,
    { ...row },
  );
}

export function isNameTaken(db: Db, displayName: string): boolean {
  const sql = 'SELECT 1 FROM object_storage_destinations WHERE display_name = :displayName';
  return db.get(sql, { displayName }) !== undefined;
}

export function countDestinations(db: Db): number {
  return db.get<{ n: number }>('SELECT count(*) AS n FROM object_storage_destinations')?.n ?? 0;
}

export function listDestinations(db: Db, start: number, limit: number): DestinationRow[] {
  const sql = 'SELECT * FROM object_storage_destinations ORDER BY name LIMIT :limit OFFSET :start';
  return db.all<DestinationRow>(sql, { start, limit: limit === 0 ? -1 : limit });
}

export function findDestination(db: Db, name: string): DestinationRow | undefined {
  return db.get<DestinationRow>('SELECT * FROM object_storage_destinations WHERE name = :name', { name });
}

/** By where it is: `endpoint/bucket`. The one made known last, if there are several: its key is the newest. */
export function findDestinationAt(db: Db, reference: string): DestinationRow | undefined {
  const sql = `SELECT * FROM object_storage_destinations WHERE endpoint || '/' || bucket = :reference
    ORDER BY created_at DESC, name DESC LIMIT 1`;
  return db.get<DestinationRow>(sql, { reference });
}
