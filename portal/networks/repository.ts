import type { Db, Tx } from '@granary/kernel';
import { sqlPage, type Page } from '../paging.ts';
import { ownedBy } from '../tenants/repository.ts';
import type { AddressPlan } from './addresses/pool.ts';

export interface NetworkRow {
  readonly id: number;
  readonly name: string;
  readonly vlan_id: number;
  readonly tenant_id: number;
  readonly provider_id: number;
  readonly cidr: string | null;
  readonly gateway: string | null;
  readonly gateway_zone_1: string | null;
  readonly allocatable: string | null;
  readonly ipv6_cidr: string | null;
  readonly ipv6_gateway: string | null;
  readonly ipv6_gateway_zone_1: string | null;
  readonly ipv6_allocatable: string | null;
  readonly default_for_tenant: number;
  /** An administrator allowed its range whatever it overlaps. */
  readonly forced: number;
}

const OWNED = 'FROM tenants t JOIN virtual_networks n ON n.tenant_id = t.id WHERE';

export function listNetworks(db: Db, scope: number | null, page: Page): NetworkRow[] {
  const { sql, params } = ownedBy(scope);
  return db.all<NetworkRow>(`SELECT n.* ${OWNED} ${sql} ORDER BY n.id LIMIT :limit OFFSET :start`, {
    ...params,
    ...sqlPage(page),
  });
}

export function countNetworks(db: Db, scope: number | null): number {
  const { sql, params } = ownedBy(scope);
  return db.get<{ n: number }>(`SELECT count(*) AS n ${OWNED} ${sql}`, params)?.n ?? 0;
}

export function findNetwork(db: Db, scope: number | null, id: number): NetworkRow | undefined {
  const { sql, params } = ownedBy(scope);
  return db.get<NetworkRow>(`SELECT n.* ${OWNED} ${sql} AND n.id = :id`, { ...params, id });
}

/** The network, if the array's owner has it at the array's provider. */
export function findNetworkForArray(db: Db, arrayId: number, networkId: number): NetworkRow | undefined {
  return db.get<NetworkRow>(
    `SELECT n.* FROM virtual_networks n
     JOIN tenants t ON t.id = n.tenant_id
     JOIN arrays a ON a.owner_id = t.user_id AND a.provider_id = t.provider_id
     WHERE n.id = :networkId AND a.id = :arrayId`,
    { arrayId, networkId },
  );
}

interface OfTenant {
  readonly userId: number;
  readonly providerId: number;
}

export function networksOfTenant(db: Db, tenant: OfTenant): NetworkRow[] {
  return db.all<NetworkRow>(`SELECT n.* ${OWNED} t.user_id = :userId AND t.provider_id = :providerId ORDER BY n.id`, {
    ...tenant,
  });
}

const JOINABLE = `${OWNED} t.user_id = :userId AND t.provider_id = :providerId
  AND coalesce(n.cidr, n.ipv6_cidr) IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM interfaces i WHERE i.array_id = :arrayId AND i.virtual_network_id = n.id)`;

/** Networks of the tenant that hand out addresses and that the array is not in. */
export function listJoinable(db: Db, array: OfTenant & { readonly arrayId: number }, page: Page): NetworkRow[] {
  return db.all<NetworkRow>(`SELECT n.* ${JOINABLE} ORDER BY n.id LIMIT :limit OFFSET :start`, {
    ...array,
    ...sqlPage(page),
  });
}

export function countJoinable(db: Db, array: OfTenant & { readonly arrayId: number }): number {
  return db.get<{ n: number }>(`SELECT count(*) AS n ${JOINABLE}`, { ...array })?.n ?? 0;
}

export function isNameTaken(db: Db, tenantId: number, name: string): boolean {
  const row = db.get('SELECT 1 FROM virtual_networks WHERE tenant_id = :tenantId AND name = :name', { tenantId, name });
  return row !== undefined;
}

/** Every network at the cloud of a provider, with its owner: they share the addresses of one machine, whatever their VLAN. */
export function networksOfCloud(db: Db, providerId: number): (NetworkRow & { readonly user_id: number })[] {
  return db.all(
    `SELECT n.*, t.user_id FROM virtual_networks n
     JOIN tenants t ON t.id = n.tenant_id
     JOIN providers p ON p.id = n.provider_id
     WHERE p.cloud_id = (SELECT cloud_id FROM providers WHERE id = :providerId)
     ORDER BY n.id`,
    { providerId },
  );
}

