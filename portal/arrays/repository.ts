import type { ArraySpec, HostedArray, Product } from '@granary/contract/cloud';
import type { ArrayState } from '@granary/contract/portal';
import type { Db, Tx } from '@granary/kernel';
import { sqlPage, type Page } from '../paging.ts';

/** What the record keeps of the specification; names, secrets and interfaces have places of their own. */
export type KeptSpec = Omit<
  ArraySpec,
  'product' | 'name' | 'owner' | 'initial_passcode' | 'internal_key' | 'interfaces' | Returned
> &
  Partial<Pick<ArraySpec, Returned>>;

/** What the portal has heard of that the array gave back. */
type Returned = 'drives_returned' | 'policy_drives_returned' | 'proxies_returned';

interface StoredArray {
  readonly id: number;
  readonly uuid: string;
  readonly name: string;
  readonly description: string | null;
  readonly status: ArrayState;
  readonly status_message: string | null;
  readonly progress: number;
  readonly product: Product;
  readonly owner_id: number;
  readonly owner: string;
  readonly owner_uuid: string;
  readonly provider_id: number;
  readonly cloud_id: number;
  readonly spec: string;
  readonly initial_passcode_sealed: string;
  readonly internal_key_sealed: string;
  readonly zones: string;
  readonly nova_id: number | null;
  readonly storage_controllers: number;
  readonly internal_name: string | null;
  readonly management_url: string | null;
  readonly ip_address: string | null;
  readonly ipv6_address: string | null;
  readonly public_ip: string | null;
  readonly outage_seen: string | null;
  readonly created_at: number;
  readonly deleted_at: number | null;
  readonly purge_at: number | null;
  readonly purged_at: number | null;
}

export interface ArrayRow extends Omit<StoredArray, 'spec' | 'zones'> {
  readonly spec: KeptSpec;
  readonly zones: readonly string[];
}

const SELECT = `SELECT arrays.*, coalesce(users.former_name, users.username) AS owner, users.uuid AS owner_uuid
   FROM arrays JOIN users ON users.id = owner_id`;

/** `scope` is whose arrays are looked at: an owner's, or everybody's when null. */
export function findArray(db: Db, id: number, scope: number | null): ArrayRow | undefined {
  const sql = `${SELECT} WHERE arrays.id = :id AND (:scope IS NULL OR owner_id = :scope)`;
  const row = db.get<StoredArray>(sql, { id, scope });
  return row && fromStored(row);
}

export function findArrayByName(db: Db, ownerId: number, name: string): ArrayRow | undefined {
  const sql = `${SELECT} WHERE owner_id = :ownerId AND name = :name AND status <> 'deleted'`;
  const row = db.get<StoredArray>(sql, { ownerId, name });
  return row && fromStored(row);
}

/** Whether it is or was on record, in whatever state. */
export function isKnown(db: Db, uuid: string): boolean {
  return db.get('SELECT 1 FROM arrays WHERE uuid = :uuid', { uuid }) !== undefined;
}

export interface ArrayFilter {
  readonly scope: number | null;
  readonly status?: ArrayState | undefined;
  readonly name?: string | undefined;
  /** Only deleted arrays that can be undeleted. */
  readonly restorable?: boolean | undefined;
}

/** The ids of a page, in the order arrays were ordered; deleted ones only when asked for by their state. */
export function listArrayIds(db: Db, filter: ArrayFilter, page: Page): number[] {
  const { where, params } = conditionOf(filter);
  const sql = `SELECT id FROM arrays WHERE ${where} ORDER BY id LIMIT :limit OFFSET :start`;
  return db.all<{ id: number }>(sql, { ...params, ...sqlPage(page) }).map(({ id }) => id);
}

export function countArrays(db: Db, filter: ArrayFilter): number {
  const { where, params } = conditionOf(filter);
  return db.get<{ n: number }>(`SELECT count(*) AS n FROM arrays WHERE ${where}`, params)?.n ?? 0;
}

/** Only the conditions that apply, so that each form of the list has an index that fits. */
function conditionOf({ scope, status, name, restorable = false }: ArrayFilter) {
  const where = [
    ...(status === 'deleted' || restorable ? [] : [`status <> 'deleted'`]),
    ...(restorable ? [`status = 'deleted' AND purge_at IS NOT NULL`] : []),
    ...(status === undefined ? [] : ['status = :status']),
    ...(scope === null ? [] : ['owner_id = :scope']),
    ...(name === undefined ? [] : ['name = :name']),
  ];
  const params = {
    ...(status !== undefined && { status }),
    ...(scope !== null && { scope }),
    ...(name !== undefined && { name }),
  };
  return { where: where.join(' AND ') || '1', params };
}

export interface NewArray {
  readonly uuid: string;
  readonly name: string;
  readonly description: string | null;
  readonly statusMessage: string;
  readonly product: Product;
  readonly ownerId: number;
  readonly providerId: number;
  readonly cloudId: number;
  readonly spec: KeptSpec;
  readonly initialPasscodeSealed: string;
  readonly internalKeySealed: string;
  readonly now: number;
}

