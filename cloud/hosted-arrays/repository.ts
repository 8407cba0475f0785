import type { ArraySpec, Product } from '@granary/contract/cloud';
import type { Db, EncryptionChange, ListenAddress, Tx } from '@granary/kernel';
import { findOwner, releaseAddresses } from '../addresses/repository.ts';

/** The spec as it is kept: its secrets are sealed apart from it. */
export type KeptSpec = Omit<ArraySpec, 'initial_passcode' | 'internal_key' | Returned> &
  Partial<Pick<ArraySpec, Returned>>;
type Returned = 'drives_returned' | 'policy_drives_returned' | 'proxies_returned';

export interface HostedRecord {
  readonly number: number;
  readonly uuid: string;
  readonly internalName: string;
  readonly product: Product;
  readonly zone: string | null;
  readonly desired: 'running' | 'stopped';
  readonly removing: boolean;
  /** Whether its process ever served. */
  readonly served: boolean;
  readonly management: ListenAddress;
  readonly publicAddress: string | null;
  readonly spec: KeptSpec;
  readonly sealedSecrets: string;
  readonly drivesGiven: number;
  /** When its encryption came and went, as it last reported. */
  readonly encryption: readonly EncryptionChange[];
}

interface ArrayRow {
  readonly number: number;
  readonly uuid: string;
  readonly product: Product;
  readonly zone: string | null;
  readonly desired: 'running' | 'stopped';
  readonly removing: number;
  readonly served: number;
  readonly address: string;
  readonly port: number;
  readonly public_address: string | null;
  readonly spec: string;
  readonly secrets: string;
  readonly drives_given: number;
  readonly encryption: string;
}

export interface NewArray {
  readonly uuid: string;
  readonly product: Product;
  readonly management: ListenAddress;
  readonly spec: KeptSpec;
  readonly sealedSecrets: string;
  readonly now: number;
}

export type ArrayChange = Pick<
  HostedRecord,
  'desired' | 'publicAddress' | 'spec' | 'sealedSecrets' | 'zone' | 'drivesGiven'
>;

export function findArray(db: Db, uuid: string): HostedRecord | undefined {
  const row = db.get<ArrayRow>('SELECT * FROM arrays WHERE uuid = :uuid', { uuid });
  return row && toRecord(row);
}

export function listArrays(db: Db): HostedRecord[] {
  return db.all<ArrayRow>('SELECT * FROM arrays ORDER BY number').map(toRecord);
}

export function countArrays(db: Db): number {
  return db.get<{ count: number }>('SELECT count(*) AS count FROM arrays')?.count ?? 0;
}

/** The number the newest array got, whether it still exists or not. */
export function lastNumber(db: Db): number {
  return db.get<{ seq: number }>(`SELECT seq FROM sqlite_sequence WHERE name = 'arrays'`)?.seq ?? 0;
}

export function isAddressTaken(db: Db, { host, port }: ListenAddress): boolean {
  const own = db.get('SELECT 1 FROM arrays WHERE address = :host AND port = :port', { host, port });
  return own !== undefined || isPublicAddressTaken(db, host);
}

/** By an array that is in the public range, or in a virtual network from before the range was changed. */
export function isPublicAddressTaken(db: Db, host: string): boolean {
  return (
    db.get('SELECT 1 FROM arrays WHERE public_address = :host', { host }) !== undefined ||
    findOwner(db, host) !== undefined
  );
}

/** Whether an array is managed there or has it as its public address. */
export function hasAddress(db: Db, host: string): boolean {
  return db.get('SELECT 1 FROM arrays WHERE address = :host OR public_address = :host', { host }) !== undefined;
}

export function insertArray(tx: Tx, { uuid, product, management, spec, sealedSecrets, now }: NewArray): HostedRecord {
  tx.run(
    `INSERT INTO arrays (uuid, product, desired, served, address, port, spec, secrets, created_at)
     VALUES (:uuid, :product, 'running', 0, :address, :port, :spec, :secrets, :now)`,
    {
      uuid,
      product,
      address: management.host,
      port: management.port,
      spec: JSON.stringify(spec),
      secrets: sealedSecrets,
      now,
    },
  );
  return findArray(tx, uuid) as HostedRecord;
}

export function updateArray(tx: Tx, number: number, change: ArrayChange): void {
  tx.run(
    `UPDATE arrays SET desired = :desired, public_address = :publicAddress, spec = :spec, secrets = :secrets,
       zone = :zone, drives_given = :drivesGiven
     WHERE number = :number`,
    {
      number,
      desired: change.desired,
      publicAddress: change.publicAddress,
      spec: JSON.stringify(change.spec),
      secrets: change.sealedSecrets,
      zone: change.zone,
      drivesGiven: change.drivesGiven,
    },
  );
}

/** Something the vault has sealed, to try a key on. */
export function anySealedSecrets(db: Db): string | undefined {
  return db.get<{ secrets: string }>('SELECT secrets FROM arrays LIMIT 1')?.secrets;
}

export function markRemoving(tx: Tx, number: number): void {
  tx.run('UPDATE arrays SET removing = 1 WHERE number = :number', { number });
}

export function markServed(tx: Tx, uuid: string): void {
  tx.run('UPDATE arrays SET served = 1 WHERE uuid = :uuid AND served = 0', { uuid });
}

export function setEncryption(tx: Tx, uuid: string, changes: readonly EncryptionChange[]): void {
  const encryption = JSON.stringify(changes);
  tx.run('UPDATE arrays SET encryption = :encryption WHERE uuid = :uuid AND encryption <> :encryption', {
    uuid,
    encryption,
  });
}

export function deleteArray(tx: Tx, number: number): void {
  releaseAddresses(tx, number, []);
  tx.run('DELETE FROM arrays WHERE number = :number', { number });
}

function toRecord(row: ArrayRow): HostedRecord {
  return {
    number: row.number,
    uuid: row.uuid,
    internalName: internalNameOf(row.number),
    product: row.product,
    zone: row.zone,
    desired: row.desired,
    removing: row.removing === 1,
    served: row.served === 1,
    management: { host: row.address, port: row.port },
    publicAddress: row.public_address,
    spec: JSON.parse(row.spec) as KeptSpec,
    sealedSecrets: row.secrets,
    drivesGiven: row.drives_given,
    encryption: JSON.parse(row.encryption) as EncryptionChange[],
  };
}

export function internalNameOf(number: number): string {
  return `vsa-${number.toString(16).padStart(8, '0')}`;
}
