import { flag, plain, sqlPage, Table, type Db, type Page, type Tx } from '@granary/kernel';
import type { NameOnVlan, ProviderVlans, Vlan } from './vlan.ts';

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

/** Names of the arrays that have an interface on each VLAN of the page; an array counts once. */
export function arrayNamesOfPage(db: Db, page: Page): NameOnVlan[] {
  return db.all<NameOnVlan>(
    `WITH v AS (${PAGE})
     SELECT v.cloud_id AS cloudId, v.vlan_id AS vlanId, a.name FROM v
     JOIN virtual_networks n ON n.provider_id = v.provider_id AND n.vlan_id = v.vlan_id
     JOIN interfaces i ON i.virtual_network_id = n.id
     JOIN arrays a ON a.id = i.array_id
     GROUP BY v.cloud_id, v.vlan_id, a.id ORDER BY a.id`,
    sqlPage(page),
  );
}

export function findProviderVlans(db: Db, providerId: number): ProviderVlans | undefined {
  return db.get<ProviderVlans>(
    `SELECT p.id, p.name, c.id AS cloudId, c.name AS cloudName,
       coalesce(json_extract(c.inventory, '$.vlans.first'), 1) AS vlanFirst,
       coalesce(json_extract(c.inventory, '$.vlans.last'), 0) AS vlanLast
     FROM providers p JOIN clouds c ON c.id = p.cloud_id WHERE p.id = :providerId`,
    { providerId },
  );
}

/** With the name of the provider that has it. */
export function findVlan(
  db: Db,
  cloudId: number,
  vlanId: number,
): (Vlan & { readonly providerName: string }) | undefined {
  return vlans.get<{ readonly providerName: string }>(
    db,
    `SELECT ${vlans.fields('v')}, p.name AS providerName FROM vlans v JOIN providers p ON p.id = v.provider_id
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
export function findEmptyVlan(db: Db, { id: providerId, cloudId }: ProviderVlans): number | undefined {
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

export function insertVlan(tx: Tx, vlan: Omit<Vlan, 'isDefault'>): void {
  vlans.insert(tx, { ...vlan, isDefault: false });
}

export function deleteVlan(tx: Tx, cloudId: number, vlanId: number): void {
  tx.run('DELETE FROM vlans WHERE cloud_id = :cloudId AND vlan_id = :vlanId', { cloudId, vlanId });
}

export function setDefaultVlan(tx: Tx, { cloudId, vlanId, providerId }: Vlan): void {
  vlans.update(tx, { providerId, isDefault: true }, { isDefault: false });
  vlans.update(tx, { cloudId, vlanId }, { isDefault: true });
}
