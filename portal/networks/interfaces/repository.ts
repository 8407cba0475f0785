import { flag, generated, plain, Table, type Db, type Tx } from '@granary/kernel';
import type { ArrayId, InterfaceId, NetworkId } from '../../ids.ts';
import { familyOf, netmaskOf } from '../addresses/subnet.ts';
import type { VirtualNetwork } from '../network.ts';
import type { ArrayInterface, InterfacePlace } from './interface.ts';

const interfaces = new Table<InterfacePlace, 'id'>('interfaces', {
  id: generated('id'),
  arrayId: plain('array_id'),
  networkId: plain('virtual_network_id'),
  address: plain('address'),
  ipv6Address: plain('ipv6_address'),
  attached: flag('attached'),
  bound: flag('bound'),
  problem: plain('problem'),
});

/** What is selected of the network of an interface. */
interface OfNetwork extends Pick<
  VirtualNetwork,
  'name' | 'vlanId' | 'cidr' | 'gateway' | 'gatewayZone1' | 'ipv6Cidr' | 'ipv6Gateway' | 'ipv6GatewayZone1'
> {
  readonly forced: number;
}

const JOINED = `SELECT ${interfaces.fields('i')}, n.name, n.vlan_id AS vlanId, n.cidr, n.gateway,
    n.gateway_zone_1 AS gatewayZone1, n.ipv6_cidr AS ipv6Cidr, n.ipv6_gateway AS ipv6Gateway,
    n.ipv6_gateway_zone_1 AS ipv6GatewayZone1, n.forced
  FROM interfaces i JOIN virtual_networks n ON n.id = i.virtual_network_id`;

export function findInterface(db: Db, id: InterfaceId): ArrayInterface | undefined {
  const found = interfaces.get<OfNetwork>(db, `${JOINED} WHERE i.id = :id`, { id });
  return found && inNetwork(found);
}

export function findInterfaceIn(db: Db, arrayId: ArrayId, networkId: NetworkId): ArrayInterface | undefined {
  const sql = `${JOINED} WHERE i.array_id = :arrayId AND i.virtual_network_id = :networkId`;
  const found = interfaces.get<OfNetwork>(db, sql, { arrayId, networkId });
  return found && inNetwork(found);
}

export function listInterfaces(db: Db, arrayId: ArrayId): ArrayInterface[] {
  const sql = `${JOINED} WHERE i.array_id = :arrayId ORDER BY i.id`;
  return interfaces.all<OfNetwork>(db, sql, { arrayId }).map(inNetwork);
}

/** Netmask and gateway are those of the address's family. */
function inNetwork(joined: InterfacePlace & OfNetwork): ArrayInterface {
  const { cidr, ipv6Cidr, ipv6Gateway, ipv6GatewayZone1, gateway, gatewayZone1, ...one } = joined;
  const ipv4 = { netmask: cidr === null ? '' : netmaskOf(cidr), gateway, gatewayZone1 };
  const ipv6 = {
    netmask: ipv6Cidr === null ? '' : netmaskOf(ipv6Cidr),
    gateway: ipv6Gateway,
    gatewayZone1: ipv6GatewayZone1,
  };
  return {
    ...one,
    forced: one.forced === 1,
    ...(familyOf(one.address) === 'ipv4' ? ipv4 : ipv6),
    ipv6: one.ipv6Address === null ? null : ipv6,
  };
}

/** Which of these addresses arrays have in networks of these providers. */
export function takenAmong(db: Db, providerIds: readonly number[], addresses: readonly string[]): string[] {
  return db
    .all<{ address: string }>(
      `SELECT wanted.value AS address FROM json_each(:addresses) wanted
       JOIN interfaces i ON i.address = wanted.value OR i.ipv6_address = wanted.value
       JOIN virtual_networks n ON n.id = i.virtual_network_id
       WHERE n.provider_id IN (SELECT value FROM json_each(:providerIds))`,
      { providerIds: JSON.stringify(providerIds), addresses: JSON.stringify(addresses) },
    )
    .map((row) => row.address);
}

export function arraysInNetwork(db: Db, networkId: NetworkId): ArrayId[] {
  const sql = 'SELECT array_id AS id FROM interfaces WHERE virtual_network_id = :networkId';
  return db.all<{ id: ArrayId }>(sql, { networkId }).map(({ id }) => id);
}

export function insertInterface(
  tx: Tx,
  place: Pick<InterfacePlace, 'arrayId' | 'networkId' | 'address' | 'ipv6Address'>,
): number {
  return interfaces.insert(tx, { ...place, attached: false, bound: false, problem: null });
}

/** Whether that changed anything. */
export function markAttached(tx: Tx, id: InterfaceId): boolean {
  return interfaces.update(tx, { id, attached: false }, { attached: true }) > 0;
}

export function setBinding(tx: Tx, id: InterfaceId, binding: Pick<InterfacePlace, 'bound' | 'problem'>): void {
  interfaces.update(tx, { id }, binding);
}

export function deleteInterface(tx: Tx, id: InterfaceId): void {
  tx.run('DELETE FROM interfaces WHERE id = :id', { id });
}
