import { flag, plain, Table, type Db, type Tx } from '@granary/kernel';
import type { RemoteArray, RemoteIdentity, RemotePool } from './remote-array.ts';

const arrays = new Table<RemoteArray>('remote_arrays', {
  name: plain('name'),
  uuid: plain('uuid'),
  remoteName: plain('remote_name'),
  displayName: plain('display_name'),
  provider: plain('provider'),
  softwareVersion: plain('software_version'),
  isEncryptionActive: flag('is_encryption_active'),
  host: plain('host'),
  port: plain('port'),
  isTls: flag('is_tls'),
  interface: plain('interface'),
  proxy: plain('proxy'),
  sealedSecret: plain('shared_secret'),
  createdAt: plain('created_at'),
  modifiedAt: plain('modified_at'),
});
const ARRAYS = `SELECT ${arrays.fields()} FROM remote_arrays`;

const pools = new Table<RemotePool>('remote_pools', {
  name: plain('name'),
  remoteArray: plain('remote_array'),
  remoteName: plain('remote_name'),
  displayName: plain('display_name'),
  capacityGb: plain('capacity_gb'),
  availableGb: plain('available_gb'),
  isThere: flag('is_there'),
});
const POOLS = `SELECT ${pools.fields()} FROM remote_pools`;

/** Keeps its name when it was known before. */
export function putRemoteArray(tx: Tx, array: RemoteArray): void {
  const { name: _, uuid, createdAt: __, ...change } = array;
  if (arrays.update(tx, { uuid }, change) === 0) arrays.insert(tx, array);
}

export function renameRemoteArray(tx: Tx, name: string, identity: RemoteIdentity, now: number): void {
  arrays.update(tx, { name }, { ...identity, modifiedAt: now });
}

export function findRemoteArray(db: Db, name: string): RemoteArray | undefined {
  return arrays.get(db, `${ARRAYS} WHERE name = :name`, { name });
}

export function findRemoteArrayByUuid(db: Db, uuid: string): RemoteArray | undefined {
  return arrays.get(db, `${ARRAYS} WHERE uuid = :uuid`, { uuid });
}

export function listRemoteArrays(db: Db, start: number, limit: number): RemoteArray[] {
  return arrays.all(db, `${ARRAYS} ORDER BY name LIMIT :limit OFFSET :start`, {
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
export function putRemotePool(tx: Tx, pool: Omit<RemotePool, 'isThere'>): void {
  const { remoteArray, remoteName, displayName, capacityGb, availableGb } = pool;
  const known = { displayName, capacityGb, availableGb, isThere: true };
  if (pools.update(tx, { remoteArray, remoteName }, known) === 0) pools.insert(tx, { ...pool, isThere: true });
}

export function removeRemotePools(tx: Tx, remoteArray: string): void {
  pools.update(tx, { remoteArray }, { isThere: false });
}

export function findRemotePool(db: Db, name: string): RemotePool | undefined {
  return pools.get(db, `${POOLS} WHERE name = :name`, { name });
}

export function findRemotePoolByName(db: Db, remoteArray: string, remoteName: string): RemotePool | undefined {
  const sql = `${POOLS} WHERE remote_array = :remoteArray AND remote_name = :remoteName`;
  return pools.get(db, sql, { remoteArray, remoteName });
}

export function listRemotePools(db: Db, remoteArray: string): RemotePool[] {
  return pools.all(db, `${POOLS} WHERE remote_array = :remoteArray AND is_there = 1 ORDER BY name`, { remoteArray });
}
