import type { Db, Tx } from '@granary/kernel';

export interface RemoteArrayRow {
  readonly name: string;
  readonly uuid: string;
  readonly remote_name: string;
  readonly display_name: string;
  readonly provider: string;
  readonly software_version: string;
  readonly is_encryption_active: number;
  readonly host: string;
  readonly port: number;
  readonly is_tls: number;
  readonly interface: 'public' | 'vni0' | 'fe';
  readonly proxy: string | null;
  readonly shared_secret: string;
  readonly created_at: number;
  readonly modified_at: number;
}

export interface RemotePoolRow {
  readonly name: string;
  readonly remote_array: string;
  readonly remote_name: string;
  readonly display_name: string;
  readonly capacity_gb: number;
  readonly available_gb: number;
  readonly is_there: number;
}

/** What an array says of itself. */
export type RemoteIdentity = Pick<
  RemoteArrayRow,
  'remote_name' | 'display_name' | 'provider' | 'software_version' | 'is_encryption_active'
>;

/** Keeps its name when it was known before. */
export function putRemoteArray(tx: Tx, row: RemoteArrayRow): void {
  tx.run(
    `INSERT INTO remote_arrays (name, uuid, remote_name, display_name, provider, software_version,
       is_encryption_active, host, port, is_tls, interface, proxy, shared_secret, created_at, modified_at)
     VALUES (:name, :uuid, :remote_name, :display_name, :provider, :software_version,
       :is_encryption_active, :host, :port, :is_tls, :interface, :proxy, :shared_secret, :created_at, :modified_at)
     ON CONFLICT (uuid) DO UPDATE SET remote_name = :remote_name, display_name = :display_name, provider = :provider,
       software_version = :software_version, is_encryption_active = :is_encryption_active, host = :host, port = :port,
       is_tls = :is_tls, interface = :interface, proxy = :proxy, shared_secret = :shared_secret,
       modified_at = :modified_at`,
    { ...row },
  );
}

export function renameRemoteArray(tx: Tx, name: string, identity: RemoteIdentity, now: number): void {
  tx.run(
    `UPDATE remote_arrays SET remote_name = :remote_name, display_name = :display_name, provider = :provider,
       software_version = :software_version, is_encryption_active = :is_encryption_active, modified_at = :now
     WHERE name = :name`,
    { ...identity, name, now },
  );
}

export function findRemoteArray(db: Db, name: string): RemoteArrayRow | undefined {
  return db.get<RemoteArrayRow>('SELECT * FROM remote_arrays WHERE name = :name', { name });
}

export function findRemoteArrayByUuid(db: Db, uuid: string): RemoteArrayRow | undefined {
  return db.get<RemoteArrayRow>('SELECT * FROM remote_arrays WHERE uuid = :uuid', { uuid });
}

export function listRemoteArrays(db: Db, start: number, limit: number): RemoteArrayRow[] {
  return db.all<RemoteArrayRow>('SELECT * FROM remote_arrays ORDER BY name LIMIT :limit OFFSET :start', {
    start,
    limit: limit === 0 ? -1 : limit,
  });
}

export function countRemoteArrays(db: Db): number {
  return db.get<{ n: number }>('SELECT count(*) AS n FROM remote_arrays')?.n ?? 0;
}

export function removeRemoteArray(tx: Tx, name: string): void {
  tx.run('DELETE FROM remote_arrays WHERE name = :name', { name });
}

/** Keeps its name when it was known before. */
export function putRemotePool(tx: Tx, row: Omit<RemotePoolRow, 'is_there'>): void {
  tx.run(
    `INSERT INTO remote_pools (name, remote_array, remote_name, display_name, capacity_gb, available_gb, is_there)
     VALUES (:name, :remote_array, :remote_name, :display_name, :capacity_gb, :available_gb, 1)
     ON CONFLICT (remote_array, remote_name) DO UPDATE SET
       display_name = :display_name, capacity_gb = :capacity_gb, available_gb = :available_gb, is_there = 1`,
    { ...row },
  );
}

export function forgetRemotePools(tx: Tx, remoteArray: string): void {
  tx.run('UPDATE remote_pools SET is_there = 0 WHERE remote_array = :remoteArray', { remoteArray });
}

export function findRemotePool(db: Db, name: string): RemotePoolRow | undefined {
  return db.get<RemotePoolRow>('SELECT * FROM remote_pools WHERE name = :name', { name });
}

export function findRemotePoolByName(db: Db, remoteArray: string, remoteName: string): RemotePoolRow | undefined {
  const sql = 'SELECT * FROM remote_pools WHERE remote_array = :remoteArray AND remote_name = :remoteName';
  return db.get<RemotePoolRow>(sql, { remoteArray, remoteName });
}

export function listRemotePools(db: Db, remoteArray: string): RemotePoolRow[] {
  const sql = 'SELECT * FROM remote_pools WHERE remote_array = :remoteArray AND is_there = 1 ORDER BY name';
  return db.all<RemotePoolRow>(sql, { remoteArray });
}
