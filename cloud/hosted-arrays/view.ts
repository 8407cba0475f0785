import type { HostedArray, PlacedDrive } from '@granary/contract/cloud';
import {
  addressesOfInterface,
  servicePlaceText,
  storageHomes,
  type ControllerHome,
  type EncryptionChange,
  type HostedDrive,
} from '@granary/kernel';
import { canonicalAddress } from '../addresses/canonical.ts';
import type { Outage } from '../supervision/outages.ts';
import type { SupervisedArray } from '../supervision/supervised-array.ts';
import { ownService } from './configuration.ts';
import { ipv6OfArray } from './interfaces.ts';
import type { HostedRecord } from './repository.ts';

interface Shown {
  readonly array: HostedRecord;
  readonly drives: readonly HostedDrive[];
  /** The node its first controller is counted at. */
  readonly home: ControllerHome;
  readonly managementUrl: string;
  /** In effect. */
  readonly cacheMb: number;
  /** The addresses in virtual networks that are the array's. */
  readonly owned: readonly string[];
  readonly supervised: SupervisedArray | undefined;
  readonly encryption: readonly EncryptionChange[];
  /** By the clock that outages are timed by. */
  readonly now: number;
  /** By the clock of the machine. */
  readonly today: number;
}

/** An array as the portal sees it. */
export function viewOf(shown: Shown): HostedArray {
  const { array, drives, home, managementUrl, cacheMb, owned, supervised, encryption, now, today } = shown;
  const state = supervised?.state ?? 'stopped';
  return {
    uuid: array.uuid,
    number: array.number,
    internal_name: array.internalName,
    desired: array.desired,
    state: array.removing ? 'removing' : state,
    reason: array.removing ? null : (supervised?.reason ?? null),
    outages: (supervised?.outages ?? []).map((outage) => outageView(outage, now)),
    encryption: encryption.map(({ id, active, at }) => ({ id, active, ms_ago: Math.max(0, today - at) })),
    management_url: managementUrl,
    ip_address: array.management.host,
    ipv6_address: ipv6OfArray(array, owned),
    public_ip: array.publicAddress,
    cache_mb: cacheMb,
    drives: drives.map(driveView),
    drives_returned: array.spec.drives_returned ?? {},
    policy_drives_returned: array.spec.policy_drives_returned ?? {},
    proxy_zones: array.spec.proxy_zones,
    proxies_returned: array.spec.proxies_returned ?? 0,
    storage_controllers: array.product === 'object_storage' ? storageHomes({ ...home, drives }).length : 0,
    public_service: serviceOf(array, owned, supervised),
    interfaces: shownInterfaces(array, owned, supervised),
    restarts: supervised?.restarts ?? 0,
    pid: supervised?.pid ?? null,
  };
}

const NOT_OWNED = 'The address belongs to another array; remove the interface and join the network again.';

function shownInterfaces(
  { spec }: HostedRecord,
  owned: readonly string[],
  supervised: SupervisedArray | undefined,
): HostedArray['interfaces'] {
  const { bound, unbound } = supervised?.listening ?? { bound: [], unbound: [] };
  const problemOf = (address: string) =>
    owned.includes(canonicalAddress(address)) ? unbound.find((one) => one.address === address)?.reason : NOT_OWNED;
  return spec.interfaces.map((one) => {
    const addresses = addressesOfInterface(one);
    const problems = addresses.flatMap((address) => {
      const problem = problemOf(address);
      return problem === undefined ? [] : [addresses.length > 1 ? `${address}: ${problem}` : problem];
    });
    const isBound = problems.length === 0 && addresses.every((address) => bound.includes(address));
    return { id: one.id, address: one.address, bound: isBound, problem: problems.join(' ') || null };
  });
}

function serviceOf(
  array: HostedRecord,
  owned: readonly string[],
  supervised: SupervisedArray | undefined,
): NonNullable<HostedArray['public_service']> | null {
  const wanted = array.spec.public_service ?? null;
  if (wanted === null) return null;
  if (ownService(array, owned) === null)
    return { bound: false, problem: `${wanted.address} is not an address of the array.` };
  const { bound, unbound } = supervised?.listening ?? { bound: [], unbound: [] };
  const place = servicePlaceText(wanted);
  const problem = unbound.find(({ address }) => address === place)?.reason ?? null;
  return { bound: problem === null && bound.includes(place), problem };
}

/** As time that has passed: the portal may be on a machine with another clock. */
function outageView({ id, beganAt, endedAt }: Outage, now: number): HostedArray['outages'][number] {
  const ago = (time: number | undefined) => (time === undefined ? null : Math.max(0, Math.round(now - time)));
  return { id, began_ms_ago: ago(beganAt), ended_ms_ago: ago(endedAt) };
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
