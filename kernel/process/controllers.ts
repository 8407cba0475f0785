import { availableParallelism } from 'node:os';

/** The node and zone of an object storage controller. */
export interface ControllerHome {
  readonly node: string;
  readonly zone: string;
  readonly zoneDisplayName: string;
}

/** Each has a thread: more threads than processors would slow each other down. */
const STORAGE_CONTROLLERS_MAX = Math.min(2, availableParallelism());

/**
 * Object storage has a storage controller for each of the first storage nodes its drives are on. The array starts them,
 * and the cloud, on the same machine, reports their number to the portal.
 */
export function storageHomes(
  configuration: ControllerHome & { readonly drives: readonly ControllerHome[] },
): ControllerHome[] {
  const homes = new Map<string, ControllerHome>();
  for (const { node, zone, zoneDisplayName } of [configuration, ...configuration.drives])
    if (homes.size < STORAGE_CONTROLLERS_MAX && !homes.has(node)) homes.set(node, { node, zone, zoneDisplayName });
  return [...homes.values()];
}