/** Networks that the owner of a tenant has at the cloud of its provider. */
export function countNetworksOfOwner(db: Db, tenantId: number): number {
  const sql = `SELECT count(*) AS n FROM virtual_networks n
    JOIN tenants t ON t.id = n.tenant_id
    JOIN providers p ON p.id = n.provider_id
    JOIN tenants own ON own.id = :tenantId AND own.user_id = t.user_id
    WHERE p.cloud_id = (SELECT cloud_id FROM providers WHERE id = own.provider_id)`;
  return db.get<{ n: number }>(sql, { tenantId })?.n ?? 0;
}

/** Ranges the cloud of a provider keeps for itself, and addresses its machine has, as last heard from it. */
export function reservedRanges(db: Db, providerId: number): string[] {
  return db
    .all<{ range: string }>(
      `SELECT reserved.value AS range FROM providers p JOIN clouds c ON c.id = p.cloud_id,
         json_each(c.inventory, '$.reserved_ranges') reserved
       WHERE p.id = :providerId`,
      { providerId },
    )
    .map(({ range }) => range);
}

export function arrayNamesIn(db: Db, networkId: number): string[] {
  return db
    .all<{ name: string }>(
      `SELECT a.name FROM interfaces i JOIN arrays a ON a.id = i.array_id
       WHERE i.virtual_network_id = :networkId ORDER BY a.id`,
      { networkId },
    )
    .map((row) => row.name);
}

interface NewNetworkRow {
  readonly name: string;
  readonly vlanId: number;
  readonly tenantId: number;
  readonly providerId: number;
  readonly ipv4: AddressPlan | undefined;
  readonly ipv6: AddressPlan | undefined;
  readonly defaultForTenant: boolean;
  readonly forced: boolean;
}

/** A tenant has one default network at most: a new one takes the place of the old. */
export function insertNetwork(tx: Tx, { ipv4, ipv6, defaultForTenant, forced, ...network }: NewNetworkRow): number {
  if (defaultForTenant) {
    tx.run(
      'UPDATE virtual_networks SET default_for_tenant = 0 WHERE tenant_id = :tenantId AND default_for_tenant = 1',
      {
        tenantId: network.tenantId,
      },
    );
  }
  return tx.run(
    `INSERT INTO virtual_networks (name, vlan_id, tenant_id, provider_id, default_for_tenant, forced,
       cidr, gateway, gateway_zone_1, allocatable, ipv6_cidr, ipv6_gateway, ipv6_gateway_zone_1, ipv6_allocatable)
     VALUES (:name, :vlanId, :tenantId, :providerId, :defaultForTenant, :forced,
       :cidr, :gateway, :gatewayZone1, :allocatable, :cidr6, :gateway6, :gateway6Zone1, :allocatable6)`,
    {
      ...network,
      defaultForTenant: Number(defaultForTenant),
      forced: Number(forced),
      cidr: ipv4?.cidr ?? null,
      gateway: ipv4?.gateway ?? null,
      gatewayZone1: ipv4?.gatewayZone1 ?? null,
      allocatable: ipv4?.allocatable ?? null,
      cidr6: ipv6?.cidr ?? null,
      gateway6: ipv6?.gateway ?? null,
      gateway6Zone1: ipv6?.gatewayZone1 ?? null,
      allocatable6: ipv6?.allocatable ?? null,
    },
  ).insertedId;
}

export function deleteNetwork(tx: Tx, id: number): void {
  tx.run('DELETE FROM virtual_networks WHERE id = :id', { id });
}

/** What the network hands out: IPv4 addresses if it has any, else IPv6; neither without a range. */
export function planOf(network: NetworkRow): AddressPlan | undefined {
  if (network.cidr !== null && network.allocatable !== null) {
    return {
      cidr: network.cidr,
      gateway: network.gateway,
      gatewayZone1: network.gateway_zone_1,
      allocatable: network.allocatable,
    };
  }
  if (network.ipv6_cidr !== null && network.ipv6_allocatable !== null) {
    return {
      cidr: network.ipv6_cidr,
      gateway: network.ipv6_gateway,
      gatewayZone1: network.ipv6_gateway_zone_1,
      allocatable: network.ipv6_allocatable,
    };
  }
  return undefined;
}
