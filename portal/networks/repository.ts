import { flag, generated, plain, sqlPage, Table, type Db, type Page, type Tx } from '@granary/kernel';
import { ownedBy } from '../tenants/repository.ts';
import type { AddressPlan } from './addresses/pool.ts';
import type { VirtualNetwork } from './network.ts';

const networks = new Table<VirtualNetwork, 'id'>('virtual_networks', {
  id: generated('id'),
  name: plain('name'),
  vlanId: plain('vlan_id'),
  tenantId: plain('tenant_id'),
  providerId: plain('provider_id'),
  cidr: plain('cidr'),
  gateway: plain('gateway'),
  gatewayZone1: plain('gateway_zone_1'),
  allocatable: plain('allocatable'),
  ipv6Cidr: plain('ipv6_cidr'),
  ipv6Gateway: plain('ipv6_gateway'),
  ipv6GatewayZone1: plain('ipv6_gateway_zone_1'),
  ipv6Allocatable: plain('ipv6_allocatable'),
  defaultForTenant: flag('default_for_tenant'),
  forced: flag('forced'),
});

const SELECT = `SELECT ${networks.fields('n')}`;
const OWNED = 'FROM tenants t JOIN virtual_networks n ON n.tenant_id = t.id WHERE';

export function listNetworks(db: Db, scope: number | null, page: Page): VirtualNetwork[] {
  const { sql, params } = ownedBy(scope);
  return networks.all(db, `${SELECT} ${OWNED} ${sql} ORDER BY n.id LIMIT :limit OFFSET :start`, {
    ...params,
    ...sqlPage(page),
  });
}

export function countNetworks(db: Db, scope: number | null): number {
  const { sql, params } = ownedBy(scope);
  return db.get<{ n: number }>(`SELECT count(*) AS n ${OWNED} ${sql}`, params)?.n ?? 0;
}

export function findNetwork(db: Db, scope: number | null, id: number): VirtualNetwork | undefined {
  const { sql, params } = ownedBy(scope);
  return networks.get(db, `${SELECT} ${OWNED} ${sql} AND n.id = :id`, { ...params, id });
}

/** The network, if the array's owner has it at the array's provider. */
export function findNetworkForArray(db: Db, arrayId: number, networkId: number): VirtualNetwork | undefined {
  return networks.get(
    db,
    `${SELECT} FROM virtual_networks n
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

export function networksOfTenant(db: Db, tenant: OfTenant): VirtualNetwork[] {
  return networks.all(db, `${SELECT} ${OWNED} t.user_id = :userId AND t.provider_id = :providerId ORDER BY n.id`, {
    ...tenant,
  });
}

const JOINABLE = `${OWNED} t.user_id = :userId AND t.provider_id = :providerId
  AND coalesce(n.cidr, n.ipv6_cidr) IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM interfaces i WHERE i.array_id = :arrayId AND i.virtual_network_id = n.id)`;

/** Networks of the tenant that hand out addresses and that the array is not in. */
export function listJoinable(db: Db, array: OfTenant & { readonly arrayId: number }, page: Page): VirtualNetwork[] {
  return networks.all(db, `${SELECT} ${JOINABLE} ORDER BY n.id LIMIT :limit OFFSET :start`, {
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
export function networksOfCloud(db: Db, providerId: number): (VirtualNetwork & { readonly ownerId: number })[] {
  return networks.all<{ readonly ownerId: number }>(
    db,
    `${SELECT}, t.user_id AS ownerId FROM virtual_networks n
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

interface NewNetwork extends Pick<
  VirtualNetwork,
  'name' | 'vlanId' | 'tenantId' | 'providerId' | 'defaultForTenant' | 'forced'
> {
  readonly ipv4: AddressPlan | undefined;
  readonly ipv6: AddressPlan | undefined;
}

/** A tenant has one default network at most: a new one takes the place of the old. */
export function insertNetwork(tx: Tx, { ipv4, ipv6, ...network }: NewNetwork): number {
  const { tenantId, defaultForTenant } = network;
  if (defaultForTenant) networks.update(tx, { tenantId, defaultForTenant }, { defaultForTenant: false });
  return networks.insert(tx, {
    ...network,
    cidr: ipv4?.cidr ?? null,
    gateway: ipv4?.gateway ?? null,
    gatewayZone1: ipv4?.gatewayZone1 ?? null,
    allocatable: ipv4?.allocatable ?? null,
    ipv6Cidr: ipv6?.cidr ?? null,
    ipv6Gateway: ipv6?.gateway ?? null,
    ipv6GatewayZone1: ipv6?.gatewayZone1 ?? null,
    ipv6Allocatable: ipv6?.allocatable ?? null,
  });
}

export function deleteNetwork(tx: Tx, id: number): void {
  tx.run('DELETE FROM virtual_networks WHERE id = :id', { id });
}
