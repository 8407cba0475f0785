import type { HostedArray, PlacedDrive } from '@granary/contract/cloud';
import { storageHomes, type ControllerHome, type HostedDrive } from '@granary/kernel';
import type { SupervisedArray } from '../supervision/supervised-array.ts';
import type { HostedRecord } from './repository.ts';

interface Shown {
  readonly array: HostedRecord;
  readonly drives: readonly HostedDrive[];
  /** The node its first controller is counted at. */
  readonly home: ControllerHome;
  readonly managementUrl: string;
  readonly supervised: SupervisedArray | undefined;
}

/** An array as the portal sees it. */
export function viewOf({ array, drives, home, managementUrl, supervised }: Shown): HostedArray {
  const state = supervised?.state ?? 'stopped';
  const bound = new Set(supervised?.bound ?? []);
  return {
    uuid: array.uuid,
    number: array.number,
    internal_name: array.internalName,
    desired: array.desired,
    state: array.removing ? 'removing' : state,
    reason: !array.removing && state === 'failed' ? (supervised?.reason ?? null) : null,
    management_url: managementUrl,
    ip_address: array.management.host,
    ipv6_address: null,
    public_ip: array.publicAddress,
    drives: drives.map(driveView),
    drives_returned: array.spec.drives_returned ?? {},
    policy_drives_returned: array.spec.policy_drives_returned ?? {},
    proxy_zones: array.spec.proxy_zones,
    proxies_returned: array.spec.proxies_returned ?? 0,
    storage_controllers: array.product === 'object_storage' ? storageHomes({ ...home, drives }).length : 0,
    interfaces: array.spec.interfaces.map(({ id, address }) => ({ id, address, bound: bound.has(address) })),
    restarts: supervised?.restarts ?? 0,
    pid: supervised?.pid ?? null,
  };
}

function driveView(drive: HostedDrive): PlacedDrive {
  return {
    uuid: drive.uuid,
    number: drive.number,
    type: drive.type,
    medium: drive.medium,
    capacity_gb: drive.capacityGb,
    node: drive.node,
    zone: drive.zone,
    zone_display_name: drive.zoneDisplayName,
    policy: drive.policy,
  };
}
