import { flag, generated, plain, Table, type Db, type Tx } from '@granary/kernel';
import type { Destination } from './destination.ts';

const destinations = new Table<Destination, 'id'>('destinations', {
  id: generated('id'),
  displayName: plain('display_name'),
  type: plain('type'),
  endpoint: plain('endpoint'),
  url: plain('url'),
  region: plain('region'),
  accessKey: plain('access_key'),
  secretSealed: plain('secret'),
  connectVia: plain('connect_via'),
  problem: plain('problem'),
  hasGrants: flag('has_grants'),
  createdAt: plain('created_at'),
  modifiedAt: plain('modified_at'),
});

const SELECT = `SELECT ${destinations.fields()} FROM destinations`;

export function listDestinations(db: Db): Destination[] {
  return destinations.all(db, `${SELECT} ORDER BY id`);
}

export function findDestination(db: Db, id: number): Destination | undefined {
  return destinations.get(db, `${SELECT} WHERE id = :id`, { id });
}

export function findDestinationNamed(db: Db, displayName: string): Destination | undefined {
  return destinations.get(db, `${SELECT} WHERE display_name = :displayName`, { displayName });
}

export function countDestinations(db: Db): number {
  return db.get<{ n: number }>('SELECT count(*) AS n FROM destinations')?.n ?? 0;
}

export function insertDestination(tx: Tx, destination: Omit<Destination, 'id' | 'problem' | 'hasGrants'>): number {
  return destinations.insert(tx, { ...destination, problem: null, hasGrants: true });
}

export function updateDestination(tx: Tx, { id, ...changes }: Destination): void {
  destinations.update(tx, { id }, changes);
}

export function setProblem(tx: Tx, id: number, problem: string | null): void {
  destinations.update(tx, { id }, { problem });
}

export function markGranted(tx: Tx, id: number): void {
  destinations.update(tx, { id }, { hasGrants: true });
}

export function deleteDestination(tx: Tx, id: number): void {
  tx.run('DELETE FROM destinations WHERE id = :id', { id });
}
