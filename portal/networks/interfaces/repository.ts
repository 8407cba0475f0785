import type { Db, Tx } from '@granary/kernel';

/** An array's place in a virtual network, with what the array must know of the network. */
export interface JoinedInterface {
  readonly id: number;
  readonly array_id: number;
  readonly virtual_network_id: number;
  readonly address: string;
  readonly attached: number;
  readonly bound: number;
  readonly problem: string | null;
  readonly name: string;
  readonly vlan_id: number;
  readonly cidr: string | null;
  readonly gateway: string | null;
  readonly ipv6_cidr: string | null;
  readonly ipv6_gateway: string | null;
  readonly forced: number;
}

const JOINED = `SELECT i.*, n.name, n.vlan_id, n.cidr, n.gateway, n.ipv6_cidr, n.ipv6_gateway, n.forced
  FROM interfaces i JOIN virtual_networks n ON n.id = i.virtual_network_id`;

export function findInterface(db: Db, id: number): JoinedInterface | undefined {
  return db.get<JoinedInterface>(`${JOINED} WHERE i.id = :id`, { id });
}

export function findInterfaceIn(db: Db, arrayId: number, networkId: number): JoinedInterface | undefined {
  return db.get<JoinedInterface>(`${JOINED} WHERE i.array_id = :arrayId AND i.virtual_network_id = :networkId`, {
    arrayId,
    networkId,
  });
}

export function listInterfaces(db: Db, arrayId: number): JoinedInterface[] {
  return db.all<JoinedInterface>(`${JOINED} WHERE i.array_id = :arrayId ORDER BY i.id`, { arrayId });
}

/** Which of these addresses arrays have at the cloud of a provider, in whatever network. */
export function takenAmong(db: Db, providerId: number, addresses: readonly string[]): string[] {
  return db
    .all<{ address: string }>(
      `SELECT i.address FROM json_each(:addresses) wanted
       JOIN interfaces i ON i.address = wanted.value
       JOIN arrays a ON a.id = i.array_id
       WHERE a.cloud_id = (SELECT cloud_id FROM providers WHERE id = :providerId)`,
      { providerId, addresses: JSON.stringify(addresses) },
    )
    .map((row) => row.address);
}

export function insertInterface(tx: Tx, place: { arrayId: number; networkId: number; address: string }): number {
  return tx.run(
    'INSERT INTO interfaces (array_id, virtual_network_id, address) VALUES (:arrayId, :networkId, :address)',
    place,
  ).insertedId;
}

/** Whether that changed anything. */
export function markAttached(tx: Tx, id: number): boolean {
  return tx.run('UPDATE interfaces SET attached = 1 WHERE id = :id AND attached = 0', { id }).changes > 0;
}

export function setBinding(tx: Tx, id: number, { bound, problem }: { bound: boolean; problem: string | null }): void {
  tx.run('UPDATE interfaces SET bound = :bound, problem = :problem WHERE id = :id', {
    id,
    bound: Number(bound),
    problem,
  });
}

export function deleteInterface(tx: Tx, id: number): void {
  tx.run('DELETE FROM interfaces WHERE id = :id', { id });
}
