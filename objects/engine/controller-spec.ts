import { storageHomes, type ControllerHome, type HostedConfiguration } from '@granary/kernel';

export interface ControllerSpec extends ControllerHome {
  readonly index: number;
  readonly name: string;
  readonly role: 'proxy+storage' | 'proxy';
}

export interface ControllerState extends ControllerSpec {
  readonly running: boolean;
  readonly since: number;
}

type Sources = Pick<
  HostedConfiguration,
  'internalName' | 'drives' | 'node' | 'zone' | 'zoneDisplayName' | 'proxyZones'
>;

/** One controller for each of the first storage nodes that drives are on, and one for each proxy that was ordered. */
export function controllersOf(configuration: Sources): ControllerSpec[] {
  const { internalName, proxyZones, drives } = configuration;
  const storage = storageHomes(configuration).map((home) => ({ ...home, role: 'proxy+storage' as const }));
  const passing = proxyZones.map((zone) => {
    const near = drives.find((drive) => drive.zone === zone);
    const { node, zoneDisplayName } = near ?? configuration;
    return { node, zone, zoneDisplayName, role: 'proxy' as const };
  });
  return [...storage, ...passing].map((spec, index) => ({ ...spec, index, name: `${internalName}-vc-${index}` }));
}

/** The controller that looks after a drive: that of its storage node, or else the first. */
export function controllerOfDrive(node: string, controllers: readonly ControllerSpec[]): ControllerSpec | undefined {
  const storage = controllers.filter(({ role }) => role === 'proxy+storage');
  return storage.find((one) => one.node === node) ?? storage[0];
}
