import {
  GB,
  otherAddresses,
  wholeGigabytes,
  type HostedConfiguration,
  type HostedDrive,
  type HostedInterface,
  type HostedService,
  type LogLevel,
  type Vault,
} from '@granary/kernel';
import { servicePortsOf } from '../addresses/service-ports.ts';
import { canonicalAddress } from '../addresses/canonical.ts';
import type { Config } from '../config/schema.ts';
import type { DriveFiles } from '../inventory/drive-files.ts';
import type { PlacedDrive } from '../inventory/drive.ts';
import type { ArrayCertificates } from '../tls/array-certificates.ts';
import { interfacesOf, isSecondZone } from './interfaces.ts';
import { cacheBytesOf, limitsOf } from './limits.ts';
import type { HostedRecord } from './repository.ts';
import { unsealSecrets } from './secrets.ts';

export interface ConfigurationSources {
  readonly config: Config;
  readonly vault: Vault;
  readonly files: DriveFiles;
  /** Absent: arrays serve in the clear. */
  readonly certificates: ArrayCertificates | undefined;
  readonly logLevel: LogLevel;
}

export interface ArrayPlace {
  readonly rows: readonly PlacedDrive[];
  /** The addresses in virtual networks that are the array's: it gets no others. */
  readonly owned: readonly string[];
  readonly folder: string;
}

/** The configuration of an array process: all it needs, so that it never has to ask the cloud. */
export function configurationOf(
  array: HostedRecord,
  { rows, owned, folder }: ArrayPlace,
  sources: ConfigurationSources,
): HostedConfiguration {
  const { config, vault, certificates, logLevel } = sources;
  const { spec } = array;
  const drives = rows.map((row) => hostedDrive(row, sources));
  const home = homeOf(array, drives, config);
  const interfaces = interfacesOf(array, owned, isSecondZone(config, home.zone));
  return {
    uuid: array.uuid,
    number: array.number,
    internalName: array.internalName,
    displayName: spec.name,
    folder,
    owner: spec.owner,
    tenant: spec.owner_id,
    provider: spec.provider,
    ...unsealSecrets(vault, array),
    management: array.management,
    managementUrl: managementUrlOf(array, certificates !== undefined),
    ...servicePortsOf(spec.product, array.management.port, config.network),
    publicAddress: array.publicAddress,
    publicService: ownService(array, owned),
    interfaces,
    tls: certificates?.of(array, hostsOf(array, interfaces)) ?? null,
    engine: spec.engine,
    dataReduction: spec.data_reduction,
    limits: limitsOf(config, spec),
    cacheGb: cacheBytesOf(config, spec) / GB,
    raid10Pools: spec.raid_10_pools,
    dualTarget: spec.iscsi_dual_target,
    fileLifecycle: spec.file_lifecycle,
    lockedDown: spec.locked_down ?? false,
    ...home,
    zonesUsed: new Set(drives.map(({ zone }) => zone)).size,
    zoneIds: Object.fromEntries(config.zones.map(({ name, id }) => [name, id])),
    drives,
    policies: policiesOf(array, config),
    proxyZones: spec.proxy_zones,
    logLevel,
  };
}

/** Where its public service is, if that is an address of the array: it gets no others. */
export function ownService(array: HostedRecord, owned: readonly string[]): HostedService | null {
  const { public_service: service } = array.spec;
  if (!service) return null;
  const addresses = addressesOf(array, interfacesOf(array, owned, false));
  const own = addresses.find((one) => canonicalAddress(one) === canonicalAddress(service.address));
  return own === undefined ? null : { ...service, address: own };
}

/** What its certificate is for: the addresses it is reached at, and the name of its public service. */
function hostsOf(array: HostedRecord, interfaces: readonly HostedInterface[]): string[] {
  const { host } = array.spec.public_service ?? {};
  return [...new Set([...addressesOf(array, interfaces), ...(host === undefined ? [] : [host])])];
}

function addressesOf({ management, publicAddress }: HostedRecord, interfaces: readonly HostedInterface[]): string[] {
  return [...new Set([management.host, ...otherAddresses({ publicAddress, interfaces })])];
}

export function managementUrlOf({ management }: HostedRecord, isTls: boolean): string {
  const host = management.host.includes(':') ? `[${management.host}]` : management.host;
  return `${isTls ? 'https' : 'http'}://${host}:${management.port}`;
}

export function hostedDrive(drive: PlacedDrive, { config, files }: ConfigurationSources): HostedDrive {
  const type = config.drive_types.find(({ key }) => key === drive.type);
  return {
    uuid: drive.uuid,
    number: drive.number,
    type: drive.type,
    medium: type?.medium ?? 'ssd',
    cache: type?.cache ?? false,
    capacityGb: wholeGigabytes(drive.capacity),
    node: drive.node,
    zone: drive.zone,
    zoneDisplayName: zoneDisplayName(config, drive.zone),
    policy: drive.policy,
    file: files.pathOf(drive),
  };
}

/** The controller is counted where the first drive is; an array without drives where its zone's first node is. */
export function homeOf(array: HostedRecord, [first]: readonly HostedDrive[], config: Config) {
  const zone = first?.zone ?? array.zone ?? config.zones[0]?.name ?? '';
  const node = first?.node ?? config.nodes.find((one) => one.zone === zone)?.name ?? '';
  return { node, zone, zoneDisplayName: zoneDisplayName(config, zone) };
}

function zoneDisplayName({ zones }: Config, zone: string): string {
  return zones.find(({ name }) => name === zone)?.display_name ?? zone;
}

function policiesOf({ spec }: HostedRecord, { policy_types }: Config): HostedConfiguration['policies'] {
  return spec.policies.map(({ name, type_id }) => {
    const type = policy_types.find(({ id }) => id === type_id);
    return {
      name,
      typeId: type_id,
      typeName: type?.name ?? '',
      replicas: type?.replicas ?? 1,
      dataFragments: type?.data_fragments ?? 0,
      parityFragments: type?.parity_fragments ?? 0,
    };
  });
}
