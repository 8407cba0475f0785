import { flag, plain, Table, type Db, type Tx } from '@granary/kernel';
import type { Destination } from './destination.ts';

const destinations = new Table<Destination>('object_storage_destinations', {
  name: plain('name'),
  displayName: plain('display_name'),
  type: plain('type'),
  bucket: plain('bucket'),
  endpoint: plain('endpoint'),
  username: plain('username'),
  password: plain('password'),
  connectVia: plain('connect_via'),
  allowsLifecyclePolicies: flag('allow_lifecycle_policies'),
  proxy: plain('proxy'),
  proxyHost: plain('proxy_host'),
  proxyPort: plain('proxy_port'),
  createdAt: plain('created_at'),
  modifiedAt: plain('modified_at'),
});
const SELECT = `SELECT ${destinations.fields()} FROM object_storage_destinations`;

export function insertDestination(tx: Tx, destination: Destination): void {
  destinations.insert(tx, destination);
}

export function isNameTaken(db: Db, displayName: string): boolean {
  const sql = 'SELECT 1 FROM object_storage_destinations WHERE display_name = :displayName';
  return db.get(sql, { displayName }) !== undefined;
}

export function countDestinations(db: Db): number {
  return db.get<{ n: number }>('SELECT count(*) AS n FROM object_storage_destinations')?.n ?? 0;
}

export function listDestinations(db: Db, start: number, limit: number): Destination[] {
  return destinations.all(db, `${SELECT} ORDER BY name LIMIT :limit OFFSET :start`, {
    start,
    limit: limit === 0 ? -1 : limit,
  });
}

export function findDestination(db: Db, name: string): Destination | undefined {
  return destinations.get(db, `${SELECT} WHERE name = :name`, { name });
}

/** By where it is: `endpoint/bucket`. The one made known last, if there are several: its key is the newest. */
export function findDestinationAt(db: Db, reference: string): Destination | undefined {
  const sql = `${SELECT} WHERE endpoint || '/' || bucket = :reference ORDER BY created_at DESC, name DESC LIMIT 1`;
  return destinations.get(db, sql, { reference });
}
