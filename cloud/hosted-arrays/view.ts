import type { HostedArray, PlacedDrive } from '@granary/contract/cloud';
import type { HostedDrive } from '@granary/kernel';
import type { SupervisedArray } from '../supervision/supervised-array.ts';
import type { HostedRecord } from './repository.ts';

interface Shown {
  readonly array: HostedRecord;
  readonly drives: readonly HostedDrive[];
  readonly managementUrl: string;
  readonly supervised: SupervisedArray | undefined;
}

/** An array as the portal sees it. */
export function viewOf({ array, drives, managementUrl, supervised }: Shown): HostedArray {
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
