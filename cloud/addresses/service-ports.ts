import type { Product } from '@granary/contract/cloud';
import type { Config } from '../config/schema.ts';

/** Where iSCSI is at home, and where clients of Swift look first. */
const OWN_PORT: Record<Product, number> = { storage_array: 3260, object_storage: 8080 };
/** Where NFS is at home. */
const OWN_FILE_PORT = 2049;
const PORT_MAX = 65_535;

interface ServicePorts {
  readonly dataPort: number;
  readonly filePort: number;
}

/**
 * Where an array serves its data: at the usual ports of its own address. Arrays that share an address have as many
 * ports again for each service, right after the shared ones, or right before them where there is no room.
 */
export function servicePortsOf(
  product: Product,
  managementPort: number,
  { shared_ports: { first, last } }: Config['network'],
): ServicePorts {
  if (managementPort < first || managementPort > last) return { dataPort: OWN_PORT[product], filePort: OWN_FILE_PORT };
  const count = last - first + 1;
  const blocksAfter = Math.floor((PORT_MAX - last) / count);
  const portOf = (service: number) =>
    service <= blocksAfter ? managementPort + service * count : managementPort - (service - blocksAfter) * count;
  return { dataPort: portOf(1), filePort: portOf(2) };
}
