import { flag, plain, sqlPage, Table, type Db, type Page, type Tx } from '@granary/kernel';
import type { CloudId, ProviderId, TenantId } from '../../ids.ts';
import type { ArrayOnVlan, NameOnVlan, ProviderVlans, Vlan } from './vlan.ts';

const vlans = new Table<Vlan>('vlans', {
  cloudId: plain('cloud_id'),
  vlanId: plain('vlan_id'),
  providerId: plain('provider_id'),
  isDefault: flag('is_default'),
});

const OF_PAGE = 'FROM vlans ORDER BY cloud_id, vlan_id LIMIT :limit OFFSET :start';
const PAGE = `SELECT * ${OF_PAGE}`;

export function listVlans(db: Db, page: Page): Vlan[] {
  return vlans.all(db, `SELECT ${vlans.fields()} ${OF_PAGE}`, sqlPage(page));
}

export function countVlans(db: Db): number {
  return db.get<{ n: number }>('SELECT count(*) AS n FROM vlans')?.n ?? 0;
}

/** Names of the networks on each VLAN of the page. */
export function networkNamesOfPage(db: Db, page: Page): NameOnVlan[] {
  return db.all<NameOnVlan>(
    `WITH v AS (${PAGE})
     SELECT v.cloud_id AS cloudId, v.vlan_id AS vlanId, n.name FROM v
     JOIN virtual_networks n ON n.provider_id = v.provider_id AND n.vlan_id = v.vlan_id
     ORDER BY n.id`,
    sqlPage(page),
  );
}

/** Arrays that have an interface on each VLAN of the page; an array counts once. */
export function arraysOfPage(db: Db, page: Page): ArrayOnVlan[] {
  return db.all<ArrayOnVlan>(
    `WITH v AS (${PAGE})
     SELECT DISTINCT v.cloud_id AS cloudId, v.vlan_id AS vlanId, i.array_id AS arrayId FROM v
     JOIN virtual_networks n ON n.provider_id = v.provider_id AND n.vlan_id = v.vlan_id
     JOIN interfaces i ON i.virtual_network_id = n.id ORDER BY i.array_id`,
    sqlPage(page),
  );
}

export function findVlan(db: Db, cloudId: CloudId, vlanId: number): Vlan | undefined {
  const sql = `SELECT ${vlans.fields()} FROM vlans WHERE cloud_id = :cloudId AND vlan_id = :vlanId`;
  return vlans.get(db, sql, { cloudId, vlanId });
}

export function countVlansOfProvider(db: Db, providerId: ProviderId): number {
  const sql = 'SELECT count(*) AS n FROM vlans WHERE provider_id = :providerId';
  return db.get<{ n: number }>(sql, { providerId })?.n ?? 0;
}

export function findDefaultVlan(db: Db, providerId: ProviderId): number | undefined {
  return db.get<{ vlan_id: number }>('SELECT vlan_id FROM vlans WHERE provider_id = :providerId AND is_default = 1', {
    providerId,
  })?.vlan_id;
}

/** The lowest VLAN the provider has that no network is on. */
export function findEmptyVlan(db: Db, { id: providerId, cloudId }: ProviderVlans): number | undefined {
  return db.get<{ vlan_id: number }>(
    `SELECT vlan_id FROM vlans WHERE cloud_id = :cloudId AND provider_id = :providerId
       AND vlan_id NOT IN (SELECT vlan_id FROM virtual_networks WHERE provider_id = :providerId)
     ORDER BY vlan_id LIMIT 1`,
    { providerId, cloudId },
  )?.vlan_id;
}

export function allocatedVlans(db: Db, cloudId: CloudId): number[] {
  return db
    .all<{ vlan_id: number }>('SELECT vlan_id FROM vlans WHERE cloud_id = :cloudId', { cloudId })
    .map((row) => row.vlan_id);
}

export function networkNamesOn(db: Db, providerId: ProviderId, vlanId: number): string[] {
  return db
    .all<{ name: string }>(
      'SELECT name FROM virtual_networks WHERE provider_id = :providerId AND vlan_id = :vlanId ORDER BY id',
      { providerId, vlanId },
    )
    .map((row) => row.name);
}

/** Whether a network of another tenant is on the VLAN. */
export function isSharedVlan(db: Db, providerId: ProviderId, vlanId: number, tenantId: TenantId): boolean {
  const other = db.get(
    `SELECT 1 FROM virtual_networks
     WHERE provider_id = :providerId AND vlan_id = :vlanId AND tenant_id <> :tenantId LIMIT 1`,
    { providerId, vlanId, tenantId },
  );
  return other !== undefined;
}

export function insertVlan(tx: Tx, vlan: Omit<Vlan, 'isDefault'>): void {
  vlans.insert(tx, { ...vlan, isDefault: false });
}

export function deleteVlan(tx: Tx, cloudId: CloudId, vlanId: number): void {
  tx.run('DELETE FROM vlans WHERE cloud_id = :cloudId AND vlan_id = :vlanId', { cloudId, vlanId });
}

export function setDefaultVlan(tx: Tx, { cloudId, vlanId, providerId }: Vlan): void {
  vlans.update(tx, { providerId, isDefault: true }, { isDefault: false });
  vlans.update(tx, { cloudId, vlanId }, { isDefault: true });
}
