import type { HostedArray } from '@granary/contract/cloud';
import type { ArrayState } from '@granary/contract/portal';
import {
  bestFirst,
  flag,
  generated,
  json,
  likeAny,
  likeParams,
  plain,
  sqlPage,
  Table,
  type Db,
  type Page,
  type Tx,
} from '@granary/kernel';
import type { ArrayId, CloudId, ProviderId, UserId } from '../ids.ts';
import { existedIn, type Span } from '../metering/repository.ts';
import { nameOfProvider } from '../providers/repository.ts';
import { OWNER } from '../users/repository.ts';
import { countedStateOf, type ArrayRecord, type KeptSpec, type PortalArray } from './array.ts';

const arrays = new Table<ArrayRecord, 'id'>('arrays', {
  id: generated('id'),
  uuid: plain('uuid'),
  name: plain('name'),
  description: plain('description'),
  status: plain('status'),
  statusMessage: plain('status_message'),
  progress: plain('progress'),
  product: plain('product'),
  ownerId: plain('owner_id'),
  providerId: plain('provider_id'),
  cloudId: plain('cloud_id'),
  spec: json('spec'),
  initialPasscodeSealed: plain('initial_passcode_sealed'),
  internalKeySealed: plain('internal_key_sealed'),
  zones: json('zones'),
  numberInCloud: plain('nova_id'),
  storageControllers: plain('storage_controllers'),
  internalName: plain('internal_name'),
  managementUrl: plain('management_url'),
  ipAddress: plain('ip_address'),
  ipv6Address: plain('ipv6_address'),
  publicIp: plain('public_ip'),
  cacheMb: plain('cache_mb'),
  outageSeen: plain('outage_seen'),
  isLockedDown: flag('locked_down'),
  isEncrypted: flag('encrypted'),
  encryptionSeen: plain('encryption_seen'),
  createdAt: plain('created_at'),
  deletedAt: plain('deleted_at'),
  purgeAt: plain('purge_at'),
  purgedAt: plain('purged_at'),
});

type OfOwner = Pick<PortalArray, 'owner' | 'ownerUuid'>;

const SELECT = `SELECT ${arrays.fields()}, ${OWNER.fields} FROM arrays ${OWNER.join('owner_id')}`;

/** `scope` limits the arrays to those of an owner; null: all. */
export function findArray(db: Db, id: ArrayId, scope: UserId | null): PortalArray | undefined {
  const sql = `${SELECT} WHERE arrays.id = :id AND (:scope IS NULL OR owner_id = :scope)`;
  return arrays.get<OfOwner>(db, sql, { id, scope });
}

export function findArrayByName(db: Db, ownerId: UserId, name: string): PortalArray | undefined {
  const sql = `${SELECT} WHERE owner_id = :ownerId AND name = :name AND status <> 'deleted'`;
  return arrays.get<OfOwner>(db, sql, { ownerId, name });
}

/** The app engines of the arrays that a user has at a provider, those included that wait for approval or can be undeleted. */
export function listAppEngines(
  db: Db,
  ownerId: UserId,
  providerId: ProviderId,
): { readonly id: ArrayId; readonly key: string }[] {
  return db.all(
    `SELECT id, json_extract(spec, '$.app_engine') AS key FROM arrays
     WHERE owner_id = :ownerId AND provider_id = :providerId AND json_extract(spec, '$.app_engine') IS NOT NULL
       AND (status <> 'deleted' OR purge_at IS NOT NULL) AND (status <> 'failed' OR nova_id IS NOT NULL)`,
    { ownerId, providerId },
  );
}

/** Whether it is or was on record, in whatever state. */
export function isKnown(db: Db, uuid: string): boolean {
  return db.get('SELECT 1 FROM arrays WHERE uuid = :uuid', { uuid }) !== undefined;
}

export interface ArrayFilter {
  readonly scope: UserId | null;
  readonly status?: ArrayState | undefined;
  readonly name?: string | undefined;
  /** Only deleted arrays that can be undeleted. */
  readonly restorable?: boolean | undefined;
}

/** The ids of a page, in the order arrays were ordered; deleted ones only when asked for by their state. */
export function listArrayIds(db: Db, filter: ArrayFilter, page: Page): ArrayId[] {
  const { where, params } = conditionOf(filter);
  const sql = `SELECT id FROM arrays WHERE ${where} ORDER BY id LIMIT :limit OFFSET :start`;
  return db.all<{ id: ArrayId }>(sql, { ...params, ...sqlPage(page) }).map(({ id }) => id);
}

export function countArrays(db: Db, filter: ArrayFilter): number {
  const { where, params } = conditionOf(filter);
  return db.get<{ n: number }>(`SELECT count(*) AS n FROM arrays WHERE ${where}`, params)?.n ?? 0;
}

