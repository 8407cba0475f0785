import type { Config } from '../config/schema.ts';

/** Where iSCSI is at home. */
const OWN_PORT = 3260;
const PORT_MAX = 65_535;

/**
 * Where an array serves its volumes: at the usual port of its own address. Arrays that share an address have as many
 * ports again for this, right after the shared ones, or right before them where there is no room.
 */
export function iscsiPortOf(managementPort: number, { shared_ports: { first, last } }: Config['network']): number {
  if (managementPort < first || managementPort > last) return OWN_PORT;
  const count = last - first + 1;
  return last + count <= PORT_MAX ? managementPort + count : managementPort - count;
}
