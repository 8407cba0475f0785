import type { Db, Tx } from '@granary/kernel';
import { sqlPage, type Page } from '../../paging.ts';

export interface VlanRow {
  readonly cloud_id: number;
  readonly vlan_id: number;
  readonly provider_id: number;
  readonly is_default: number;
}

/** A provider, and the VLAN numbers of the cloud it sells. */
export interface ProviderVlans {
  readonly id: number;
  readonly name: string;
  readonly cloud_id: number;
  readonly cloud_name: string;
  readonly vlan_first: number;
  readonly vlan_last: number;
}

const PAGE = 'SELECT * FROM vlans ORDER BY cloud_id, vlan_id LIMIT :limit OFFSET :start';

export function listVlans(db: Db, page: Page): VlanRow[] {
  return db.all<VlanRow>(PAGE, sqlPage(page));
}

export function countVlans(db: Db): number {
  return db.get<{ n: number }>('SELECT count(*) AS n FROM vlans')?.n ?? 0;
}

export interface NameOnVlan {
  readonly cloud_id: number;
  readonly vlan_id: number;
  readonly name: string;
}

/** Names of the networks on each VLAN of the page. */
export function networkNamesOfPage(db: Db, page: Page): NameOnVlan[] {
  return db.all<NameOnVlan>(
    `WITH v AS (${PAGE})
     SELECT v.cloud_id, v.vlan_id, n.name FROM v
     JOIN virtual_networks n ON n.provider_id = v.provider_id AND n.vlan_id = v.vlan_id
     ORDER BY n.id`,
    sqlPage(page),
  );
}

/** Names of the arrays that have an interface on each VLAN of the page; an array counts once. */
export function arrayNamesOfPage(db: Db, page: Page): NameOnVlan[] {
  return db.all<NameOnVlan>(
    `WITH v AS (${PAGE})
     SELECT v.cloud_id, v.vlan_id, a.name FROM v
     JOIN virtual_networks n ON n.provider_id = v.provider_id AND n.vlan_id = v.vlan_id
     JOIN interfaces i ON i.virtual_network_id = n.id
     JOIN arrays a ON a.id = i.array_id
     GROUP BY v.cloud_id, v.vlan_id, a.id ORDER BY a.id`,
    sqlPage(page),
  );
}

export function findProviderVlans(db: Db, providerId: number): ProviderVlans | undefined {
  return db.get<ProviderVlans>(
    `SELECT p.id, p.name, c.id AS cloud_id, c.name AS cloud_name,
       coalesce(json_extract(c.inventory, '$.vlans.first'), 1) AS vlan_first,
       coalesce(json_extract(c.inventory, '$.vlans.last'), 0) AS vlan_last
     FROM providers p JOIN clouds c ON c.id = p.cloud_id WHERE p.id = :providerId`,
    { providerId },
  );
}

/** With the name of the provider that has it. */
export function findVlan(db: Db, cloudId: number, vlanId: number): (VlanRow & { provider_name: string }) | undefined {
  return db.get(
    `SELECT v.*, p.name AS provider_name FROM vlans v JOIN providers p ON p.id = v.provider_id
     WHERE v.cloud_id = :cloudId AND v.vlan_id = :vlanId`,
    { cloudId, vlanId },
  );
}

export function findDefaultVlan(db: Db, providerId: number): number | undefined {
  return db.get<{ vlan_id: number }>('SELECT vlan_id FROM vlans WHERE provider_id = :providerId AND is_default = 1', {
    providerId,
  })?.vlan_id;
}

/** The lowest VLAN the provider has that no network is on. */
export function findEmptyVlan(db: Db, { id: providerId, cloud_id: cloudId }: ProviderVlans): number | undefined {
  return db.get<{ vlan_id: number }>(
    `SELECT vlan_id FROM vlans WHERE cloud_id = :cloudId AND provider_id = :providerId
       AND vlan_id NOT IN (SELECT vlan_id FROM virtual_networks WHERE provider_id = :providerId)
     ORDER BY vlan_id LIMIT 1`,
    { providerId, cloudId },
  )?.vlan_id;
}

export function allocatedVlans(db: Db, cloudId: number): number[] {
  return db
    .all<{ vlan_id: number }>('SELECT vlan_id FROM vlans WHERE cloud_id = :cloudId', { cloudId })
    .map((row) => row.vlan_id);
}

export function networkNamesOn(db: Db, providerId: number, vlanId: number): string[] {
  return db
    .all<{ name: string }>(
      'SELECT name FROM virtual_networks WHERE provider_id = :providerId AND vlan_id = :vlanId ORDER BY id',
      { providerId, vlanId },
    )
    .map((row) => row.name);
}

/** Whether a network of another tenant is on the VLAN. */
export function isSharedVlan(db: Db, providerId: number, vlanId: number, tenantId: number): boolean {
  const other = db.get(
    `SELECT 1 FROM virtual_networks
     WHERE provider_id = :providerId AND vlan_id = :vlanId AND tenant_id <> :tenantId LIMIT 1`,
    { providerId, vlanId, tenantId },
  );
  return other !== undefined;
}

export function insertVlan(tx: Tx, vlan: { cloudId: number; vlanId: number; providerId: number }): void {
  tx.run('INSERT INTO vlans (cloud_id, vlan_id, provider_id) VALUES (:cloudId, :vlanId, :providerId)', vlan);
}

export function deleteVlan(tx: Tx, cloudId: number, vlanId: number): void {
  tx.run('DELETE FROM vlans WHERE cloud_id = :cloudId AND vlan_id = :vlanId', { cloudId, vlanId });
}

export function setDefaultVlan(tx: Tx, { cloud_id: cloudId, vlan_id: vlanId, provider_id: providerId }: VlanRow): void {
  tx.run('UPDATE vlans SET is_default = 0 WHERE provider_id = :providerId AND is_default = 1', { providerId });
  tx.run('UPDATE vlans SET is_default = 1 WHERE cloud_id = :cloudId AND vlan_id = :vlanId', { cloudId, vlanId });
}