/** By product and state, deleted ones excepted: the key is both, a space between. */
export function countArraysByState(db: Db): ReadonlyMap<string, number> {
  const failure = `CASE status WHEN 'failed' THEN status_message END`;
  const sql = `SELECT product, status, ${failure} AS statusMessage, count(*) AS n FROM arrays
     WHERE status <> 'deleted' GROUP BY product, status, ${failure}`;
  const counts = new Map<string, number>();
  for (const row of db.all<Pick<PortalArray, 'product' | 'status' | 'statusMessage'> & { n: number }>(sql)) {
    const key = `${row.product} ${countedStateOf(row)}`;
    counts.set(key, (counts.get(key) ?? 0) + row.n);
  }
  return counts;
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

export type NewArray = Pick<
  ArrayRecord,
  | 'uuid'
  | 'name'
  | 'description'
  | 'statusMessage'
  | 'product'
  | 'ownerId'
  | 'providerId'
  | 'cloudId'
  | 'spec'
  | 'initialPasscodeSealed'
  | 'internalKeySealed'
  | 'createdAt'
>;

const NOT_PLACED = {
  status: 'creating',
  progress: 0,
  zones: [],
  numberInCloud: null,
  storageControllers: 0,
  internalName: null,
  managementUrl: null,
  ipAddress: null,
  ipv6Address: null,
  publicIp: null,
  cacheMb: null,
  outageSeen: null,
  isLockedDown: false,
  isEncrypted: false,
  encryptionSeen: null,
  deletedAt: null,
  purgeAt: null,
  purgedAt: null,
} as const satisfies Partial<ArrayRecord>;

export function insertArray(tx: Tx, array: NewArray): ArrayId {
  return arrays.insert(tx, { ...NOT_PLACED, ...array });
}

export interface StatusChange {
  readonly status: ArrayState;
  readonly message: string | null;
  readonly progress: number;
}

export function setStatus(tx: Tx, id: ArrayId, { status, message, progress }: StatusChange): void {
  arrays.update(tx, { id }, { status, statusMessage: message, progress });
}

/** How far the work of a state has got; says nothing if the array has left that state meanwhile. */
export function setProgress(tx: Tx, id: ArrayId, { status, message, progress }: StatusChange): void {
  arrays.update(tx, { id, status }, { statusMessage: message, progress });
}

export function setStatusMessage(tx: Tx, id: ArrayId, message: string | null): void {
  arrays.update(tx, { id }, { statusMessage: message });
}

export function setDeleted(tx: Tx, id: ArrayId, now: number): void {
  arrays.update(tx, { id }, { status: 'deleted', statusMessage: null, progress: 100, deletedAt: now });
}

/** Until when it keeps what it holds; null when it does not any more. */
export function setPurgeAt(tx: Tx, id: ArrayId, purgeAt: number | null): void {
  arrays.update(tx, { id }, { purgeAt });
}

export function setUndeleted(tx: Tx, id: ArrayId): void {
  arrays.update(tx, { id }, { deletedAt: null, purgeAt: null });
}

/** Nothing of it is left at its cloud. */
export function setPurged(tx: Tx, id: ArrayId, now: number): void {
  const nowhere = { managementUrl: null, ipAddress: null, ipv6Address: null, publicIp: null };
  arrays.update(tx, { id }, { ...nowhere, purgeAt: null, purgedAt: now });
}

/** Deleted arrays whose time is up, the oldest first. */
export function listToPurge(
  db: Db,
  now: number,
): { readonly id: ArrayId; readonly name: string; readonly purgeAt: number }[] {
  return db.all(
    `SELECT id, name, purge_at AS purgeAt FROM arrays
     WHERE purge_at <= :now AND status = 'deleted' ORDER BY purge_at, id`,
    { now },
  );
}

export function nextPurge(db: Db): number | null {
  const sql = `SELECT min(purge_at) AS next FROM arrays WHERE purge_at IS NOT NULL AND status = 'deleted'`;
  return db.get<{ next: number | null }>(sql)?.next ?? null;
}

export function renameArray(tx: Tx, id: ArrayId, name: string): void {
  arrays.update(tx, { id }, { name });
}

export function setSpec(tx: Tx, id: ArrayId, spec: KeptSpec): void {
  arrays.update(tx, { id }, { spec });
}

/** Where the cloud has put it. */
export function setPlacement(tx: Tx, id: ArrayId, hosted: HostedArray): void {
  arrays.update(
    tx,
    { id },
    {
      numberInCloud: hosted.number,
      internalName: hosted.internal_name,
      managementUrl: hosted.management_url,
      ipAddress: hosted.ip_address,
      ipv6Address: hosted.ipv6_address,
      publicIp: hosted.public_ip,
      cacheMb: hosted.cache_mb ?? null,
      storageControllers: hosted.storage_controllers,
      zones: [...new Set(hosted.drives.map(({ zone }) => zone))].sort(),
    },
  );
}

/** The bill accounts for all outages up to this one. */
export function setOutageSeen(tx: Tx, id: ArrayId, outage: string): void {
  arrays.update(tx, { id }, { outageSeen: outage });
}

export function setLockedDown(tx: Tx, id: ArrayId, isLockedDown: boolean): void {
  arrays.update(tx, { id }, { isLockedDown });
}

/** The bill accounts for all changes of its encryption up to this one. */
export function setEncryptionSeen(tx: Tx, id: ArrayId, isEncrypted: boolean, change: string): void {
  arrays.update(tx, { id }, { isEncrypted, encryptionSeen: change });
}

/** Arrays a cloud has placed and that should be there, by their uuid. */
export function listPlaced(db: Db, cloudId: CloudId): PortalArray[] {
  const sql = `${SELECT} WHERE cloud_id = :cloudId AND nova_id IS NOT NULL AND status IN ('created', 'starting', 'failed')`;
  return arrays.all<OfOwner>(db, sql, { cloudId });
}

/** Arrays that should answer now. */
export function listAnswering(db: Db): PortalArray[] {
  const sql = `${SELECT} WHERE status = 'created' AND management_url IS NOT NULL ORDER BY arrays.id`;
  return arrays.all<OfOwner>(db, sql, {});
}

export interface PresentArray extends Pick<PortalArray, 'id' | 'name' | 'status' | 'statusMessage' | 'product'> {
  /** When it was ordered. */
  readonly since: number;
}

/** Of one owner, or all (null), deleted ones excepted. */
export function listPresent(db: Db, scope: UserId | null): PresentArray[] {
  return db.all<PresentArray>(
    `SELECT id, name, status, status_message AS statusMessage, product, created_at AS since FROM arrays
     WHERE status <> 'deleted' AND (:scope IS NULL OR owner_id = :scope) ORDER BY id`,
    { scope },
  );
}

/** Those with a text in their names or addresses, best first. */
export function searchArrays(db: Db, scope: UserId | null, text: string, limit: number): PortalArray[] {
  const columns = ['name', 'internal_name', 'ip_address', 'ipv6_address', 'public_ip', 'management_url', 'arrays.uuid'];
  const sql = `${SELECT} WHERE status <> 'deleted' AND (:scope IS NULL OR owner_id = :scope)
    AND ${likeAny(...columns)} ORDER BY ${bestFirst('name')}`;
  return arrays.all<OfOwner>(db, sql, { scope, ...likeParams(text, limit) });
}

export interface BilledArray extends Pick<
  PortalArray,
  'id' | 'name' | 'owner' | 'providerId' | 'product' | 'createdAt' | 'deletedAt'
> {
  readonly providerName: string;
}

/** Arrays of which anything existed at any time of the span: one owner's, or all (null). */
export function listBilledArrays(db: Db, { from, to }: Span, ownerId: UserId | null): BilledArray[] {
  return db.all<BilledArray>(
    `SELECT arrays.id, name, ${OWNER.fields}, provider_id AS providerId, product, arrays.created_at AS createdAt,
       deleted_at AS deletedAt, ${nameOfProvider('provider_id')} AS providerName
     FROM arrays ${OWNER.join('owner_id')}
     WHERE (:ownerId IS NULL OR owner_id = :ownerId) AND ${existedIn('arrays.id')} ORDER BY arrays.id`,
    { from, to, ownerId },
  );
}

/** By id, for records that name the arrays they are used by. */
export function namesOfArrays(db: Db, ids: readonly ArrayId[]): ReadonlyMap<ArrayId, string> {
  const sql = 'SELECT id, name FROM arrays WHERE id IN (SELECT value FROM json_each(:ids)) ORDER BY id';
  const rows = db.all<{ id: ArrayId; name: string }>(sql, { ids: JSON.stringify(ids) });
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** Arrays that a user owns, a provider sells or a cloud hosts: those that are there, and those that only bills name. */
export function countUses(
  db: Db,
  by: 'owner_id' | 'provider_id' | 'cloud_id',
  id: UserId | ProviderId | CloudId,
): { readonly present: number; readonly purged: number } {
  const sql = `SELECT count(*) FILTER (WHERE purged_at IS NULL) AS present,
      count(*) FILTER (WHERE purged_at IS NOT NULL) AS purged FROM arrays WHERE ${by} = :id`;
  return db.get<{ present: number; purged: number }>(sql, { id }) ?? { present: 0, purged: 0 };
}
