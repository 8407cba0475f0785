import { availableParallelism } from 'node:os';
import type { HostedConfiguration } from '@granary/kernel';

export interface ControllerSpec {
  readonly index: number;
  readonly name: string;
  readonly role: 'proxy+storage' | 'proxy';
  readonly node: string;
  readonly zone: string;
  readonly zoneDisplayName: string;
}

/** Each takes a thread: more than the machine has processors for would only get in each other's way. */
const STORAGE_CONTROLLERS_MAX = Math.min(2, availableParallelism());
const PROXIES_MAX = 16;

type Sources = Pick<
  HostedConfiguration,
  'internalName' | 'drives' | 'node' | 'zone' | 'zoneDisplayName' | 'proxyZones'
>;

/** One controller for each of the first storage nodes that drives are on, and one for each proxy that was ordered. */
export function controllersOf(configuration: Sources, proxiesRemoved: number): ControllerSpec[] {
  const { internalName, proxyZones, drives } = configuration;
  const homes = homesOf(configuration);
  const proxies = proxyZones.slice(0, Math.max(0, proxyZones.length - proxiesRemoved)).slice(0, PROXIES_MAX);
  const storage = homes.map((home) => ({ ...home, role: 'proxy+storage' as const }));
  const passing = proxies.map((zone) => {
    const near = drives.find((drive) => drive.zone === zone);
    const { node, zoneDisplayName } = near ?? configuration;
    return { node, zone, zoneDisplayName, role: 'proxy' as const };
  });
  return [...storage, ...passing].map((spec, index) => ({ ...spec, index, name: `${internalName}-vc-${index}` }));
}

function homesOf({ drives, node, zone, zoneDisplayName }: Sources): Omit<ControllerSpec, 'index' | 'name' | 'role'>[] {
  const homes = new Map([[node, { node, zone, zoneDisplayName }]]);
  for (const drive of drives)
    if (homes.size < STORAGE_CONTROLLERS_MAX)
      homes.set(drive.node, { node: drive.node, zone: drive.zone, zoneDisplayName: drive.zoneDisplayName });
  return [...homes.values()];
}

/** The controller that looks after a drive: that of its storage node, or else the first. */
export function controllerOfDrive(node: string, controllers: readonly ControllerSpec[]): ControllerSpec | undefined {
  const storage = controllers.filter(({ role }) => role === 'proxy+storage');
  return storage.find((one) => one.node === node) ?? storage[0];
}
