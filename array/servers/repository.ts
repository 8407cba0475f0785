import type { Db, Tx } from '@granary/kernel';

/** A server as it is on record. Booleans are 0 and 1; secrets are sealed. */
export interface ServerRow {
  readonly name: string;
  readonly display_name: string;
  readonly os: string | null;
  readonly iqn: string | null;
  readonly address: string | null;
  readonly array_chap_user: string | null;
  readonly array_chap_secret: string | null;
  readonly host_chap_user: string | null;
  readonly host_chap_secret: string | null;
  readonly monitoring: number;
  readonly is_connected: number;
  readonly last_check_at: number | null;
  readonly state_changed_at: number | null;
  readonly created_at: number;
  readonly modified_at: number;
}

/** What people set of a server. */
export type ServerFields = Pick<
  ServerRow,
  | 'display_name'
  | 'os'
  | 'iqn'
  | 'address'
  | 'array_chap_user'
  | 'array_chap_secret'
  | 'host_chap_user'
  | 'host_chap_secret'
  | 'monitoring'
>;

export function insertServer(tx: Tx, name: string, fields: ServerFields, now: number): void {
  tx.run(
    `INSERT INTO servers (name, display_name, os, iqn, address, array_chap_user, array_chap_secret, host_chap_user,
       host_chap_secret, monitoring, created_at, modified_at)
     VALUES (:name, :display_name, :os, :iqn, :address, :array_chap_user, :array_chap_secret, :host_chap_user,
       :host_chap_secret, :monitoring, :now, :now)`,
    { name, ...fields, now },
  );
}

export function updateServer(tx: Tx, name: string, fields: ServerFields, now: number): void {
  tx.run(
    `UPDATE servers SET display_name = :display_name, os = :os, iqn = :iqn, address = :address,
       array_chap_user = :array_chap_user, array_chap_secret = :array_chap_secret, host_chap_user = :host_chap_user,
       host_chap_secret = :host_chap_secret, monitoring = :monitoring, modified_at = :now
     WHERE name = :name`,
    { name, ...fields, now },
  );
}

export function renameServer(tx: Tx, name: string, displayName: string, now: number): void {
  tx.run('UPDATE servers SET display_name = :displayName, modified_at = :now WHERE name = :name', {
    name,
    displayName,
    now,
  });
}

export function deleteServer(tx: Tx, name: string): void {
  tx.run('DELETE FROM servers WHERE name = :name', { name });
}

export function findServer(db: Db, name: string): ServerRow | undefined {
  return db.get<ServerRow>('SELECT * FROM servers WHERE name = :name', { name });
}

export function findServerCalled(db: Db, displayName: string): ServerRow | undefined {
  return db.get<ServerRow>('SELECT * FROM servers WHERE display_name = :displayName', { displayName });
}

/** Another server that the same logins would be taken for. */
export function findTwin(
  db: Db,
  name: string,
  iqn: string | null,
  address: string | null,
): Pick<ServerRow, 'name' | 'display_name'> | undefined {
  return db.get(
    `SELECT name, display_name FROM servers
     WHERE iqn IS :iqn COLLATE NOCASE AND address IS :address AND name != :name LIMIT 1`,
    { name, iqn, address },
  );
}

export function listServers(db: Db, start: number, limit: number): ServerRow[] {
  return db.all<ServerRow>('SELECT * FROM servers ORDER BY name LIMIT :limit OFFSET :start', {
    start,
    limit: limit === 0 ? -1 : limit,
  });
}

export function countServers(db: Db): number {
  return db.get<{ n: number }>('SELECT count(*) AS n FROM servers')?.n ?? 0;
}

/** Those that were connected when it was last looked at. */
export function listConnected(db: Db): string[] {
  return db.all<{ name: string }>('SELECT name FROM servers WHERE is_connected = 1').map(({ name }) => name);
}

export function setConnected(tx: Tx, name: string, isConnected: boolean, now: number): void {
  tx.run(
    `UPDATE servers SET is_connected = :isConnected, state_changed_at = :now, last_check_at = :now WHERE name = :name`,
    { name, isConnected: Number(isConnected), now },
  );
}

export function listWwpns(db: Db, server: string): string[] {
  const rows = db.all<{ wwpn: string }>('SELECT wwpn FROM server_wwpns WHERE server = :server ORDER BY wwpn', {
    server,
  });
  return rows.map(({ wwpn }) => wwpn);
}

export function findWwpnOwner(db: Db, wwpn: string): string | undefined {
  return db.get<{ server: string }>('SELECT server FROM server_wwpns WHERE wwpn = :wwpn', { wwpn })?.server;
}

export function replaceWwpns(tx: Tx, server: string, wwpns: readonly string[]): void {
  tx.run('DELETE FROM server_wwpns WHERE server = :server', { server });
  for (const wwpn of wwpns) tx.run('INSERT INTO server_wwpns VALUES (:server, :wwpn)', { server, wwpn });
}
