import { flag, generated, plain, sqlPage, Table, type Db, type Page, type Tx } from '@granary/kernel';
import type { ArrayId, NetworkId, ProviderId, TenantId, UserId } from '../ids.ts';
import { ownedBy, tenantJoin } from '../tenants/repository.ts';
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
const OWNED = `FROM virtual_networks n ${tenantJoin('n.tenant_id')} WHERE`;
const AT_PROVIDERS = 'n.provider_id IN (SELECT value FROM json_each(:providerIds))';

export function listNetworks(db: Db, scope: UserId | null, page: Page): VirtualNetwork[] {
  const { sql, params } = ownedBy(scope);
  return networks.all(db, `${SELECT} ${OWNED} ${sql} ORDER BY n.id LIMIT :limit OFFSET :start`, {
    ...params,
    ...sqlPage(page),
  });
}

export function countNetworks(db: Db, scope: UserId | null): number {
  const { sql, params } = ownedBy(scope);
  return db.get<{ n: number }>(`SELECT count(*) AS n ${OWNED} ${sql}`, params)?.n ?? 0;
}

export function findNetwork(db: Db, scope: UserId | null, id: NetworkId): VirtualNetwork | undefined {
  const { sql, params } = ownedBy(scope);
  return networks.get(db, `${SELECT} ${OWNED} ${sql} AND n.id = :id`, { ...params, id });
}

export interface OfTenant {
  readonly userId: UserId;
  readonly providerId: ProviderId;
}

export function findNetworkOfTenant(db: Db, tenant: OfTenant, networkId: NetworkId): VirtualNetwork | undefined {
  const sql = `${SELECT} ${OWNED} t.user_id = :userId AND t.provider_id = :providerId AND n.id = :networkId`;
  return networks.get(db, sql, { userId: tenant.userId, providerId: tenant.providerId, networkId });
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
export function listJoinable(db: Db, array: OfTenant & { readonly arrayId: ArrayId }, page: Page): VirtualNetwork[] {
  return networks.all(db, `${SELECT} ${JOINABLE} ORDER BY n.id LIMIT :limit OFFSET :start`, {
    ...array,
    ...sqlPage(page),
  });
}

export function countJoinable(db: Db, array: OfTenant & { readonly arrayId: ArrayId }): number {
  return db.get<{ n: number }>(`SELECT count(*) AS n ${JOINABLE}`, { ...array })?.n ?? 0;
}

export function isNameTaken(db: Db, tenantId: TenantId, name: string): boolean {
  const row = db.get('SELECT 1 FROM virtual_networks WHERE tenant_id = :tenantId AND name = :name', { tenantId, name });
  return row !== undefined;
}

/** Every network at these providers, with its owner. */
export function networksAtProviders(
  db: Db,
  providerIds: readonly number[],
): (VirtualNetwork & { readonly ownerId: UserId })[] {
  const sql = `${SELECT}, t.user_id AS ownerId ${OWNED} ${AT_PROVIDERS} ORDER BY n.id`;
  return networks.all<{ readonly ownerId: UserId }>(db, sql, { providerIds: JSON.stringify(providerIds) });
}

export function countNetworksOfUser(db: Db, userId: UserId, providerIds?: readonly number[]): number {
  const sql = `SELECT count(*) AS n ${OWNED} t.user_id = :userId`;
  if (providerIds === undefined) return db.get<{ n: number }>(sql, { userId })?.n ?? 0;
  const params = { userId, providerIds: JSON.stringify(providerIds) };
  return db.get<{ n: number }>(`${sql} AND ${AT_PROVIDERS}`, params)?.n ?? 0;
}

export function countNetworksOfProvider(db: Db, providerId: ProviderId): number {
  const sql = 'SELECT count(*) AS n FROM virtual_networks WHERE provider_id = :providerId';
  return db.get<{ n: number }>(sql, { providerId })?.n ?? 0;
}

interface NewNetwork extends Pick<
  VirtualNetwork,
  'name' | 'vlanId' | 'tenantId' | 'providerId' | 'defaultForTenant' | 'forced'
> {
  readonly ipv4: AddressPlan | undefined;
  readonly ipv6: AddressPlan | undefined;
}

/** A tenant has one default network at most: a new one takes the place of the old. */
export function insertNetwork(tx: Tx, { ipv4, ipv6, ...network }: NewNetwork): NetworkId {
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

export function deleteNetwork(tx: Tx, id: NetworkId): void {
  tx.run('DELETE FROM virtual_networks WHERE id = :id', { id });
}
