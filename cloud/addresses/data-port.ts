import type { Product } from '@granary/contract/cloud';
import type { Config } from '../config/schema.ts';

/** Where iSCSI is at home, and where clients of Swift look first. */
const OWN_PORT: Record<Product, number> = { storage_array: 3260, object_storage: 8080 };
const PORT_MAX = 65_535;

/**
 * Where an array serves its data: at the usual port of its own address. Arrays that share an address have as many
 * ports again for this, right after the shared ones, or right before them where there is no room.
 */
export function dataPortOf(
  product: Product,
  managementPort: number,
  { shared_ports: { first, last } }: Config['network'],
): number {
  if (managementPort < first || managementPort > last) return OWN_PORT[product];
  const count = last - first + 1;
  return last + count <= PORT_MAX ? managementPort + count : managementPort - count;
}
