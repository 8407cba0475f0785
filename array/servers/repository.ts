import { bestFirst, flag, likeAny, likeParams, plain, Table, type Db, type Tx } from '@granary/kernel';
import type { Server, ServerFields } from './server.ts';

export const serverTable = new Table<Server>('servers', {
  name: plain('name'),
  displayName: plain('display_name'),
  os: plain('os'),
  iqn: plain('iqn'),
  address: plain('address'),
  arrayChapUser: plain('array_chap_user'),
  arrayChapSecret: plain('array_chap_secret'),
  hostChapUser: plain('host_chap_user'),
  hostChapSecret: plain('host_chap_secret'),
  isMonitored: flag('monitoring'),
  isConnected: flag('is_connected'),
  lastCheckAt: plain('last_check_at'),
  stateChangedAt: plain('state_changed_at'),
  createdBy: plain('created_by'),
  createdAt: plain('created_at'),
  modifiedAt: plain('modified_at'),
});
const SELECT = `SELECT ${serverTable.fields()} FROM servers`;

type NewServer = ServerFields & Pick<Server, 'name' | 'createdBy'>;

export function insertServer(tx: Tx, server: NewServer, now: number): void {
  serverTable.insert(tx, {
    ...server,
    isConnected: false,
    lastCheckAt: null,
    stateChangedAt: null,
    createdAt: now,
    modifiedAt: now,
  });
}

export function updateServer(tx: Tx, name: string, fields: ServerFields, now: number): void {
  serverTable.update(tx, { name }, { ...fields, modifiedAt: now });
}

export function renameServer(tx: Tx, name: string, displayName: string, now: number): void {
  serverTable.update(tx, { name }, { displayName, modifiedAt: now });
}

/** Of those that have no secret of their own beside it. */
export function renameArrayUser(tx: Tx, from: string, to: string): void {
  tx.run('UPDATE servers SET array_chap_user = :to WHERE array_chap_user = :from AND array_chap_secret IS NULL', {
    from,
    to,
  });
}

export function deleteServer(tx: Tx, name: string): void {
  tx.run('DELETE FROM servers WHERE name = :name', { name });
}

export function findServer(db: Db, name: string): Server | undefined {
  return serverTable.get(db, `${SELECT} WHERE name = :name`, { name });
}

export function findServerCalled(db: Db, displayName: string): Server | undefined {
  return serverTable.get(db, `${SELECT} WHERE display_name = :displayName`, { displayName });
}

/** Another server that the same logins would be taken for. */
export function findTwin(
  db: Db,
  name: string,
  iqn: string | null,
  address: string | null,
): Pick<Server, 'name' | 'displayName'> | undefined {
  return db.get(
    `SELECT name, display_name AS displayName FROM servers
     WHERE iqn IS :iqn COLLATE NOCASE AND address IS :address AND name != :name LIMIT 1`,
    { name, iqn, address },
  );
}

/** A server of another user that an initiator with this name would be matched to, at any address. */
export function findServerOfOthers(db: Db, iqn: string, user: number): Server | undefined {
  const sql = `${SELECT} WHERE iqn = :iqn COLLATE NOCASE AND created_by IS NOT :user LIMIT 1`;
  return serverTable.get(db, sql, { iqn, user });
}

export function listServers(db: Db, start: number, limit: number): Server[] {
  return serverTable.all(db, `${SELECT} ORDER BY name LIMIT :limit OFFSET :start`, {
    start,
    limit: limit === 0 ? -1 : limit,
  });
}

/** Those with a text in their name, IQN or address, best first. */
export function searchServers(db: Db, text: string, limit: number): Server[] {
  const where = likeAny('display_name', 'name', 'iqn', 'address');
  return serverTable.all(db, `${SELECT} WHERE ${where} ORDER BY ${bestFirst('display_name')}`, likeParams(text, limit));
}

export function countServers(db: Db): number {
  return db.get<{ n: number }>('SELECT count(*) AS n FROM servers')?.n ?? 0;
}

/** Those that were connected when it was last looked at. */
export function listConnected(db: Db): string[] {
  return db.all<{ name: string }>('SELECT name FROM servers WHERE is_connected = 1').map(({ name }) => name);
}

export function setConnected(tx: Tx, name: string, isConnected: boolean, now: number): void {
  serverTable.update(tx, { name }, { isConnected, stateChangedAt: now, lastCheckAt: now });
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

/** Fibre Channel ports of all servers. */
export function countWwpns(db: Db): number {
  return db.get<{ count: number }>('SELECT count(*) AS count FROM server_wwpns')?.count ?? 0;
}