export function insertArray(tx: Tx, { spec, ...array }: NewArray): number {
  return tx.run(
    `INSERT INTO arrays (uuid, name, description, status, status_message, product, owner_id, provider_id, cloud_id, spec,
       initial_passcode_sealed, internal_key_sealed, created_at)
     VALUES (:uuid, :name, :description, 'creating', :statusMessage, :product, :ownerId, :providerId, :cloudId, :spec,
       :initialPasscodeSealed, :internalKeySealed, :now)`,
    { ...array, spec: JSON.stringify(spec) },
  ).insertedId;
}

export interface StatusChange {
  readonly status: ArrayState;
  readonly message: string | null;
  readonly progress: number;
}

export function setStatus(tx: Tx, id: number, { status, message, progress }: StatusChange): void {
  tx.run('UPDATE arrays SET status = :status, status_message = :message, progress = :progress WHERE id = :id', {
    id,
    status,
    message,
    progress,
  });
}

/** How far the work of a state has got; says nothing if the array has left that state meanwhile. */
export function setProgress(tx: Tx, id: number, { status, message, progress }: StatusChange): void {
  tx.run('UPDATE arrays SET status_message = :message, progress = :progress WHERE id = :id AND status = :status', {
    id,
    status,
    message,
    progress,
  });
}

export function setStatusMessage(tx: Tx, id: number, message: string | null): void {
  tx.run('UPDATE arrays SET status_message = :message WHERE id = :id', { id, message });
}

export function setDeleted(tx: Tx, id: number, now: number): void {
  tx.run(
    `UPDATE arrays SET status = 'deleted', status_message = NULL, progress = 100, deleted_at = :now WHERE id = :id`,
    { id, now },
  );
}

/** Until when it keeps what it holds; null when it does not any more. */
export function setPurgeAt(tx: Tx, id: number, purgeAt: number | null): void {
  tx.run('UPDATE arrays SET purge_at = :purgeAt WHERE id = :id', { id, purgeAt });
}

export function setUndeleted(tx: Tx, id: number): void {
  tx.run('UPDATE arrays SET deleted_at = NULL, purge_at = NULL WHERE id = :id', { id });
}

/** Nothing of it is left at its cloud. */
export function setPurged(tx: Tx, id: number, now: number): void {
  tx.run(
    `UPDATE arrays SET purge_at = NULL, purged_at = :now,
       management_url = NULL, ip_address = NULL, ipv6_address = NULL, public_ip = NULL WHERE id = :id`,
    { id, now },
  );
}

/** Deleted arrays whose time is up, the oldest first. */
export function listToPurge(
  db: Db,
  now: number,
): { readonly id: number; readonly name: string; readonly purge_at: number }[] {
  return db.all(
    `SELECT id, name, purge_at FROM arrays WHERE purge_at <= :now AND status = 'deleted' ORDER BY purge_at, id`,
    { now },
  );
}

export function nextPurge(db: Db): number | null {
  const sql = `SELECT min(purge_at) AS next FROM arrays WHERE purge_at IS NOT NULL AND status = 'deleted'`;
  return db.get<{ next: number | null }>(sql)?.next ?? null;
}

export function renameArray(tx: Tx, id: number, name: string): void {
  tx.run('UPDATE arrays SET name = :name WHERE id = :id', { id, name });
}

export function setSpec(tx: Tx, id: number, spec: KeptSpec): void {
  tx.run('UPDATE arrays SET spec = :spec WHERE id = :id', { id, spec: JSON.stringify(spec) });
}

/** Where the cloud has put it. */
export function setPlacement(tx: Tx, id: number, hosted: HostedArray): void {
  tx.run(
    `UPDATE arrays SET nova_id = :number, internal_name = :internalName, management_url = :managementUrl,
       ip_address = :ipAddress, ipv6_address = :ipv6Address, public_ip = :publicIp, zones = :zones,
       storage_controllers = :storageControllers WHERE id = :id`,
    {
      id,
      number: hosted.number,
      internalName: hosted.internal_name,
      managementUrl: hosted.management_url,
      ipAddress: hosted.ip_address,
      ipv6Address: hosted.ipv6_address,
      publicIp: hosted.public_ip,
      storageControllers: hosted.storage_controllers,
      zones: JSON.stringify([...new Set(hosted.drives.map(({ zone }) => zone))].sort()),
    },
  );
}

/** The bill accounts for all outages up to this one. */
export function setOutageSeen(tx: Tx, id: number, outage: string): void {
  tx.run('UPDATE arrays SET outage_seen = :outage WHERE id = :id', { id, outage });
}

/** Arrays a cloud has placed and that should be there, by their uuid. */
export function listPlaced(db: Db, cloudId: number): ArrayRow[] {
  const sql = `${SELECT} WHERE cloud_id = :cloudId AND nova_id IS NOT NULL AND status IN ('created', 'starting', 'failed')`;
  return db.all<StoredArray>(sql, { cloudId }).map(fromStored);
}

function fromStored({ spec, zones, ...row }: StoredArray): ArrayRow {
  return { ...row, spec: JSON.parse(spec) as KeptSpec, zones: JSON.parse(zones) as string[] };
}
